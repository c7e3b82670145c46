// A table that shows a page of its rows, however many there are.

// columns: {title, cell(row) -> text or node, name, number(row), signed, sort(row), kind}
// A column with `name` heads its rows; those with `number` have as many decimals in every row
// that is shown. Returns {show(rows)}.
const classOf = ({ kind, name }) => [kind, name && "name"].filter(Boolean).join(" ") || null;

function pagedTable(host, { columns, caption, size = 25 }) {
  const table = add(host, "table");
  add(table, "caption", {}, caption);
  const heads = add(add(table, "thead"), "tr");
  const body = add(table, "tbody");
  const controls = add(host, "div", { class: "controls" });
  const back = add(controls, "button", { type: "button" }, "Previous");
  const on = add(controls, "button", { type: "button" }, "Next");
  const status = add(controls, "span", { role: "status", class: "faint" });
  let rows = [];
  let order = [];
  let first = 0;
  let sorted = null; // {column, down}

  const cells = columns.map((column) => {
    const head = add(heads, "th", { scope: "col", class: classOf(column) });
    if (!column.sort) {
      head.append(column.title);
      return head;
    }
    const button = add(head, "button", { type: "button", title: `sort by ${column.title}` }, column.title);
    button.addEventListener("click", () => {
      const down = sorted?.column === column ? !sorted.down : Boolean(column.downFirst);
      sorted = { column, down };
      arrange();
    });
    return head;
  });

  function arrange() {
    order = rows;
    if (sorted) {
      const key = sorted.column.sort;
      const way = sorted.down ? -1 : 1;
      order = [...rows].sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === y) return 0;
        if (x === null || y === null) return x === null ? 1 : -1; // unknown ones last
        return way * (x < y ? -1 : 1);
      });
    }
    columns.forEach((column, i) => {
      if (sorted?.column !== column) cells[i].removeAttribute("aria-sort");
      else cells[i].setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
    });
    turn(0);
  }

  function turn(to) {
    first = to;
    const shown = order.slice(first, first + size);
    const texts = columns.map(({ number, signed }) => number && evenly(shown.map(number), signed));
    body.replaceChildren(
      ...shown.map((row, i) => {
        const line = add(null, "tr");
        columns.forEach((column, j) => {
          const tag = column.name ? "th" : "td";
          const cell = texts[j] ? [texts[j][i]] : [column.cell(row)].flat();
          add(line, tag, { class: classOf(column), scope: column.name ? "row" : null }, ...cell);
        });
        return line;
      }),
    );
    controls.hidden = order.length <= size && rows.length > 0;
    back.disabled = first === 0;
    on.disabled = first + size >= order.length;
    back.hidden = on.hidden = order.length <= size;
    status.textContent = order.length
      ? `${number(first + 1)} to ${number(first + shown.length)} of ${number(order.length)}`
      : "nothing to show";
  }

  back.addEventListener("click", () => turn(Math.max(0, first - size)));
  on.addEventListener("click", () => turn(first + size));
  return {
    show(list) {
      rows = list;
      arrange();
    },
  };
}

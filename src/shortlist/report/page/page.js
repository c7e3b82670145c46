// The parts of the page, each from its part of the summary.

const told = JSON.parse(document.getElementById("summary").textContent);
const several = told.margins.length > 1;
const kind = told.classes ? "class" : "output";
const marginName = (m) => printable(told.margins[m]);

function section(title, host = document.getElementById("report")) {
  const part = add(host, "section");
  const id = title.toLowerCase().replaceAll(" ", "-");
  part.setAttribute("aria-labelledby", id);
  add(part, "h2", { id }, title);
  return part;
}

// Terms and what they are: below each other, or as tiles.
function pairs(host, list, tiles = false) {
  const terms = add(host, "dl", { class: tiles ? "tiles" : null });
  for (const { term, text, small } of list) {
    const box = tiles ? add(terms, "div") : terms;
    add(box, "dt", {}, printable(term));
    const meant = add(box, "dd", {}, printable(text));
    for (const more of [small].flat()) if (more) add(meant, "small", {}, printable(more));
  }
}

function weightColumn(weightOf) {
  return { title: "weight", kind: "number", number: weightOf, signed: true, sort: weightOf, downFirst: true };
}

function asked() {
  const part = section("What was asked");
  const { asked } = told;
  let budget = counted(asked.k, asked.k_counts);
  if (several) budget += asked.budget === "per_class" ? ` for each ${kind}` : " in all";
  const found = asked.k_asked === "auto";
  const rule = "the smallest budget within one standard error of the best, on rows held out";
  const has = `with ${counted(told.n_selected, "column")} in the end`;
  const whole = ["group", "sensor"].includes(asked.k_counts) && has;
  const why = asked.picked && `Picked for ${asked.picked}.`;
  const rows = [
    { term: "budget", text: found ? `auto: ${budget}` : `at most ${budget}`, small: [found && rule, whole] },
    { term: "method", text: asked.method, small: [asked.about, why] },
    { term: "loss", text: asked.loss, small: asked.loss_about },
    { term: "data", text: asked.room, small: asked.room_about },
  ];
  pairs(part, rows, true);
  if (asked.settings.length) {
    const more = add(part, "details");
    add(more, "summary", {}, counted(asked.settings.length, "setting"));
    pairs(more, asked.settings.map((s) => ({ term: s.name, text: s.value, small: s.meaning })));
  }
}

// Bars of weights, or of scores on the side of the weight's sign.
function barsOf(what) {
  const { weight, score } = told.entries;
  if (what === "weight") {
    const most = largest(weight);
    return (i) => bar(weight[i], most);
  }
  const most = largest(score);
  const plain = !weight && score.every((s) => s === null || s >= 0);
  return (i) => bar(weight?.[i] < 0 ? -score[i] : score[i], most, plain);
}

function chosen() {
  const part = section("What was chosen");
  const e = told.entries;
  // on a phone the bar is under the name, which needs the width
  const named = (i) => [printable(e.name[i]), add(null, "div", { class: "under" }, bars(i))];
  const columns = [
    { title: "rank", kind: "number wide rank", cell: (i) => number(e.rank[i]), sort: (i) => e.rank[i] },
    { title: "name", name: true, cell: named, sort: (i) => e.name[i] },
  ];
  if (several) columns.push({ title: kind, cell: (i) => marginName(e.margin[i]) });
  let bars = barsOf(e.weight ? "weight" : "score");
  if (e.weight) columns.push(weightColumn((i) => e.weight[i]));
  columns.push({ title: "", kind: "bar-cell wide", cell: (i) => bars(i) });
  const kindOfScore = e.weight ? "number wide" : "number";
  columns.push({ title: "score", kind: kindOfScore, number: (i) => e.score[i], sort: (i) => e.score[i], downFirst: true });
  if (e.error) columns.push({ title: "error", kind: "number wide", number: (i) => e.error[i], sort: (i) => e.error[i] });
  if (e.stability) {
    columns.push({ title: "chosen in", kind: "number", cell: (i) => percent(e.stability[i]), sort: (i) => e.stability[i], downFirst: true });
  }
  if (told.task === "binary" && e.weight) {
    const [low, high] = told.classes.map(printable);
    add(part, "p", { class: "faint" }, `Weights above 0 (to the right) speak for ${high}, those below for ${low}.`);
  }
  if (!e.weight) add(part, "p", { class: "faint" }, "There are scores, and no weights: the method has no linear model.");

  const controls = add(part, "div", { class: "controls" });
  const find = add(add(controls, "label", {}, "Find"), "input", { type: "search", id: "find" });
  let margin = null;
  if (several) {
    const pick = add(add(controls, "label", {}, kind), "select", { id: "margin" });
    add(pick, "option", { value: "" }, "all");
    told.margins.forEach((_, m) => add(pick, "option", { value: m }, marginName(m)));
    pick.addEventListener("change", () => {
      margin = pick.value === "" ? null : Number(pick.value);
      update();
    });
  }
  if (e.weight) {
    const pick = add(add(controls, "label", {}, "Bars"), "select", { id: "bars" });
    for (const what of ["weight", "score"]) add(pick, "option", { value: what }, what === "score" ? "score, signed" : what);
    pick.addEventListener("change", () => {
      bars = barsOf(pick.value);
      update();
    });
  }
  const table = pagedTable(part, { columns, caption: `${counted(told.n_selected, "feature")}, best first` });
  const every = e.name.map((_, i) => i);
  function update() {
    const word = find.value.toLowerCase();
    table.show(
      every.filter(
        (i) =>
          (margin === null || e.margin[i] === margin) &&
          (!word || printable(e.name[i]).toLowerCase().includes(word)),
      ),
    );
  }
  find.addEventListener("input", update);
  update();
}

// Entries under each budget: {name, margin, weight} by number.
function listOf(budget) {
  const e = told.entries;
  if (budget.kind === "cut") {
    const every = e.name.map((_, i) => i);
    const entry = (i) => ({ name: e.name[i], margin: e.margin[i], weight: e.weight?.[i] });
    return (at) => every.filter((i) => budget.place[i] <= budget.sizes[at]).map(entry);
  }
  return (at) => {
    const step = budget.steps[at];
    return step.feature.map((f, i) => ({
      name: budget.names[f],
      margin: step.margin[i],
      weight: step.weight[i],
    }));
  };
}

// What a list has and another has not; of a budget per class, by class.
function namesIn(list, others) {
  const toldAs = ({ name, margin }) =>
    several && told.asked.budget === "per_class" ? `${name} (${told.margins[margin]})` : name;
  const known = new Set(others.map(toldAs));
  return [...new Set(list.map(toldAs))].filter((name) => !known.has(name));
}

function spelledNames(names) {
  const some = names.slice(0, 5).map(printable).join(", ");
  return names.length > 5 ? `${some} and ${number(names.length - 5)} more` : some;
}

function budgets() {
  const { budget } = told;
  const part = section("Smaller budgets");
  const at = listOf(budget);
  const about =
    budget.kind === "path"
      ? "The search keeps the best list of every size; weights are those of that size."
      : "The list is cut to the best by score; weights are not fitted anew.";
  add(part, "p", { class: "faint" }, about);
  // one scale for both charts and the slider: every budget that one of them knows
  const held = budget.held_out?.sizes ?? [];
  const places = [...new Set([...budget.sizes, ...held])].sort((a, b) => a - b);
  const charts = [];
  if (budget.values) {
    const line = { label: budget.measure, x: budget.sizes, y: budget.values };
    charts.push(lineChart(part, { lines: [line], xLabel: "k", yLabel: budget.measure, places }));
  }
  if (budget.held_out) {
    const { sizes, loss, score, error, measure } = budget.held_out;
    const label = `${measure ?? "loss"} on rows held out`;
    const line = { label, x: sizes, y: loss ?? score, error };
    charts.push(lineChart(part, { lines: [line], xLabel: "k", yLabel: label, places }));
  }
  const label = add(part, "label", { class: "slider", for: "budget-slider" }, "Budget k = ");
  const shown = add(label, "strong", { id: "budget-k" });
  const placeOf = new Map(places.map((size, i) => [size, i]));
  const stops = budget.sizes.map((size) => placeOf.get(size));
  const [first, last] = [stops[0], stops[stops.length - 1]];
  const slider = add(part, "input", { type: "range", id: "budget-slider", min: first, max: last, value: last, step: 1 });
  alignSlider(slider, first, last, places.length);
  let i = stops.length - 1;
  const changes = add(part, "output", { id: "budget-changes", class: "faint changes", for: "budget-slider" });
  const most = budget.kind === "path" ? largest(budget.steps.flatMap((s) => s.weight)) : largest(told.entries.weight ?? []);
  const columns = [{ title: "name", name: true, cell: (entry) => printable(entry.name) }];
  if (several) columns.push({ title: kind, cell: (entry) => marginName(entry.margin) });
  if (told.entries.weight) {
    columns.push(weightColumn((entry) => entry.weight));
    columns.push({ title: "", kind: "bar-cell", cell: (entry) => bar(entry.weight, most) });
  }
  const holder = add(part, "div", { id: "budget-list" });
  const table = pagedTable(holder, { columns, caption: "The list under this budget", size: 15 });

  // A place that only the chart has is passed over, in the direction of the move.
  function moved() {
    const to = Number(slider.value);
    if (to > stops[i]) i = stops.findIndex((stop) => stop >= to);
    else i = stops.findLastIndex((stop) => stop <= to);
    slider.value = stops[i];
    update();
  }

  function update() {
    const [now, before] = [at(i), i ? at(i - 1) : []];
    const [came, went] = [namesIn(now, before), namesIn(before, now)];
    const value = budget.values ? `${budget.measure} ${number(budget.values[i])}. ` : "";
    const than = i ? `Against k = ${number(budget.sizes[i - 1])}: ` : "";
    const into = came.length ? `in ${spelledNames(came)}` : "nothing new";
    const out = went.length ? `; out ${spelledNames(went)}` : "";
    shown.textContent = number(budget.sizes[i]);
    slider.setAttribute("aria-valuetext", `k = ${budget.sizes[i]}`);
    changes.textContent = value + than + into + out;
    charts.forEach((chart) => chart.mark(budget.sizes[i]));
    table.show(now);
  }
  slider.addEventListener("input", moved);
  update();
}

function stream() {
  const host = add(document.getElementById("report"), "div", { class: "pair" });
  const { rows, loss, accuracy } = told.stream;
  for (const [name, y] of [["loss", loss], ["accuracy", accuracy]]) {
    if (!y) continue;
    const part = section(`${name === "loss" ? "Loss" : "Accuracy"} over the stream`, host);
    add(part, "p", { class: "faint" }, "Of predictions made before each example was learned from.");
    lineChart(part, { lines: [{ label: name, x: rows, y }], xLabel: "examples", yLabel: name });
  }
}

function iterations() {
  const { unit, measure, values } = told.iterations;
  const part = section(`${measure === "loss" ? "Loss" : "Objective"} after each ${unit}`);
  const x = values.map((_, i) => i + 1);
  lineChart(part, { lines: [{ label: measure, x, y: values }], xLabel: unit, yLabel: measure, whole: true });
}

function membership() {
  const { members, end, unit, n_members, n_forgotten } = told.membership;
  const part = section("Who was a member when");
  const left = n_members > members.length ? `; those ${number(members.length)} that stayed longest` : "";
  const short = n_forgotten ? `; ${counted(n_forgotten, "short stay")} not kept` : "";
  add(part, "p", { class: "faint" }, `${counted(n_members, "feature")} had a place at some time, from example 0 to ${number(end)}${left}${short}. In colour: chosen in the end.`);
  const track = (member) => {
    const spans = member.stays.map(([a, b]) => `${number(a)} to ${number(b)}`);
    const said = spans.slice(0, 5).join(", ") + (member.n_stays > 5 ? ` and ${number(member.n_stays - 5)} more stays` : "");
    const box = add(null, "div", { class: "track", role: "img", "aria-label": `${unit} ${said}`, title: said });
    for (const [a, b] of member.stays) {
      const stay = add(box, "i", { class: member.chosen ? "chosen" : null });
      stay.style.left = `${(100 * a) / (end || 1)}%`;
      stay.style.width = `${(100 * (b - a)) / (end || 1)}%`;
    }
    return box;
  };
  const columns = [{ title: "name", name: true, kind: "member-name", cell: (m) => printable(m.name) }];
  if (several) columns.push({ title: kind, cell: (m) => marginName(m.margin) });
  columns.push({ title: "", cell: track });
  pagedTable(part, { columns, caption: "In the order of coming", size: 20 }).show(members);
}

const percent = (share) => (share === null ? "–" : `${Math.round(100 * share)} %`);

function stability() {
  const s = told.stability;
  const part = section("How stable the choice is");
  const cut = s.pairs < s.asked ? ` (of ${number(s.asked)} asked for)` : "";
  const about = `The examples were cut into two halves ${counted(s.pairs, "time")}${cut}, and each half chose by itself, ${counted(s.mean_chosen, "feature")} on average.`;
  add(part, "p", { class: "faint" }, about);
  const bounded = s.unimodal !== null || s.worst_case !== null;
  const list = [{ term: `in ${percent(s.threshold)} of the halves or more`, text: counted(s.stable, "feature") }];
  if (bounded) {
    const small = `${number(s.worst_case)} without assuming that counts are unimodal`;
    list.push({ term: "of these by chance, expected at most", text: number(s.unimodal ?? s.worst_case), small });
  }
  pairs(part, list, true);
  if (!s.others.length) return;
  const columns = [
    { title: "name", name: true, cell: (o) => printable(o.name) },
    { title: "chosen in", kind: "number", cell: (o) => percent(o.share) },
  ];
  pagedTable(part, { columns, caption: "Chosen by halves, and not on the list", size: 10 }).show(s.others);
}

function substitutes() {
  const s = told.substitutes;
  const part = section("What could take their place");
  add(part, "p", { class: "faint" }, "The share of a feature's worth that another keeps, all others fitted anew, on the rows that were learned from.");
  if (!s.name.length) {
    add(part, "p", {}, "Looked for, and none found: no other feature keeps half the worth of a chosen one.");
    return;
  }
  const columns = [
    { title: "instead of", name: true, cell: (i) => printable(s.name[i]) },
    { title: "could be", kind: "name", cell: (i) => printable(s.substitute[i]) },
    { title: "kept", kind: "number", cell: (i) => percent(s.kept[i]) },
  ];
  pagedTable(part, { columns, caption: "Best first for each", size: 15 }).show(s.name.map((_, i) => i));
}

function exchanges() {
  const x = told.exchanges;
  const part = section("What came in and what left");
  const left = x.n_exchanges > x.entered.length ? ` The first ${number(x.entered.length)} are listed.` : "";
  add(part, "p", { class: "faint" }, `${counted(x.n_exchanges, "time")} a feature came in.${left}`);
  const columns = [
    { title: "pass", kind: "number", cell: (i) => number(x.pass[i]) },
    { title: "arrival", kind: "number", cell: (i) => number(x.arrival[i]) },
    { title: "came in", name: true, cell: (i) => printable(x.entered[i]) },
    { title: "left", kind: "name", cell: (i) => (x.left[i] ? printable(x.left[i]) : "–") },
  ];
  pagedTable(part, { columns, caption: "In order", size: 15 }).show(x.entered.map((_, i) => i));
}

function facts() {
  const part = section("Data and run");
  const list = [...told.facts];
  const held = told.holdout;
  if (held) {
    const name = held.metric === "accuracy" ? "accuracy" : "R2";
    list.push({
      term: "on rows held out",
      text: `${name} ${number(held.value)} on ${counted(held.n_rows, "row")}, loss ${number(held.loss)}`,
      small: `${number(held.baseline)} without any feature`,
    });
  }
  pairs(part, list, true);
  if (told.notes.length) {
    add(part, "h3", {}, "Notes");
    const notes = add(part, "ul");
    for (const note of told.notes) add(notes, "li", {}, printable(note));
  }
}

function origin() {
  const part = section("How to make it again");
  const { command, direct_command: direct, call, remark, seed, version } = told.reproduce;
  // lines break between words, not at the dashes of --option
  const written = (text) => {
    const box = add(part, "pre", { tabindex: 0 });
    for (const piece of text.split(/([ \n])/)) {
      if (/^[ \n]$/.test(piece)) box.append(piece);
      else if (piece) add(box, "span", {}, printable(piece));
    }
  };
  if (command ?? call) written(command ?? call);
  if (direct) {
    add(part, "p", { class: "faint" }, "Straight to this list, with nothing left to decide:");
    written(direct);
  }
  if (remark) add(part, "p", { class: "faint" }, remark);
  const seeded = seed === null ? "" : `seed ${seed}, `;
  add(part, "p", { class: "faint" }, `${seeded}shortlist ${printable(version)}`);
  if (told.citation) {
    const cited = section("Please cite");
    add(cited, "blockquote", {}, told.citation);
  }
}

const parts = { stability, substitutes, budget: budgets, stream, iterations, membership, exchanges };
asked();
chosen();
for (const [name, show] of Object.entries(parts)) if (told[name]) show();
facts();
origin();

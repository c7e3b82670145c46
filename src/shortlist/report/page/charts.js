// Line charts, drawn anew when their width changes.

const HEIGHT = 240;
const EDGE = { left: 62, right: 14, top: 28, bottom: 40 };
const MOST_POINTS = 600;

function ticks(low, high, wanted) {
  const rough = (high - low || Math.abs(high) || 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found;
}

function thinned(points) {
  if (points.length <= MOST_POINTS) return points;
  const every = (points.length - 1) / (MOST_POINTS - 1);
  return Array.from({ length: MOST_POINTS }, (_, i) => points[Math.round(i * every)]);
}

function described(line, xLabel) {
  const [first, last] = [line.points[0], line.points[line.points.length - 1]];
  return `${line.label}: ${number(first.y)} at ${number(first.x)} ${xLabel}, ` +
    `${number(last.y)} at ${number(last.x)}`;
}

// Some of the places to label: round numbers where none is missing, else every so many.
function labelled(places, wanted) {
  const [left, right] = [places[0], places[places.length - 1]];
  if (right - left === places.length - 1) return ticks(left, right, wanted).filter(Number.isInteger);
  const every = Math.ceil(places.length / wanted);
  return places.filter((_, i) => i % every === 0);
}

// Have the thumb of a slider stand below the line that it moves in a chart above it.
function alignSlider(slider, first, last, n) {
  const plot = `(100% - ${EDGE.left + EDGE.right}px)`;
  const share = (places) => places / Math.max(1, n - 1);
  slider.style.marginLeft = `calc(${EDGE.left}px + ${plot} * ${share(first)} - var(--thumb) / 2)`;
  slider.style.width = `calc(${plot} * ${share(last - first)} + var(--thumb))`;
}

// lines: {label, x, y, error}; values of null are left out. With places, which are all x that
// there may be, each of them has as much room. Returns {mark(x)}.
function lineChart(host, { lines, xLabel, yLabel, whole = false, places = null }) {
  const drawn = lines
    .map(({ label, x, y, error }) => ({
      label,
      points: thinned(
        x.map((at, i) => ({ x: at, y: y[i], e: error?.[i] ?? 0 })).filter((p) => p.y !== null),
      ),
    }))
    .filter((line) => line.points.length);
  if (!drawn.length) return { mark() {} };
  const every = drawn.flatMap((line) => line.points);
  const range = (values) => values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const placeOf = places && new Map(places.map((x, i) => [x, i]));
  const along = (x) => (places ? placeOf.get(x) : x);
  const [left, right] = places ? [0, places.length - 1] : range(every.map((p) => p.x));
  let [low, high] = range(every.flatMap((p) => [p.y - p.e, p.y + p.e]));
  if (low === high) [low, high] = [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2];
  const box = add(host, "div", { class: "chart" });
  let marked = null;
  let drawnWidth = 0;

  function draw() {
    drawnWidth = box.clientWidth || 640;
    const width = drawnWidth;
    box.replaceChildren();
    const svg = add(box, "svg", {
      viewBox: `0 0 ${width} ${HEIGHT}`,
      height: HEIGHT,
      role: "img",
      "aria-label": drawn.map((line) => described(line, xLabel)).join("; "),
    });
    const px = (x) => EDGE.left + ((along(x) - left) / (right - left || 1)) * (width - EDGE.left - EDGE.right);
    const py = (y) => HEIGHT - EDGE.bottom - ((y - low) / (high - low)) * (HEIGHT - EDGE.top - EDGE.bottom);
    const heights = ticks(low, high, 4);
    const texts = evenly(heights);
    heights.forEach((y, i) => {
      add(svg, "line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: py(y), y2: py(y) });
      add(svg, "text", { x: EDGE.left - 6, y: py(y) + 4, "text-anchor": "end" }, texts[i]);
    });
    const wanted = Math.max(2, Math.floor(width / 110));
    for (const x of places ? labelled(places, 2 * wanted) : ticks(left, right, wanted)) {
      if (whole && !Number.isInteger(x)) continue;
      add(svg, "text", { x: px(x), y: HEIGHT - EDGE.bottom + 16, "text-anchor": "middle" }, number(x));
    }
    add(svg, "text", { x: width - EDGE.right, y: HEIGHT - 6, "text-anchor": "end" }, xLabel);
    add(svg, "text", { x: 4, y: 14 }, yLabel);
    drawn.forEach((line, i) => {
      const second = i ? " second" : "";
      for (const p of line.points) {
        if (p.e) add(svg, "line", { class: "spread", x1: px(p.x), x2: px(p.x), y1: py(p.y - p.e), y2: py(p.y + p.e) });
        if (line.points.length <= 40) add(svg, "circle", { class: "point", cx: px(p.x), cy: py(p.y), r: 2.5 });
      }
      const path = line.points.map((p) => `${px(p.x)},${py(p.y)}`).join(" ");
      add(svg, "polyline", { class: "curve" + second, points: path });
    });
    if (marked !== null) {
      add(svg, "line", { class: "mark", x1: px(marked), x2: px(marked), y1: EDGE.top, y2: HEIGHT - EDGE.bottom });
    }
  }

  draw();
  addEventListener("resize", () => box.clientWidth !== drawnWidth && draw());
  return {
    mark(x) {
      marked = x;
      draw();
    },
  };
}

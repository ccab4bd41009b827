// Figures: axes, lines, bars, points and bands as SVG, each with its numbers as a table below it.

const ROOM = { left: 54, right: 12, top: 10, bottom: 36 };

function ticks(low, high, most = 5, whole = false) {
  if (!(high > low)) return [low];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(whole ? 1 : 0, [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough));
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

// The powers of ten on a logarithmic axis, at most about `most`; few of them are joined by 2 and 5 times each.
function logTicks(low, high, most = 6) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  const found = [];
  for (let at = first; at <= last; at += step) found.push(10 ** at);
  if (last - first > 1) return found;
  const between = [first - 1, ...Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at)].flatMap((at) => [1, 2, 5].map((one) => one * 10 ** at)).filter((at) => at >= low && at <= high);
  return between.length > 1 ? between : ticks(low, high, most);
}

function ticksOn(axis, most) {
  if (axis.names && axis.names.length) return axis.names.map((name, at) => [at, cut(visible(name), Math.floor(60 / axis.names.length) + 2)]);
  const found = axis.logarithmic ? logTicks(axis.low, axis.high) : ticks(axis.low, axis.high, most, axis.whole);
  const differ = new Set(found.map(short)).size === found.length;
  return found.map((at) => [at, differ ? short(at) : String(Number(at.toPrecision(9)))]);
}

const shareOn = ({ low, high, logarithmic }, value) => (logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low || 1));

// A number on an axis, in at most seven characters or so.
function short(value) {
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return Number(value.toPrecision(2)).toExponential().replace("e+", "e");
  return size >= 1000 ? `${number(value / 1000, 1).replace(/\.0$/, "")}k` : String(Number(value.toPrecision(3)));
}

// x, y: {label, low, high, whole?: ticks at whole numbers alone, logarithmic?, names?: of the values 0, 1, …}. draw: gets the two scales and gives the marks.
function chart({ title, said, x, y, width = 380, height = 240, draw, key = [] }, ...below) {
  const inner = { width: width - ROOM.left - ROOM.right, height: height - ROOM.top - ROOM.bottom };
  const xs = (value) => ROOM.left + shareOn(x, value) * inner.width;
  const ys = (value) => ROOM.top + inner.height - shareOn(y, value) * inner.height;
  const bottom = ROOM.top + inner.height;
  const axes = [
    ticksOn(y, 5).map(([at, name]) => [
      s("line", { class: "rule", x1: ROOM.left, x2: width - ROOM.right, y1: ys(at), y2: ys(at) }),
      s("text", { x: ROOM.left - 5, y: ys(at) + 3.5, "text-anchor": "end" }, name)]),
    ticksOn(x, 6).map(([at, name]) => s("text", { x: xs(at), y: bottom + 14, "text-anchor": "middle" }, name)),
    s("line", { class: "axis", x1: ROOM.left, x2: width - ROOM.right, y1: bottom, y2: bottom }),
    s("text", { class: "label", x: ROOM.left + inner.width / 2, y: height - 4, "text-anchor": "middle" }, x.label),
    s("text", { class: "label", transform: `translate(11 ${ROOM.top + inner.height / 2}) rotate(-90)`, "text-anchor": "middle" }, y.label),
  ];
  const svg = s("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${said}` },
    axes, draw(xs, ys, bottom));
  return h("figure", { class: "plot" }, h("figcaption", null, title), svg,
    key.length ? h("p", { class: "keys" }, key.map(([look, name]) => h("span", { class: `key ${look}` }, name))) : null, below);
}

const line = (look, points, xs, ys) => [
  s("polyline", { class: `line ${look}`, points: points.map(([a, b]) => `${xs(a)},${ys(b)}`).join(" ") }),
  points.length <= 40 ? points.map(([a, b]) => s("circle", { class: `mark ${look}`, cx: xs(a), cy: ys(b), r: 2.2 })) : null,
];

// The numbers of a figure; their table is made when it is opened. row: gives the cells of one item.
function numbersBelow(caption, heads, items, row) {
  const fill = (event) => {
    const details = event.target;
    if (details.open && details.children.length === 1) details.append(table(caption, heads, items.map(row), { unseen: true }));
  };
  return h("details", { ontoggle: fill }, h("summary", null, "Numbers", h("span", { class: "unseen" }, ` of ${caption}`)));
}

// A metric's interval on one line: low, mean, high between the least and the greatest of a row.
function whisker({ mean, low, high }, least, greatest) {
  const span = greatest - least || 1;
  const at = (value) => 4 + ((value - least) / span) * 92;
  return s("svg", { class: "whisker", viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("line", { x1: at(low), x2: at(high), y1: 6, y2: 6 }), s("line", { class: "mean", x1: at(mean), x2: at(mean), y1: 1, y2: 11 }));
}

// Figures of a problem, which Python describes as data (records/figures.py).

function problemFigures(figures) {
  const titles = [...new Set(figures.map((one) => one.title))];
  return h("div", { class: "figures drawings" }, titles.map((title) => {
    const alike = figures.filter((one) => one.title === title);
    return alike.length > 1 ? alternatives(alike) : drawing(alike[0]);
  }));
}

// Figures that are drawn when they are unfolded. read: gives what is known of the problem, null if a server does not respond.
function foldedFigures(name, read, open) {
  const fill = async ({ target: details }) => {
    if (!details.open || details.dataset.filled) return;
    details.dataset.filled = "yes";
    const told = await read();
    if (!told) delete details.dataset.filled;
    const nothing = told ? "There is nothing to draw." : "The server does not respond.";
    details.append(told && told.figures.length ? problemFigures(told.figures) : h("p", { class: "note" }, nothing));
  };
  return h("details", { class: "drawn", open, ontoggle: fill }, h("summary", null, "Figures", h("span", { class: "unseen" }, ` of ${name}`)));
}

// Figures in one place, of which one is shown.
function alternatives(figures) {
  const place = h("div", null, drawing(figures[0]));
  const select = choice(figures[0].choice, figures.map((one, at) => [String(at), one.option]), "0", (at) => place.replaceChildren(drawing(figures[Number(at)])));
  return h("div", { class: "alternatives" }, place, h("form", { class: "filters", onsubmit: (event) => event.preventDefault() }, select));
}

function drawing({ title, about, x, y, series, note }) {
  const lines = series.filter((one) => one.kind === "line");
  const lookFor = (one) => (one.kind === "line" ? `c${lines.indexOf(one)} d${lines.indexOf(one)}` : one.kind === "rings" ? "c1" : one.kind === "dots" ? "c0" : "");
  const keyFor = (one) => (one.kind === "line" ? `line ${lookFor(one)}` : one.kind === "rings" ? "ring c1" : one.kind === "dots" ? "dot c0" : one.kind === "rule" ? "dashed" : "area");
  const size = series.some((one) => one.points.length > 200) ? 0.65 : 1; // of the marks
  const marked = series.filter((one) => one.kind !== "rule" && one.kind !== "band");
  const rows = marked.flatMap((one) => one.points.map((point, at) => [one, point, at])).filter(([, point]) => point);
  const told = ([one, [a, b], at]) => `${nameFor(one, at)}: ${x.label} ${nameOn(x, a)}, ${y.label} ${nameOn(y, b)}`;
  return chart({
    title, said: visible(about), x, y, width: 300, height: 240,
    key: series.filter((one) => one.name).map((one) => [keyFor(one), one.name]),
    draw: (xs, ys, bottom) => series.map((one) => {
      const look = lookFor(one);
      const dot = (radius, kind) => one.points.map((point, at) => point && s("circle", { class: `${kind} ${look}`, cx: xs(point[0]), cy: ys(point[1]), r: radius }, s("title", null, told([one, point, at]))));
      if (one.kind === "band") return s("rect", { class: "area", x: xs(one.points[0][0]), width: xs(one.points[1][0]) - xs(one.points[0][0]), y: ROOM.top, height: bottom - ROOM.top });
      if (one.kind === "rule") return s("polyline", { class: "guide", points: one.points.map(([a, b]) => `${xs(a)},${ys(b)}`).join(" ") });
      if (one.kind === "dots") return dot(2.6 * size, "point");
      if (one.kind === "rings") return dot(4.2 * size, "ring");
      return [unbroken(one.points).map((part) => s("polyline", { class: `line ${look}`, points: part.map(([a, b]) => `${xs(a)},${ys(b)}`).join(" ") })), one.texts.length ? dot(3, "mark") : null];
    }),
  }, note ? h("p", { class: "note" }, note) : null,
    numbersBelow(title, ["", x.label, y.label], rows, (row) => [nameFor(row[0], row[2]), nameOn(x, row[1][0]), nameOn(y, row[1][1])]));
}

// The name of a point: its own, beside that of a series which marks points of another one.
const nameFor = (one, at) => (one.texts.length ? `${one.texts[at]}${one.kind === "rings" ? ` (${one.name})` : ""}` : one.name);

// A value on an axis, as text: of an axis of categories the category.
const nameOn = (axis, value) => (axis.names.length ? axis.names[value] : value === axis.zero ? "0" : String(Number(value.toPrecision(5))));

// The parts of a line between its gaps.
function unbroken(points) {
  const parts = [[]];
  for (const point of points) {
    if (point) parts.at(-1).push(point);
    else if (parts.at(-1).length) parts.push([]);
  }
  return parts.filter((part) => part.length);
}

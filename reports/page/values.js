// Values as pictures, by their shape: grids, lists of numbers, scenes of objects, worlds, texts. What has
// no picture is shown as JSON. Every picture says in words what it shows.

const SHORT = 60; // characters of a text that needs no box of its own
const LONG = 600; // of one whose box may scroll
const MOST_CELLS = 200; // numbers of a list that are drawn one by one
const MOST_SIDE = 60; // cells of a grid's side
const CELL = 16;
const [MOST_LINE, LINE, BESIDE] = [14, 11, 9]; // of a label in a world: characters of a line, its height, distance from its element
const WIDE = 290; // of a world that needs more room than others
const OBJECT = /^(?:(small|large) )?(\w+) (metal|rubber) (cube|sphere|cylinder|cone)$/;
const INKS = { gray: "#8a8a8a", grey: "#8a8a8a", red: "#d13b3b", blue: "#3567d6", green: "#2f9e44",
  brown: "#8b5a2b", purple: "#8e44ad", cyan: "#17a2b8", yellow: "#e0b400" };

const isList = (value) => Array.isArray(value);
const isObject = (value) => value !== null && typeof value === "object" && !isList(value);
const isNumber = (value) => typeof value === "number";

function isGrid(value) {
  return isList(value) && value.length > 0 && value.length <= MOST_SIDE && value.every((row) => isList(row) && row.length > 0 && row.length <= MOST_SIDE
    && row.length === value[0].length && row.every((one) => Number.isInteger(one) && one >= 0 && one <= 9));
}

const isNumbers = (value) => isList(value) && value.every(isNumber);
const isScene = (value) => isList(value) && value.length > 0
  && value.every((one) => typeof one === "string" && OBJECT.test(one));
const isWorld = (value) => isObject(value) && isList(value.domain) && isObject(value.true);
// An element of a world: as the sample space of rules has it.
const isPlace = (value) => isList(value) && value.length === 2 && isWorld(value[0]) && typeof value[1] === "string";
const DEEP = 3; // levels of a nested value that are laid out; what lies deeper is shown as JSON

function picture(value, depth = 0) {
  if (isGrid(value)) return gridOf(value);
  if (isNumbers(value)) return numbersOf(value);
  if (isScene(value)) return sceneOf(value);
  if (isPlace(value)) return worldOf(value[0], value[1]);
  if (isWorld(value)) return worldOf(value);
  if (typeof value === "string") return textOf(value);
  if (isObject(value) && depth < DEEP && Object.keys(value).length) {
    const entries = Object.entries(value);
    if (entries.length === 1 && entries[0][0] === "text" && typeof value.text === "string") return textOf(value.text);
    return facts(entries.map(([name, one]) => [name, picture(one, depth + 1)]));
  }
  if (isList(value) && value.length && value.every((one) => typeof one === "string" && one && !one.includes(","))) return textOf(value.join(", "));
  const json = JSON.stringify(value);
  if (json.length > SHORT && isList(value) && value.every((one) => typeof one === "string")) return h("ul", { class: "texts" }, value.map((one) => h("li", null, textOf(one))));
  return json.length > LONG ? textOf(json) : h("code", { class: "value" }, json);
}

// parts: of the text, if some of them are marked.
function textOf(value, parts = value) {
  if (value === "") return h("span", { class: "value empty" }, "(empty text)");
  return value.length <= SHORT && !value.includes("\n")
    ? h("span", { class: "value" }, parts)
    : h("div", { class: "text", tabindex: value.length > LONG ? 0 : null }, parts);
}

function drawn(kind, width, height, said, children) {
  return s("svg", { class: `picture ${kind}`, width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": said }, children);
}

function gridOf(rows) {
  const cell = Math.max(5, Math.min(CELL, Math.floor(240 / Math.max(rows.length, rows[0].length))));
  const cells = rows.flatMap((row, y) => row.map((one, x) =>
    s("rect", { class: `g${one}`, x: x * cell, y: y * cell, width: cell, height: cell })));
  const said = `grid of ${rows.length} rows and ${rows[0].length} columns: ${rows.map((row) => row.join(" ")).join("; ")}`;
  return drawn("grid", rows[0].length * cell + 1, rows.length * cell + 1, said, cells);
}

function numbersOf(values) {
  if (!values.length) return h("span", { class: "cells empty" }, "empty list");
  if (values.length > MOST_CELLS) return textOf(values.join(", "));
  return h("span", { class: "cells", role: "img", "aria-label": `list: ${values.join(", ")}` },
    values.map((one) => h("span", { class: "cell" }, one)));
}

function sceneOf(objects) {
  return h("span", { class: "scene" }, objects.map((name) => {
    const [, size, colour, material, shape] = OBJECT.exec(name);
    const ink = INKS[colour] || "#8a8a8a";
    const look = { fill: ink, class: material };
    const shapes = {
      cube: () => [s("rect", { x: 5, y: 10, width: 17, height: 17, ...look }),
        s("path", { d: "M5 10l6-5h17l-6 5zM22 10l6-5v17l-6 5z", ...look, "fill-opacity": 0.7 })],
      sphere: () => [s("circle", { cx: 16, cy: 16, r: 12, ...look })],
      cylinder: () => [s("path", { d: "M6 8v17a10 4 0 0 0 20 0v-17z", ...look }),
        s("ellipse", { cx: 16, cy: 8, rx: 10, ry: 4, ...look, "fill-opacity": 0.7 })],
      cone: () => [s("path", { d: "M16 4l11 21a11 4 0 0 1-22 0z", ...look })],
    };
    const shine = material === "metal" ? s("path", { class: "shine", d: "M10 13q2-4 6-4" }) : null;
    const scale = size === "small" ? 22 : 32;
    return h("span", { class: "object" },
      s("svg", { width: scale, height: scale, viewBox: "0 0 32 32", "aria-hidden": "true" }, shapes[shape](), shine),
      h("span", null, name));
  }));
}

// A world: its elements on a circle, properties beside them, relations as arrows, what is unknown dashed.
function worldOf(world, chosen) {
  const names = world.domain;
  const reach = Math.max(47, Math.min(132, 7 + names.length * 10));
  const at = new Map(names.map((name, place) => {
    const angle = (2 * Math.PI * place) / names.length - Math.PI / 2;
    return [name, [reach * Math.cos(angle), reach * Math.sin(angle)]];
  }));
  const atoms = [...atomsOf(world.true, ""), ...atomsOf(world.unknown, "?")];
  const relations = [...new Set(atoms.filter(({ of }) => of.length === 2).map(({ name }) => name))].sort();
  const arrows = atoms.filter(({ of }) => of.length === 2 && of.every((one) => at.has(one)))
    .map(({ name, mark, of: [from, to] }) => arrow(at.get(from), at.get(to), 0, relations.indexOf(name), { name, mark, from, to }));
  const labels = names.map((name) => labelOf(name, at.get(name),
    atoms.filter(({ of }) => of.length === 1 && of[0] === name).map((one) => one.name + one.mark)));
  const dots = names.map((name, place) => elementOf(at.get(name), labels[place], name === chosen));
  const said = `world ${world.id || ""} of ${names.length} elements${chosen ? `, element ${chosen}` : ""}; ${factsOf(atoms) || "no facts"}`;
  const [left, top, right, bottom] = boxAround(labels.map(({ box }) => box), reach + 18);
  const wide = right - left > WIDE;
  const graph = s("svg", { class: "picture world", width: right - left, height: bottom - top,
    viewBox: `${left} ${top} ${right - left} ${bottom - top}`, role: "img", "aria-label": visible(said) }, arrows, dots);
  return h("figure", { class: wide ? "world wide" : "world" }, graph, h("figcaption", null, h("span", null, h("b", null, world.id || "world"), chosen ? `, element ${chosen}` : ""),
    relations.map((name, place) => h("span", { class: `key line r${place % 4}` }, name)),
    atoms.some(({ mark }) => mark) ? h("span", { class: "key dashed" }, "unknown") : null));
}

// Atoms as {name, mark, of: the elements}.
function atomsOf(part, mark) {
  return Object.entries(part || {}).flatMap(([name, some]) => (isList(some) ? some : [])
    .map((atom) => ({ name, mark, of: (isList(atom) ? atom : [atom]).map(String) })));
}

// The lines beside an element, its name first, and the box that they fill.
function labelOf(name, [x, y], own) {
  const side = x > 1 ? "start" : x < -1 ? "end" : "middle";
  const lines = [...wrapped(visible(name)).map((text) => ({ text })), ...wrapped(visible(own.join(" "))).map((text) => ({ text, look: "own" }))];
  const width = Math.max(...lines.map(({ text }) => widthOf(text)));
  const from = x + (side === "start" ? BESIDE : side === "end" ? -BESIDE : 0);
  const above = side === "middle" && y < 0;
  const first = y + (side !== "middle" ? 4 - (LINE * (lines.length - 1)) / 2 : above ? -BESIDE - LINE * (lines.length - 1) : 17);
  const left = side === "start" ? from : side === "end" ? from - width : from - width / 2;
  return { own, side, lines, x: from, y: first, box: [left - 3, first - LINE, left + width + 3, first + LINE * (lines.length - 1) + 4] };
}

function elementOf([cx, cy], { own, side, lines, x, y }, chosen) {
  return s("g", { class: "element" },
    s("circle", { class: chosen ? "dot chosen" : own.length ? "dot marked" : "dot", cx, cy, r: chosen ? 6.5 : 5 }),
    s("text", { x, y, "text-anchor": side }, lines.map(({ text, look }, place) => s("tspan", { x, dy: place ? LINE : 0, class: look }, text))));
}

// The box of a graph of this radius and of its labels.
const boxAround = (boxes, radius) => [-radius, -radius, radius, radius].map((edge, place) => (place < 2 ? Math.floor : Math.ceil)(
  Math[place < 2 ? "min" : "max"](edge, ...boxes.map((box) => box[place]))));

// A text in lines of at most MOST_LINE characters, broken after a separator or before a capital where there is one.
function wrapped(text) {
  const lines = [];
  for (const word of text.match(/\p{Lu}?[^\s_./\p{Lu}-]*[\s_./-]?/gu).filter(Boolean)) {
    for (let rest = [...word]; rest.length; rest = rest.slice(MOST_LINE)) {
      const piece = rest.slice(0, MOST_LINE).join("");
      if (lines.length && (lines.at(-1) + piece).trimEnd().length <= MOST_LINE) lines[lines.length - 1] += piece;
      else lines.push(piece);
    }
  }
  return lines;
}

const pen = document.createElement("canvas").getContext("2d");
function widthOf(text) {
  pen.font = "600 11px system-ui, sans-serif";
  return pen.measureText(text).width;
}

// An arrow from one element to another, bent a little so that one back and one of another name stay apart;
// from an element to itself a loop inwards, where no name stands.
function arrow([x1, y1], [x2, y2], middle, place, { name, mark, from, to }) {
  const look = { class: `arrow r${place % 4}${mark ? " unknown" : ""}`, "data-atom": `${name}${mark} ${from} ${to}` };
  const told = s("title", null, `${name}${mark} of ${from}, ${to}`);
  const head = (x, y, ux, uy) => s("path", { class: "head", d: `M${x} ${y}l${-6 * ux + 3 * uy} ${-6 * uy - 3 * ux}l${-6 * uy} ${6 * ux}z` });
  if (from === to) {
    const long = Math.hypot(x1 - middle, y1 - middle) || 1;
    const [ux, uy] = [(middle - x1) / long, (middle - y1) / long];
    const size = 20 + 5 * (place % 4);
    const [ax, ay, bx, by] = [x1 - uy * 4, y1 + ux * 4, x1 + uy * 4, y1 - ux * 4];
    const path = `M${ax} ${ay}C${x1 + ux * size - uy * size * 0.7} ${y1 + uy * size + ux * size * 0.7} ${x1 + ux * size + uy * size * 0.7} ${y1 + uy * size - ux * size * 0.7} ${bx} ${by}`;
    const [tx, ty] = [-ux - uy * 0.55, -uy + ux * 0.55].map((one) => one / Math.hypot(1, 0.55));
    return s("g", look, told, s("path", { class: "line", d: path }), head(bx, by, tx, ty));
  }
  const [dx, dy] = [x2 - x1, y2 - y1];
  const long = Math.hypot(dx, dy);
  const bend = 8 + 8 * (place % 4);
  const [mx, my] = [(x1 + x2) / 2 - (dy / long) * bend, (y1 + y2) / 2 + (dx / long) * bend];
  const end = Math.hypot(x2 - mx, y2 - my);
  const [ux, uy] = [(x2 - mx) / end, (y2 - my) / end];
  const [ex, ey] = [x2 - ux * 7, y2 - uy * 7];
  return s("g", look, told, s("path", { class: "line", d: `M${x1} ${y1}Q${mx} ${my} ${ex} ${ey}` }), head(ex, ey, ux, uy));
}

// What holds, in words: as many atoms as there are, by name.
function factsOf(atoms) {
  const names = [...new Set(atoms.map(({ name, mark }) => name + mark))];
  return names.map((name) => `${name} of ${atoms.filter((one) => one.name + one.mark === name).map(({ of }) => of.join("→")).join(", ")}`).join("; ");
}

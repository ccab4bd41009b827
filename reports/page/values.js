// Values as pictures, by their shape: grids, lists of numbers, scenes of objects, worlds, texts. What has
// no picture is shown as JSON. Every picture says in words what it shows.

const SHORT = 60;
const CELL = 16;
const OBJECT = /^(?:(small|large) )?(\w+) (metal|rubber) (cube|sphere|cylinder|cone)$/;
const INKS = { gray: "#8a8a8a", grey: "#8a8a8a", red: "#d13b3b", blue: "#3567d6", green: "#2f9e44",
  brown: "#8b5a2b", purple: "#8e44ad", cyan: "#17a2b8", yellow: "#e0b400" };

const isList = (value) => Array.isArray(value);
const isObject = (value) => value !== null && typeof value === "object" && !isList(value);
const isNumber = (value) => typeof value === "number";

function isGrid(value) {
  return isList(value) && value.length > 0 && value.every((row) => isList(row) && row.length > 0
    && row.length === value[0].length && row.every((one) => Number.isInteger(one) && one >= 0 && one <= 9));
}

const isNumbers = (value) => isList(value) && value.every(isNumber);
const isScene = (value) => isList(value) && value.length > 0
  && value.every((one) => typeof one === "string" && OBJECT.test(one));
const isWorld = (value) => isObject(value) && isList(value.domain) && isObject(value.true);
const isPlace = (value) => isObject(value) && isWorld(value.world);

function picture(value) {
  if (isGrid(value)) return gridOf(value);
  if (isNumbers(value)) return numbersOf(value);
  if (isScene(value)) return sceneOf(value);
  if (isPlace(value)) return worldOf(value.world, value.element);
  if (isWorld(value)) return worldOf(value);
  if (typeof value === "string") return textOf(value);
  if (isObject(value) && Object.values(value).every((one) => typeof one === "string")) {
    return facts(Object.entries(value).map(([name, one]) => [name, textOf(one)]));
  }
  return h("code", { class: "value" }, JSON.stringify(value));
}

function textOf(value) {
  return value.length <= SHORT && !value.includes("\n")
    ? h("span", { class: "value" }, value === "" ? "(empty text)" : value)
    : h("div", { class: "text", tabindex: value.length > 600 ? 0 : null }, value);
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
  const size = Math.max(150, Math.min(330, 70 + names.length * 18));
  const middle = size / 2;
  const reach = middle - 30;
  const at = Object.fromEntries(names.map((name, place) => {
    const angle = (2 * Math.PI * place) / names.length - Math.PI / 2;
    return [name, [middle + reach * Math.cos(angle), middle + reach * Math.sin(angle)]];
  }));
  const parts = [world.true, world.unknown || {}];
  const relations = [...new Set(parts.flatMap((part) => Object.keys(part)
    .filter((name) => (part[name] || []).some((atom) => atom.length === 2))))].sort();
  const arrows = [];
  parts.forEach((part, unknown) => relations.forEach((name, place) => {
    for (const atom of part[name] || []) {
      if (atom.length === 2 && at[atom[0]] && at[atom[1]]) arrows.push(arrow(at[atom[0]], at[atom[1]], middle, place, unknown));
    }
  }));
  const dots = names.map((name) => {
    const [x, y] = at[name];
    const own = parts.flatMap((part, unknown) => Object.keys(part).filter((one) => (part[one] || [])
      .some((atom) => atom.length === 1 && atom[0] === name)).map((one) => one + (unknown ? "?" : "")));
    const label = [name, own.join(" ")].filter(Boolean);
    const side = x > middle + 1 ? "start" : x < middle - 1 ? "end" : "middle";
    const dx = side === "start" ? 8 : side === "end" ? -8 : 0;
    const dy = side === "middle" ? (y < middle ? -16 : 16) : 0;
    return s("g", null,
      s("circle", { class: name === chosen ? "dot chosen" : own.length ? "dot marked" : "dot", cx: x, cy: y, r: 5 }),
      s("text", { x: x + dx, y: y + dy - (label.length > 1 ? 3 : -3), "text-anchor": side },
        label.map((line, place) => s("tspan", { x: x + dx, dy: place ? 10 : 0, class: place ? "own" : null }, line))));
  });
  const said = `world ${world.id || ""} of ${names.length} elements; ${factsOf(world)}`;
  const room = 26;
  const graph = s("svg", { class: "picture world", width: size + 2 * room, height: size,
    viewBox: `${-room} 0 ${size + 2 * room} ${size}`, role: "img", "aria-label": said }, arrows, dots);
  const key = relations.map((name, place) => h("span", { class: `key r${place % 4}` }, name));
  return h("figure", { class: "world" }, graph, h("figcaption", null, world.id || "world",
    chosen ? `, element ${chosen}` : "", key.length ? ": " : "", key));
}

function arrow([x1, y1], [x2, y2], middle, place, unknown) {
  const look = { class: `arrow r${place % 4}${unknown ? " unknown" : ""}` };
  if (x1 === x2 && y1 === y2) {
    const [ox, oy] = [x1 - (x1 - middle) * 0.14, y1 - (y1 - middle) * 0.14];
    return s("circle", { ...look, cx: ox, cy: oy, r: 7 + 2 * (place % 4) });
  }
  const [dx, dy] = [x2 - x1, y2 - y1];
  const long = Math.hypot(dx, dy);
  const bend = 8 + 8 * (place % 4);
  const [mx, my] = [(x1 + x2) / 2 - (dy / long) * bend, (y1 + y2) / 2 + (dx / long) * bend];
  const [tx, ty] = [x2 - mx, y2 - my];
  const end = Math.hypot(tx, ty);
  const [ex, ey] = [x2 - (tx / end) * 7, y2 - (ty / end) * 7];
  const [ux, uy] = [tx / end, ty / end];
  const head = `M${ex} ${ey}l${-6 * ux + 3 * uy} ${-6 * uy - 3 * ux}l${-6 * uy} ${6 * ux}z`;
  return s("g", look, s("path", { class: "line", d: `M${x1} ${y1}Q${mx} ${my} ${ex} ${ey}` }), s("path", { class: "head", d: head }));
}

function factsOf(world) {
  const said = [];
  for (const [part, mark] of [[world.true, ""], [world.unknown || {}, "?"]]) {
    for (const [name, atoms] of Object.entries(part)) {
      if (isList(atoms) && atoms.length) said.push(`${name}${mark} of ${atoms.map((atom) => isList(atom) ? atom.join("→") : atom).join(", ")}`);
    }
  }
  return said.join("; ");
}

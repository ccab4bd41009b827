// Elements. What is no node becomes a text node, so that no text is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

const h = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);
const s = (name, attributes, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

function number(value, places = 3) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : value.toFixed(places);
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 60) return `${number(seconds, 1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const words = (name) => String(name).replaceAll("_", " ");
const plural = (count, one) => `${number(count)} ${one}${count === 1 ? "" : "s"}`;

// A table: heads are texts; cells texts, numbers or nodes. The first cell of a row names it.
function table(caption, heads, rows, attributes) {
  const cell = (one, place) => {
    const numeric = typeof one === "number";
    const shown = numeric ? number(one) : one;
    if (place === 0) return h("th", { scope: "row" }, shown);
    return h("td", { class: numeric ? "number" : null }, shown);
  };
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h("table", attributes,
      h("caption", null, caption),
      h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", null, rows.map((row) => h("tr", null, row.map(cell))))));
}

const folded = (summary, ...children) => h("details", null, h("summary", null, summary), children);

function facts(pairs) {
  const kept = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, kept.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}

function choice(label, options, chosen, act) {
  const select = h("select", { onchange: () => act(select.value) },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  return h("label", null, label, " ", select);
}

// Elements. What is no node becomes a text node, so that no text is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

// What a text would do to the page without being seen (control codes, marks of direction) or what has no
// form of its own (lone surrogates) is shown as an escape.
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Cs}/gu;
const visible = (text) => text.replace(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
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
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// Why a problem ended, as a sentence. document.py writes STOPS; unknown causes are shown as they are.
const stopSentence = (cause) => (Object.hasOwn(STOPS, cause) ? STOPS[cause] : words(cause));
const words = (name) => String(name).replaceAll("_", " ");
const plural = (count, one) => `${number(count)} ${one}${count === 1 ? "" : "s"}`;
const percent = (share, places = 0) => `${number(100 * share, places)}%`;

const MOST_TABLE_ROWS = 12; // of a table that is not folded; page.css hides those after them

// A table: heads are texts; cells texts, numbers or nodes. The first cell of a row names it. unseen: the
// caption is for those alone who do not see what stands above the table. whole: never folded.
function table(caption, heads, rows, { unseen, whole, ...attributes } = {}) {
  const numeric = heads.map((_, place) => place > 0 && rows.some((row) => typeof row[place] === "number"));
  const cell = (one, place) => {
    const shown = typeof one === "number" ? number(one) : one;
    return place === 0 ? h("th", { scope: "row" }, shown) : h("td", { class: numeric[place] ? "number" : null }, shown);
  };
  const long = !whole && rows.length > MOST_TABLE_ROWS;
  const drawn = h("div", { class: long ? "scroll many folded" : "scroll", tabindex: 0, role: "region", "aria-label": visible(caption) },
    h("table", attributes,
      h("caption", { class: unseen ? "unseen" : null }, h("span", null, caption)),
      h("thead", null, h("tr", null, heads.map((head, place) => h("th", { scope: "col", class: numeric[place] ? "number" : null }, head)))),
      h("tbody", null, rows.map((row) => h("tr", null, row.map(cell))))));
  if (long) drawn.append(h("button", { type: "button", onclick: () => { drawn.classList.remove("folded"); drawn.focus(); } }, `Show all ${number(rows.length)} rows`));
  return drawn;
}

const folded = (summary, ...children) => h("details", null, h("summary", null, summary), children);

function facts(pairs) {
  const kept = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, kept.map(([name, value]) => h("div", { class: isWide(value) ? "wide" : null }, h("dt", null, name), h("dd", null, value))));
}

// What needs the whole line.
const isWide = (value) => value instanceof Element && (value.matches("pre, .text, .texts, table, .world, .facts, .scene") || value.querySelector("pre, .text, table, .world") !== null);

function choice(label, options, chosen, act) {
  const select = h("select", { onchange: () => act(select.value) },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  return h("label", null, label, " ", select);
}

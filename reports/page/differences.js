// Marks in the texts of the task examples: what of an output was not copied from its input, and where a
// prediction differs from the observed output. Marks are elements around pieces of the text, which stays whole.

const MOST_MARKED = 2000; // characters of a text; longer ones have no marks
const COPIED = 3; // characters in a row that count as copied; fewer do at the start or the end of a word
const NEW_MEANS = "underlined: not copied from the input";
const DIFFERS_MEANS = "framed: from the first to the last difference between prediction and observation";
const graphemes = typeof Intl.Segmenter === "function" ? new Intl.Segmenter("en", { granularity: "grapheme" }) : null;

const isExample = (problem) => problem.task === "examples";

// An output, with the pieces marked that are not copied from its input.
function outputBeside(input, output) {
  if (typeof output !== "string" || !isMarkable(output)) return picture(output);
  const sources = textsIn(input);
  if (!sources.length || !isMarkable(sources.join(""))) return picture(output);
  return textOf(output, copiedPieces(sources, output).map(({ text, copied }) => (copied ? text : h("ins", { title: NEW_MEANS }, text))));
}

// A value, with the piece marked in which it differs from another; of a text beside another kind of value, its kind.
function valueBeside(value, other) {
  const kinds = [value, other].map(kindOf);
  if (kinds[0] !== kinds[1]) return kinds.includes("text") ? h("span", null, picture(value), h("small", null, ` (${kinds[0]})`)) : picture(value);
  if (kinds[0] !== "text" || value === other || !isMarkable(value) || !isMarkable(other)) return picture(value);
  const [mine, theirs] = [value, other].map(characters);
  const shorter = Math.min(mine.length, theirs.length);
  let start = 0;
  while (start < shorter && mine[start] === theirs[start]) start += 1;
  let end = 0;
  while (end < shorter - start && mine.at(-1 - end) === theirs.at(-1 - end)) end += 1;
  const middle = mine.slice(start, mine.length - end).join("");
  return textOf(value, [mine.slice(0, start).join(""), middle ? h("mark", { title: DIFFERS_MEANS }, middle) : null, mine.slice(mine.length - end).join("")]);
}

// What the marks in a node mean, as a sentence; null without marks.
function legendOf(...nodes) {
  const has = (name) => nodes.some((node) => node && node.querySelector(name));
  const said = [has("ins") ? NEW_MEANS : "", has("mark") ? DIFFERS_MEANS : ""].filter(Boolean).join("; ");
  return said ? h("p", { class: "note legend" }, `${said[0].toUpperCase()}${said.slice(1)}.`) : null;
}

const kindOf = (value) => (typeof value === "string" ? "text" : value === null ? "null" : isList(value) ? "list" : typeof value === "object" ? "record"
  : typeof value === "boolean" ? "truth value" : "number");
const isMarkable = (text) => graphemes !== null && text.length <= MOST_MARKED;
const characters = (text) => [...graphemes.segment(text)].map(({ segment }) => segment);

function textsIn(value) {
  if (typeof value === "string") return [value];
  if (isNumber(value)) return [String(value)];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}

// The text in pieces {text, copied}. From left to right, each piece is the longest that a source has.
function copiedPieces(sources, text) {
  const numbers = new Map(); // a code unit for each character, so that strings of them can be searched
  const encoded = (parts) => parts.map((one) => String.fromCharCode(numbers.get(one) ?? numbers.set(one, numbers.size + 1).size)).join("");
  const parts = characters(text);
  const from = sources.map(characters);
  const source = from.map(encoded).join("\0");
  const isWord = [false, ...from.flatMap((one, place) => [...(place ? [false] : []), ...one.map((part) => /^[\p{L}\p{N}\p{So}]/u.test(part))]), false];
  const coded = encoded(parts);
  const pieces = [];
  const add = (length, copied) => {
    const piece = parts.slice(at, at + length).join("");
    if (pieces.length && pieces.at(-1).copied === copied) pieces.at(-1).text += piece;
    else pieces.push({ text: piece, copied });
    at += length;
  };
  let at = 0;
  while (at < parts.length) {
    let length = 0;
    while (at + length < parts.length && source.includes(coded.slice(at, at + length + 1))) length += 1;
    while (length && length < COPIED && !isEdge(source, coded.slice(at, at + length), isWord)) length -= 1;
    add(length || 1, length > 0);
  }
  return pieces;
}

// Whether a piece starts a word (also an emoji) of the source, or has several characters and ends one. isWord: whether the
// character before each place of the source belongs to a word.
function isEdge(source, piece, isWord) {
  for (let place = source.indexOf(piece); place >= 0; place = source.indexOf(piece, place + 1)) {
    const end = place + piece.length;
    if (isWord[place + 1] && !isWord[place]) return true;
    if (piece.length > 1 && isWord[end] && !isWord[end + 1]) return true;
  }
  return false;
}

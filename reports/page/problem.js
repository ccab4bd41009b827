// One problem: what was shown, what was hidden, every hypothesis, and where they part.

const SIGNS = { 1: ["✓", "correct"], 0: ["✗", "wrong"], "-": ["?", "undefined"] };
const SHOWN_ROWS = 30; // observations drawn at once
const MOST_SIGNS = 24; // observations whose marks stand one by one
const HIDDEN_OPEN = 6; // hidden observations that need no click

function drawProblem(told, session, beside = []) {
  const { problem } = told;
  const consistent = told.hypotheses.filter((one) => one.verdict === "accepted" || one.verdict === "redundant").length;
  return h("article", { class: "problem" },
    h("div", { class: "title" }, h("h3", null, problem.id || "(unnamed)"), h("p", { class: "beside-links" }, beside.filter(Boolean).map((link) => [link, " "]))),
    facts([["ended", problem.status === "done" ? stopSentence(problem.cause) : problem.status === "open" ? "not finished" : `${problem.status} ${problem.cause}`],
      ["hypotheses", `${told.hypotheses.length}, ${consistent} consistent`], ["sample space", plural(problem.space, "input")],
      ["session", h("span", null, nameOf(session), " ", h("code", null, session.session))]]),
    publicOf(problem),
    observations("Shown observations", "shown", problem, true),
    observations("Hidden observations (not shown to the proposer)", "hidden", problem, problem.hidden.length <= HIDDEN_OPEN),
    referenceOf(problem),
    told.figures.length ? foldedFigures(problem.id, async () => told, false) : null,
    told.effects.length ? [h("h4", null, "Effects and telling texts"), effectsOf(told)] : null,
    h("h4", null, "Hypotheses"),
    told.hypotheses.length ? h("ol", { class: "hypotheses" }, ranked(told).map((one) => hypothesisOf(one, told))) : h("p", { class: "note" }, "There are no hypotheses."),
    sideBySide(told, session), partingOf(told), callsOf(told));
}

// The hypotheses, best first. Without a rank are malformed ones and those that predict the same as a better one.
const ranked = ({ hypotheses }) => [...hypotheses].sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity) || a.number - b.number);

function publicOf(problem) {
  const told = Object.entries(problem.public).filter(([, value]) => value !== null && value !== "" && !(isList(value) && !value.length));
  if (!told.length) return null;
  const theory = problem.public.theory;
  const axioms = theory && isList(theory.axioms) ? theory.axioms : null;
  return folded(axioms ? "Theory" : "Problem description",
    axioms ? h("ul", null, axioms.map((one) => h("li", null, h("code", null, typeof one === "string" ? one : one.text || JSON.stringify(one))))) : null,
    facts(told.filter(([name]) => !(axioms && name === "theory")).map(([name, value]) => [words(name), picture(value)])));
}

// kind: shown or hidden; of very many observations, the page has some.
function observations(title, kind, problem, open) {
  const pairs = problem[kind];
  if (!pairs.length) return null;
  const all = problem.counts[kind];
  const most = fieldsOf(pairs) ? MOST_TABLE_ROWS : SHOWN_ROWS;
  let list = observed(title, pairs.slice(0, most), problem);
  const more = pairs.length > most ? h("button", { type: "button", onclick: () => {
    const whole = observed(title, pairs, problem);
    list.replaceWith(whole);
    list = whole;
    more.remove();
    whole.focus();
  } }, `Show all ${number(pairs.length)}`) : null;
  return h("details", { open, class: "pairs" }, h("summary", null, all > pairs.length ? `${title} (${number(pairs.length)} of ${number(all)})` : `${title} (${pairs.length})`), list, legendOf(list), more);
}

// Records of the same fields as a table, worlds and grids side by side, all else line by line.
// names: of the observations, instead of their numbers. predictions: for each, the result of a hypothesis.
function observed(title, pairs, problem, { names, predictions } = {}) {
  const fields = fieldsOf(pairs);
  if (fields) {
    const label = problem.public.label_name || "output";
    return table(title, ["#", ...fields.map(words), words(label), ...(predictions ? ["prediction"] : [])],
      pairs.map(([input, output], place) => [names ? names[place] : String(place + 1), ...fields.map((name) => cellOf(input[name])), isExample(problem) && typeof output === "string" ? observedOutput([input, output], problem, predictions && predictions[place]) : cellOf(output), ...(predictions ? [predictionOf(predictions[place], problem, output)] : [])]), { unseen: true, whole: true, class: "records" });
  }
  const tiles = pairs.every(([input, output]) => isGrid(input) && isGrid(output) && input[0].length + output[0].length <= 12);
  const worlds = pairs.every(([input]) => isWorld(input));
  const items = pairs.map((pair, place) => observationOf(pair, problem, names && names[place], predictions && { got: predictions[place] }));
  const look = [worlds ? "worlds" : "", tiles ? "tiles" : "", names ? "named" : "", items.some((item) => item.querySelector(".world.wide")) ? "wide" : ""];
  return h("ol", { class: ["observations", ...look].filter(Boolean).join(" "), tabindex: -1 }, items);
}

// The names of the fields that all inputs have; null where the inputs are no such records.
function fieldsOf(pairs) {
  const plain = (value) => value === null || typeof value !== "object";
  const record = ([input, output]) => isObject(input) && !isWorld(input) && Object.keys(input).length > 0 && Object.values(input).every(plain) && plain(output);
  if (!pairs.every(record)) return null;
  const names = Object.keys(pairs[0][0]);
  return pairs.every(([input]) => Object.keys(input).length === names.length && names.every((name) => name in input)) ? names : null;
}

const cellOf = (value) => (isNumber(value) ? value : typeof value === "string" ? textOf(value) : JSON.stringify(value));

function observationOf([input, output], problem, name, predicted) {
  const answer = problem.family === "logic" ? null : [h("span", { class: "to", role: "img", "aria-label": "gives" }, "→"), observedOutput([input, output], problem, predicted && predicted.got)];
  return h("li", null, h("div", { class: "pair" }, name ? h("small", null, name) : null, picture(input), answer,
    predicted ? h("span", { class: "predicted" }, problem.family === "logic" ? null : h("small", null, "but it predicts "), predictionOf(predicted.got, problem, output)) : null));
}

// got: the wrong prediction beside which the output is shown.
function observedOutput([input, output], problem, got) {
  if (!isExample(problem)) return picture(output);
  return got && "value" in got ? valueBeside(output, got.value) : outputBeside(input, output);
}

// What a hypothesis predicts for an observation that it is not right on; of a rule, why it does not hold in a world.
function predictionOf(got, problem, wanted) {
  if (!got || "undefined" in got) return h("em", null, got ? `undefined: ${words(got.undefined)}` : "unknown");
  const told = isObject(got.value) && problem.family === "logic" ? got.value : got;
  if (isList(told.breaches) && told.breaches.length) return h("span", null, `The rule fails at ${[...new Set(told.breaches.flatMap((one) => one.elements || []))].join(", ")}.`);
  if ("value" in told) return isExample(problem) && wanted !== undefined ? valueBeside(told.value, wanted) : picture(told.value);
  return h("span", null, Object.entries(told).filter(([, value]) => value !== null && value !== "" && !(isList(value) && !value.length))
    .map(([key, value]) => `${words(key)} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", "));
}

function referenceOf(problem) {
  const told = Object.entries(problem.reference);
  return told.length ? folded("Reference solution (not shown to the proposer)", facts(told.map(([name, value]) => [words(name),
    typeof value === "string" && value.includes("\n") ? h("pre", null, value) : picture(value)]))) : null;
}

function hypothesisOf(one, told) {
  const title = titleFor(one);
  return h("li", { id: `h${one.number}`, class: one.verdict },
    h("details", { ontoggle: (event) => fillHypothesis(event.target, one, told, answerOf(one, told)) },
      h("summary", null, h("span", { class: `verdict ${one.verdict}` }, one.verdict), " ", one.rank ? [h("b", null, `${one.rank}.`), " "] : null, h("span", { class: title.length > LONG ? "title long" : "title" }, title),
        one.shown ? marksOf(one.shown, "shown") : null, one.hidden ? marksOf(one.hidden, "hidden") : null, h("small", null, ` h${one.number}`))));
}

function answerOf(one, told) {
  const step = told.steps.find((each) => each.step === one.step);
  return step && step.answers[one.answer];
}

const titleFor = (one) => one.summary || one.description || one.text || one.reason;

// Drawn when it is opened: a page of many problems stays light.
function fillHypothesis(details, one, told, raw) {
  if (!details.open || details.dataset.filled) return;
  details.dataset.filled = "yes";
  const code = one.text && one.text !== titleFor(one);
  const asked = told.calls.filter((call) => call.said && call.path.startsWith(`step/${one.step}/`));
  details.append(
    ...(one.reason && one.reason !== titleFor(one) ? [h("p", { class: "reason" }, one.reason)] : []),
    ...(code ? [h("pre", null, one.text)] : []),
    scoresOf(one, told),
    ...["shown", "hidden"].filter((name) => one[name] && Object.keys(one[name].got).length).flatMap((name) => failing(name, one[name], told.problem)),
    ...(asked.length ? [folded(`Tool calls in this step (${asked.length})`, toolCalls(asked))] : []),
    ...(raw && raw.text !== one.text ? [folded("Original answer", h("pre", null, raw.text || "(an empty answer)"))] : []));
}

function scoresOf(one, told) {
  const alone = told.parting.alone[one.number];
  const { bank } = one;
  return facts([
    ["step", one.step],
    ["found by", (answerOf(one, told) || {}).found_by || null],
    ["after the hint", (answerOf(one, told) || {}).after_hint || null],
    ["coverage", one.coverage === null ? null : number(one.coverage)],
    ["unique predictions", alone === undefined ? null : `on ${percent(alone, 1)} of the sample space`],
    ["undefined", one.undefined && Object.keys(one.undefined).length ? counted(one.undefined) : null],
    ...(bank ? [["rank in the bank", bank.rank], ["reward", number(bank.reward)], ["accuracy", bank.accuracy === null ? null : number(bank.accuracy)], ["visits", bank.visits]] : []),
    ...(one.shown ? Object.entries(one.shown.detail).filter(([, value]) => isNumber(value)).map(([name, value]) => [words(name), number(value)]) : []),
    ["contract violations", one.breaches && one.breaches.length ? one.breaches.map(words).join(", ") : null],
    ["repaired form of the answer", repairedOf(one, told)],
  ]);
}

// What was wrong with the form of the answer, for the answer that the model itself gave.
function repairedOf(one, told) {
  const { fields } = told.steps.find((step) => step.step === one.step) || { fields: {} };
  return one.answer === 0 && fields.repaired ? counted(fields.repaired) : null;
}

function marksOf(agreement, name) {
  const marks = [...agreement.marks].filter((mark) => mark !== " ");
  const said = `${name}: ${number(agreement.right)} of ${number(agreement.of)} correct`;
  if (marks.length > MOST_SIGNS || !marks.length) return h("span", { class: "marks" }, said);
  return h("span", { class: "marks", role: "img", "aria-label": said, title: said },
    `${name} `, marks.map((mark) => h("span", { class: `m${mark === "-" ? "u" : mark}` }, SIGNS[mark][0])));
}

function failing(name, agreement, problem) {
  const pairs = problem[name];
  const logic = problem.family === "logic";
  const told = Object.entries(agreement.got);
  const rows = told.slice(0, SHOWN_ROWS).map(([place, got]) => {
    const [input, output] = pairs[Number(place)] || [null, null];
    const number = String(Number(place) + 1);
    return logic ? [number, (input && input.id) || "", predictionOf(got, problem)] : [number, picture(input), observedOutput([input, output], problem, got), predictionOf(got, problem, output)];
  });
  const drawn = table(`Wrong or undefined predictions on ${name} observations`, ["#", ...(logic ? ["world"] : ["input", "output"]), "prediction"], rows, { class: "failing" });
  return [drawn, legendOf(drawn),
    told.length > rows.length ? h("p", { class: "note" }, `${told.length - rows.length} more are not listed.`) : null].filter(Boolean);
}

const sides = { of: "", first: "", second: "" }; // what is chosen, also after the problem was drawn anew

// Two hypotheses beside each other, with the inputs on which they differ.
function sideBySide(told, session) {
  const listed = ranked(told).filter((one) => one.rank);
  if (listed.length < 2) return null;
  const of = `${session.session} ${told.problem.id}`;
  if (sides.of !== of) Object.assign(sides, { of, first: "", second: "" });
  const place = h("div");
  const find = (name, rank) => listed.find((one) => String(one.number) === sides[name]) || listed[rank];
  const fill = () => place.replaceChildren(...comparedHypotheses(told, find("first", 0), find("second", 1)));
  const options = listed.map((one) => [String(one.number), `${one.rank}. ${cut(titleFor(one), SHORT)}`]);
  const select = (label, name, rank) => choice(label, options, String(find(name, rank).number), (value) => { sides[name] = value; fill(); });
  fill();
  return [h("h4", null, "Two hypotheses side by side"),
    h("form", { class: "filters", onsubmit: (event) => event.preventDefault() }, select("First", "first", 0), select("Second", "second", 1)), place];
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

function comparedHypotheses(told, first, second) {
  const both = [first, second];
  const logic = told.problem.family === "logic";
  const rows = [...partingInputs(told, ...both), ...partingObservations(told, ...both)];
  const equal = first === second || told.parting.same.some((group) => both.every((one) => group.includes(one.number)));
  const consistent = both.every((one) => one.verdict === "accepted" || one.verdict === "redundant");
  const none = equal ? "They predict the same everywhere." : consistent ? "No input is known on which they differ."
    : "No observation sets them apart. Predictions for other inputs are kept only for consistent hypotheses.";
  return [h("div", { class: "sides" }, both.map((one) => h("div", null, h("p", { class: "reading" }, h("span", { class: "rank" }, `${one.rank}. `), titleFor(one)),
    one.text && !one.summary && one.text !== titleFor(one) ? h("pre", null, one.text) : null, h("p", { class: "evidence" }, one.shown ? marksOf(one.shown, "shown") : null, one.hidden ? marksOf(one.hidden, "hidden") : null)))),
  rows.length ? table("Inputs on which these two differ", ["input", ...(logic ? [] : ["observed"]), `hypothesis ${first.rank}`, `hypothesis ${second.rank}`],
    rows.map(({ input, observed: output, outputs }) => [input, ...(logic ? [] : [output]), ...outputs]), { class: "parted" }) : h("p", { class: "note" }, none)];
}

// Observations for which two hypotheses predict different outputs.
function partingObservations({ problem }, first, second) {
  const logic = problem.family === "logic";
  return ["shown", "hidden"].filter((name) => first[name] && second[name]).flatMap((name) => problem[name].flatMap(([input, output], place) => {
    const [a, b] = [first, second].map((one) => ({ mark: one[name].marks[place] ?? " ", got: one[name].got[place] }));
    const differ = a.mark !== b.mark || (!logic && JSON.stringify(a.got) !== JSON.stringify(b.got));
    if (!differ || a.mark === " " || b.mark === " ") return [];
    const said = ({ mark, got }) => (logic ? (mark === "1" ? "valid" : "not valid") : mark === "1" ? picture(output) : predictionOf(got, problem));
    return [{ input: [inputOf(input), h("small", null, ` ${name === "shown" ? "shown" : "held-out"} ${place + 1}`)], observed: picture(output), outputs: [said(a), said(b)] }];
  }));
}

// Inputs of the sample space for which they do.
function partingInputs({ parting }, first, second) {
  return parting.inputs.flatMap(({ input, groups, undefined: silent }) => {
    const of = ({ number: name }) => (silent.includes(name) ? -1 : groups.findIndex((group) => group.hypotheses.includes(name)));
    const places = [of(first), of(second)];
    const known = [first, second].every(({ number: name }, side) => places[side] >= 0 || silent.includes(name));
    if (!known || places[0] === places[1]) return [];
    return [{ input: inputOf(input), observed: "–", outputs: places.map((place) => (place < 0 ? h("em", null, "undefined") : outputOf(groups[place], place))) }];
  });
}

// In a cell of a table: a record of several fields in one line.
const inputOf = (input) => (isObject(input) && !isWorld(input) && Object.keys(input).length > 1 ? h("span", { class: "value" }, fieldsIn(input)) : picture(input));

const outputOf = (group, place) => ("value" in group ? picture(group.value) : h("span", { class: "value" }, `prediction ${String.fromCharCode(65 + (place % 26))}`));

function partingOf(told) {
  const { parting } = told;
  if (!parting.inputs.length && !parting.same.length) return null;
  const link = (name) => h("a", { href: `#h${name}`, onclick: (event) => { event.preventDefault(); reveal(name); } }, `h${name}`);
  const list = (names) => names.map((name, place) => [place ? ", " : "", link(name)]);
  const unknown = parting.inputs.some((one) => one.groups.some((group) => !("value" in group)));
  return [h("h4", null, "Inputs on which the consistent hypotheses differ"),
    h("p", { class: "note" }, "Each input is from the sample space and chosen to distinguish as many hypotheses as possible.",
      unknown ? " Predictions are stored as codes. A value is shown if it occurs elsewhere in the problem, otherwise a letter." : "",
      parting.left_out ? ` Only the first ${Object.keys(parting.alone).length} hypotheses are compared; ${parting.left_out} more are not.` : ""),
    h("ol", { class: "parting" }, parting.inputs.map((one) => h("li", null, picture(one.input),
      h("ul", null, one.groups.map((group, place) => h("li", null, h("span", { class: "pair" }, h("span", null, list(group.hypotheses)), h("span", { class: "to", role: "img", "aria-label": "predict" }, "→"),
        outputOf(group, place)))),
        one.undefined.length ? h("li", null, list(one.undefined), " → undefined") : null)))),
    parting.same.length ? h("p", null, "These hypotheses make the same predictions everywhere: ", parting.same.map((group, place) => [place ? "; " : "", list(group)]), ".") : null];
}

function reveal(name) {
  const item = document.getElementById(`h${name}`);
  item.querySelector("details").open = true;
  item.querySelector("summary").focus();
}

function callsOf(told) {
  if (!told.calls.length) return null;
  const before = told.calls.some((call) => call.repeats);
  const orderOf = ({ path }) => path.replace("/propose/", "/0/"); // an answer comes before it is judged
  const calls = [...told.calls].sort((a, b) => COLLATOR.compare(orderOf(a), orderOf(b)));
  const rows = calls.map((call) => [call.path, call.kind, call.tokens_in, call.tokens_out, duration(call.seconds), call.retries, ...(before ? [call.repeats ? `from ${call.repeats}` : ""] : [])]);
  const asked = calls.filter((call) => call.said);
  const people = calls.filter((call) => call.texts && call.texts.some(Boolean));
  return folded(`Calls (${told.calls.length})`, people.length ? [h("h4", null, "Hints of a person"), h("ul", { class: "asked" }, people.map(({ path, texts }) =>
    h("li", null, h("code", null, path), texts.filter(Boolean).map((text) => h("pre", null, text)))))] : null, asked.length ? [h("h4", null, "Tool calls of the proposer"), toolCalls(asked), h("h4", null, "All calls")] : null,
    table("Model and tool calls of this problem", ["path", "kind", "input tokens", "output tokens", "time", "retries", ...(before ? ["reused answer"] : [])], rows, { unseen: true }));
}

// Each with its arguments and its result, laid out where they are what a tool is given and gives.
const toolCalls = (calls) => h("ul", { class: "asked" }, calls.map(({ path, said }) => {
  const [given, result] = [parsed(said.request), parsed(said.response)];
  const laid = isObject(given) && typeof given.tool === "string" && isObject(given.arguments) && Object.keys(given).length === 2;
  const answered = isObject(result) && typeof result.text === "string" && Object.keys(result).every((key) => key === "text" || (key === "refused" && result.refused === true));
  const rows = [...(laid ? Object.entries(given.arguments) : [["arguments", said.request]]), [answered && result.refused ? "refused" : "result", answered ? result.text : said.response]];
  return h("li", null, laid ? [h("b", null, given.tool), " "] : null, h("code", null, path),
    h("dl", null, rows.map(([name, value]) => [h("dt", null, name), h("dd", null, h("pre", null, typeof value === "string" ? value : JSON.stringify(value)))])));
}));

// null for what is no JSON, as a text that was cut.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

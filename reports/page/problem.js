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
    observations("Shown observations", problem.shown, problem, true),
    observations("Hidden observations (not shown to the proposer)", problem.hidden, problem, problem.hidden.length <= HIDDEN_OPEN),
    referenceOf(problem),
    h("h4", null, "Hypotheses"),
    told.hypotheses.length ? h("ol", { class: "hypotheses" }, told.hypotheses.map((one) => hypothesisOf(one, told))) : h("p", { class: "note" }, "There are no hypotheses."),
    partingOf(told), callsOf(told));
}

function publicOf(problem) {
  const told = Object.entries(problem.public).filter(([, value]) => value !== null && value !== "" && !(isList(value) && !value.length));
  if (!told.length) return null;
  const theory = problem.public.theory;
  const axioms = theory && isList(theory.axioms) ? theory.axioms : null;
  return folded(axioms ? "Theory" : "Problem description",
    axioms ? h("ul", null, axioms.map((one) => h("li", null, h("code", null, typeof one === "string" ? one : one.text || JSON.stringify(one))))) : null,
    facts(told.filter(([name]) => !(axioms && name === "theory")).map(([name, value]) => [words(name), picture(value)])));
}

function observations(title, pairs, problem, open) {
  if (!pairs.length) return null;
  let list = observed(title, pairs.slice(0, SHOWN_ROWS), problem);
  const rest = pairs.length - SHOWN_ROWS;
  const more = rest > 0 ? h("button", { type: "button", onclick: () => {
    const whole = observed(title, pairs, problem);
    list.replaceWith(whole);
    list = whole;
    more.remove();
    whole.focus();
  } }, `Show ${rest} more`) : null;
  return h("details", { open, class: "pairs" }, h("summary", null, `${title} (${pairs.length})`), list, more);
}

// Records of the same fields as a table, worlds and grids side by side, all else line by line.
function observed(title, pairs, problem) {
  const fields = fieldsOf(pairs);
  if (fields) {
    const label = problem.public.label_name || "output";
    return table(title, ["#", ...fields.map(words), words(label)],
      pairs.map(([input, output], place) => [String(place + 1), ...fields.map((name) => cellOf(input[name])), cellOf(output)]), { unseen: true, class: "records" });
  }
  const tiles = pairs.every(([input, output]) => isGrid(input) && isGrid(output) && input[0].length + output[0].length <= 12);
  const look = pairs.every(([input]) => isWorld(input)) ? " worlds" : tiles ? " tiles" : "";
  return h("ol", { class: `observations${look}`, tabindex: -1 }, pairs.map((pair) => observationOf(pair, problem)));
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

function observationOf([input, output], problem) {
  const answer = problem.family === "logic" ? null : [h("span", { class: "to", role: "img", "aria-label": "gives" }, "→"), picture(output)];
  return h("li", null, h("div", { class: "pair" }, picture(input), answer));
}

function referenceOf(problem) {
  const told = Object.entries(problem.reference);
  return told.length ? folded("Reference solution (not shown to the proposer)", facts(told.map(([name, value]) => [words(name),
    typeof value === "string" && value.includes("\n") ? h("pre", null, value) : picture(value)]))) : null;
}

function hypothesisOf(one, told) {
  const title = titleFor(one);
  const answer = told.steps.find((step) => step.step === one.step);
  return h("li", { id: `h${one.number}`, class: one.verdict },
    h("details", { ontoggle: (event) => fillHypothesis(event.target, one, told, answer && answer.answers[one.answer]) },
      h("summary", null, h("span", { class: `verdict ${one.verdict}` }, one.verdict), " ", h("b", null, `h${one.number}`), " ", h("span", { class: title.length > LONG ? "title long" : "title" }, title),
        one.shown ? marksOf(one.shown, "shown") : null, one.hidden ? marksOf(one.hidden, "hidden") : null)));
}

const titleFor = (one) => one.description || one.text || one.reason;

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
    ["coverage", one.coverage === null ? null : number(one.coverage)],
    ["unique predictions", alone === undefined ? null : `on ${percent(alone, 1)} of the sample space`],
    ["undefined", one.undefined && Object.keys(one.undefined).length ? counted(one.undefined) : null],
    ...(bank ? [["rank in the bank", bank.rank], ["reward", number(bank.reward)], ["accuracy", bank.accuracy === null ? null : number(bank.accuracy)], ["visits", bank.visits]] : []),
    ...(one.shown ? Object.entries(one.shown.detail).filter(([, value]) => isNumber(value)).map(([name, value]) => [words(name), number(value)]) : []),
    ["contract violations", one.breaches && one.breaches.length ? one.breaches.map(words).join(", ") : null],
  ]);
}

function marksOf(agreement, name) {
  const marks = [...agreement.marks];
  const right = marks.filter((mark) => mark === "1").length;
  const said = `${name}: ${right} of ${marks.length} correct`;
  if (marks.length > MOST_SIGNS || !marks.length) return h("span", { class: "marks" }, said);
  return h("span", { class: "marks", role: "img", "aria-label": said, title: said },
    `${name} `, marks.map((mark) => h("span", { class: `m${mark === "-" ? "u" : mark}` }, SIGNS[mark][0])));
}

function failing(name, agreement, problem) {
  const pairs = problem[name];
  const logic = problem.family === "logic";
  const told = Object.entries(agreement.got);
  const given = (got) => ("undefined" in got ? h("em", null, `undefined: ${words(got.undefined)}`) : "value" in got ? picture(got.value)
    : h("span", null, Object.entries(got).filter(([, value]) => value !== null).map(([key, value]) => `${words(key)} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ")));
  const rows = told.slice(0, SHOWN_ROWS).map(([place, got]) => {
    const [input, output] = pairs[Number(place)] || [null, null];
    const number = String(Number(place) + 1);
    return logic ? [number, (input && input.id) || "", given(got)] : [number, picture(input), picture(output), given(got)];
  });
  return [table(`Wrong or undefined predictions on ${name} observations`, ["#", ...(logic ? ["world"] : ["input", "output"]), "prediction"], rows, { class: "failing" }),
    told.length > rows.length ? h("p", { class: "note" }, `${told.length - rows.length} more are not listed.`) : null].filter(Boolean);
}

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
        "value" in group ? picture(group.value) : h("span", { class: "value" }, `prediction ${String.fromCharCode(65 + (place % 26))}`)))),
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
  return folded(`Calls (${told.calls.length})`, asked.length ? [h("h4", null, "Tool calls of the proposer"), toolCalls(asked), h("h4", null, "All calls")] : null,
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

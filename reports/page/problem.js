// One problem: what was shown, what was hidden, every hypothesis, and where they part.

const SIGNS = { 1: ["✓", "agrees"], 0: ["✗", "does not agree"], "-": ["?", "undefined"] };
const SHOWN_ROWS = 30; // observations drawn at once

function drawProblem(told, session) {
  const { problem } = told;
  const consistent = told.hypotheses.filter((one) => one.verdict === "accepted" || one.verdict === "redundant").length;
  return h("article", { class: "problem" },
    h("h3", null, problem.id),
    facts([["session", h("code", null, session)], ["ended", problem.status === "done" ? words(problem.cause) : `${problem.status} ${problem.cause}`],
      ["hypotheses", `${told.hypotheses.length}, ${consistent} consistent`], ["sample space", plural(problem.space, "input")]]),
    publicOf(problem),
    observations("Shown observations", problem.shown, problem, true),
    observations("Hidden observations, which the proposer did not see", problem.hidden, problem, false),
    referenceOf(problem),
    h("h4", null, "Hypotheses"),
    told.hypotheses.length ? h("ol", { class: "hypotheses" }, told.hypotheses.map((one) => hypothesisOf(one, told))) : h("p", { class: "note" }, "None."),
    partingOf(told), callsOf(told));
}

function publicOf(problem) {
  const told = Object.entries(problem.public).filter(([, value]) => value !== null && value !== "" && !(isList(value) && !value.length));
  if (!told.length) return null;
  const theory = problem.public.theory;
  const axioms = theory && isList(theory.axioms) ? theory.axioms : null;
  return folded(axioms ? "The theory" : "What is said of the problem",
    axioms ? h("ul", null, axioms.map((one) => h("li", null, h("code", null, typeof one === "string" ? one : one.text || JSON.stringify(one))))) : null,
    facts(told.filter(([name]) => !(axioms && name === "theory")).map(([name, value]) => [words(name), picture(value)])));
}

function observations(title, pairs, problem, open) {
  if (!pairs.length) return null;
  const rest = pairs.slice(SHOWN_ROWS);
  const list = h("ol", { class: "observations" }, pairs.slice(0, SHOWN_ROWS).map((pair) => observationOf(pair, problem)));
  const more = rest.length ? h("button", { type: "button", onclick: (event) => {
    list.append(...rest.map((pair) => observationOf(pair, problem)));
    event.target.remove();
  } }, `Show the other ${rest.length}`) : null;
  return h("details", { open, class: "pairs" }, h("summary", null, `${title} (${pairs.length})`), list, more);
}

function observationOf([input, output], problem) {
  const answer = problem.family === "logic" ? null : [h("span", { class: "to", "aria-label": "gives" }, "→"), picture(output)];
  return h("li", null, h("div", { class: "pair" }, picture(input), answer));
}

function referenceOf(problem) {
  const told = Object.entries(problem.reference);
  return told.length ? folded("What is known to be true, which no proposer saw", facts(told.map(([name, value]) => [words(name),
    typeof value === "string" && value.includes("\n") ? h("pre", null, value) : picture(value)]))) : null;
}

function hypothesisOf(one, told) {
  const { problem } = told;
  const title = one.description || one.text || one.reason;
  const scores = facts([
    ["step", one.step],
    ["coverage", one.coverage === null ? null : number(one.coverage)],
    ["predicts alone on", told.parting.alone[one.number] === undefined ? null : `${number(100 * told.parting.alone[one.number], 1)}% of the sample space`],
    ["undefined", one.undefined && Object.keys(one.undefined).length ? counted(one.undefined) : null],
    ...(one.bank ? [["reward", number(one.bank.reward)], ["accuracy", one.bank.accuracy === null ? null : number(one.bank.accuracy)], ["visits", one.bank.visits]] : []),
    ...(one.shown ? Object.entries(one.shown.detail).filter(([, value]) => isNumber(value)).map(([name, value]) => [words(name), value]) : []),
    ["breaches", one.breaches && one.breaches.length ? one.breaches.map(words).join(", ") : null],
  ]);
  const answer = told.steps.find((step) => step.step === one.step);
  const raw = answer && answer.answers[one.answer];
  return h("li", { id: `h${one.number}`, class: one.verdict },
    h("details", { ontoggle: (event) => fillHypothesis(event.target, one, problem, raw) },
      h("summary", null, h("span", { class: `verdict ${one.verdict}` }, one.verdict), " ", h("b", null, `h${one.number}`), " ", h("span", { class: "title" }, title),
        one.shown ? marksOf(one.shown, "shown") : null, one.hidden ? marksOf(one.hidden, "hidden") : null),
      one.reason ? h("p", { class: "reason" }, one.reason) : null, scores));
}

// Drawn when it is opened: a page of many problems stays light.
function fillHypothesis(details, one, problem, raw) {
  if (!details.open || details.dataset.filled) return;
  details.dataset.filled = "yes";
  details.append(
    ...(one.text && one.text !== one.description ? [h("pre", null, one.text)] : []),
    ...["shown", "hidden"].filter((name) => one[name] && Object.keys(one[name].got).length).map((name) => failing(name, one[name], problem)),
    ...(raw && raw.text !== one.text ? [folded("The answer as it was given", h("pre", null, raw.text || "(nothing)"))] : []));
}

function marksOf(agreement, name) {
  const marks = [...agreement.marks];
  const right = marks.filter((mark) => mark === "1").length;
  const said = `${name}: ${right} of ${marks.length} agree`;
  if (marks.length > 24 || !marks.length) return h("span", { class: "marks" }, said);
  return h("span", { class: "marks", role: "img", "aria-label": said, title: said },
    `${name} `, marks.map((mark) => h("span", { class: `m${mark === "-" ? "u" : mark}` }, SIGNS[mark][0])));
}

function failing(name, agreement, problem) {
  const pairs = problem[name];
  const rows = Object.entries(agreement.got).slice(0, SHOWN_ROWS).map(([place, got]) => {
    const [input, output] = pairs[Number(place)] || [null, null];
    const given = "undefined" in got ? h("em", null, `undefined: ${words(got.undefined)}`) : "value" in got ? picture(got.value) : h("code", null, JSON.stringify(got));
    return [String(Number(place) + 1), problem.family === "logic" ? (input && input.id) || "" : picture(input), problem.family === "logic" ? "" : picture(output), given];
  });
  return table(`Where it does not agree with ${name} observations`, ["observation", "input", "output", "it gives"], rows, { class: "failing" });
}

function partingOf(told) {
  const { parting } = told;
  if (!parting.inputs.length && !parting.same.length) return null;
  const link = (name) => h("a", { href: `#h${name}`, onclick: (event) => { event.preventDefault(); reveal(name); } }, `h${name}`);
  const list = (names) => names.map((name, place) => [place ? ", " : "", link(name)]);
  return [h("h4", null, "Where the consistent hypotheses part"),
    h("p", { class: "note" }, "Inputs of the sample space, each chosen to tell apart as many hypotheses as it can. A prediction over the space is stored as a code: its value is shown where it was seen elsewhere in the problem.",
      parting.left_out ? ` Compared are the first ${Object.keys(parting.alone).length} hypotheses; ${parting.left_out} more are left out.` : ""),
    h("ol", { class: "parting" }, parting.inputs.map((one) => h("li", null, h("div", { class: "pair" }, picture(one.input)),
      h("ul", null, one.groups.map((group, place) => h("li", null, list(group.hypotheses), ": ", "value" in group ? picture(group.value) : h("span", { class: "value" }, `prediction ${String.fromCharCode(65 + (place % 26))}`))),
        one.undefined.length ? h("li", null, list(one.undefined), ": undefined") : null)))),
    parting.same.length ? h("p", null, "The same everywhere: ", parting.same.map((group, place) => [place ? "; " : "", list(group)]), ".") : null];
}

function reveal(name) {
  const item = document.getElementById(`h${name}`);
  item.querySelector("details").open = true;
  item.querySelector("summary").focus();
}

function callsOf(told) {
  if (!told.calls.length) return null;
  const rows = told.calls.map((call) => [call.path, call.kind, call.tokens_in, call.tokens_out, duration(call.seconds), call.retries, call.repeats ? `from ${call.repeats}` : "",
    call.said ? folded("arguments and result", h("pre", null, call.said.request), h("pre", null, call.said.response)) : ""]);
  return folded(`Calls (${told.calls.length})`, table("Model and tool calls of this problem", ["path", "kind", "tokens in", "tokens out", "time", "retries", "answered before", "tool"], rows));
}

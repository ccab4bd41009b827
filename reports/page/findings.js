// Findings: of each session the best hypotheses of its first problems, with what supports and contradicts each.

const MOST_EVIDENCE = 5; // observations of one side that are listed
const MOST_INLINE = 120; // characters of an input within a sentence

function drawOverview(page, source) {
  const { sessions } = page;
  let before = 0;
  const each = sessions.map((session) => {
    const at = before;
    before += session.problems.length;
    return sessionFindings(session, at, sessions.length > 1, source);
  });
  return [each, failures(sessions), forResearchers(page)];
}

// at: the number of the session's first problem on the page.
function sessionFindings(session, at, several, source) {
  const { findings, problems } = session;
  const rows = findings.map((one, place) => [one, { session, problem: problems[place], place, at: at + place }]);
  const [found, none] = [true, false].map((some) => rows.filter(([one]) => one.hypotheses.length > 0 === some));
  const left = problems.length - findings.length;
  const failed = Object.keys(session.failed).length;
  const said = [plural(problems.length, "problem"), session.open ? `${session.open} not finished` : null, failed ? `${failed} failed` : null, duration(session.seconds)];
  return h("article", { class: "session-findings" },
    several ? h("h3", null, nameOf(session)) : null,
    h("p", { class: "run" }, several ? null : [nameOf(session), " "], h("span", { class: `status ${session.status}` }, session.status), " ",
      said.filter((one) => one && one !== "–").join(", "), ", session ", h("code", null, session.session)),
    session.cause ? h("p", { class: "note" }, session.cause) : null,
    session.curve ? h("div", { class: "figures drawings" }, drawing(session.curve)) : null,
    h("ul", { class: found.length > 1 ? "findings several" : "findings" }, found.map(([one, row]) => problemFindings(one, row, several ? "h4" : "h3", source))),
    none.length ? h("p", { class: "note" }, session.status === "running" ? "No hypotheses yet: " : "No hypothesis was found: ",
      none.map(([one], place) => [place ? ", " : "", linkTo(session, one.problem)])) : null,
    session.unchecked ? h("p", { class: "note" }, `The hypotheses were not applied to further observations: ${session.unchecked}`) : null,
    left > 0 ? h("p", null, h("a", { href: "#problems" }, `${plural(left, "more problem")} in the list below`)) : null);
}

const linkTo = (session, id) => h("a", { href: addressOf(session.session, id) }, id || "(unnamed)");

function problemFindings(told, row, heading, source) {
  const id = `f${row.at}`;
  const { hypotheses } = told;
  const more = told.count - hypotheses.length;
  return h("li", { id },
    h(heading, null, linkTo(row.session, told.problem)),
    told.together ? h("p", null, told.together) : null,
    h("ol", null, hypotheses.map((one, place) => finding(one, place + 1, `${id}-${place + 1}`, row, source, place === 0 && told.figures ? figuresOf(told.problem, row, source) : null))),
    hypotheses.some((one) => one.summary) ? h("p", { class: "note" }, "Long lists are shortened. The whole sentences are in the list of hypotheses of ", linkTo(row.session, told.problem), ".") : null,
    told.disagreement ? disagreementOf(told.disagreement, told.problem) : null,
    told.effects ? foldedEffects(told.problem, row, source) : null,
    more > 0 ? h("p", { class: "note" }, `The problem has ${more === 1 ? "1 more hypothesis" : `${number(more)} more hypotheses`}.`) : null);
}

function finding(one, rank, id, row, source, ...below) {
  const reading = one.summary || one.description || one.text;
  const observed = [one.shown, one.held_out].filter(Boolean);
  const sum = (name) => observed.reduce((all, each) => all + each[name], 0);
  const silent = sum("of") - sum("right") - sum("wrong");
  const said = [`${one.shown.right} of ${one.shown.of} shown`, one.held_out ? ` and ${one.held_out.right} of ${one.held_out.of} held-out` : "", " observations", ...describeErrors(one), one.found_by ? `; found by ${one.found_by}` : "", one.after_hint ? `; found after the hint “${one.after_hint}”` : ""];
  return h("li", { id },
    h("p", { class: rank === 1 ? "reading best" : "reading" }, h("span", { class: "rank" }, `${rank}. `), reading),
    one.summary || reading.trim() === one.text.trim() || reading.startsWith(`${one.text.trim()}: `) ? null : h("pre", null, one.text),
    h("p", { class: "evidence" }, "right on ", said),
    h("details", { ontoggle: (event) => fillEvidence(event.target, row, one.number, source) },
      h("summary", null, `${sum("right")} support it, ${sum("wrong")} contradict it${silent ? `, and it predicts nothing for ${silent}` : ""}`, h("span", { class: "unseen" }, ` (hypothesis ${rank} of ${row.problem.id})`))), below);
}

// The root mean square error of a law.
function describeErrors(one) {
  const known = [[one.shown, "shown"], [one.held_out, "held-out"]].filter(([each]) => each && each.rms !== undefined);
  return known.length ? ["; root mean square error ", known.map(([each, kind]) => `${each.rms.toPrecision(4)} on ${kind}`).join(" and "), " observations"] : [];
}

// Figures of a problem; those of the first problem are open.
function figuresOf(problem, row, source) {
  return foldedFigures(problem, () => source.problem(row).catch(() => null), row.at === 0);
}

// The observations are read when they are asked for: a page of many problems stays light.
async function fillEvidence(details, row, number, source) {
  if (!details.open || details.dataset.filled) return;
  details.dataset.filled = "yes";
  const told = await source.problem(row).catch(() => null);
  if (!told) delete details.dataset.filled;
  details.append(...(told ? evidenceOf(told, told.hypotheses[number - 1]) : [h("p", { class: "note" }, "The server does not respond.")]));
}

function evidenceOf(told, one) {
  const marked = ["shown", "hidden"].filter((name) => one[name])
    .flatMap((name) => [...one[name].marks].map((mark, place) => ({ mark, name: `${name === "shown" ? "shown" : "held-out"} ${place + 1}`, pair: told.problem[name][place], got: one[name].got[place] })));
  const side = (mark, title, none) => {
    const found = marked.filter((each) => each.mark === mark);
    const listed = found.slice(0, MOST_EVIDENCE);
    const heading = found.length > listed.length ? `${title} (${listed.length} of ${found.length} listed)` : `${title} (${found.length})`;
    return h("div", null, found.length ? [h("p", { class: "side" }, heading), observed(heading, listed.map(({ pair }) => pair), told.problem,
      { names: listed.map(({ name }) => name), predictions: mark === "1" ? null : listed.map(({ got }) => got) })] : h("p", { class: "side" }, none));
  };
  const silent = marked.filter(({ mark }) => mark === "-");
  const reasons = [...new Set(silent.map(({ got }) => got && got.undefined).filter(Boolean))].map(words);
  const sides = h("div", { class: "sides broad" }, side("1", "Observations that support it", "No observation supports it."), side("0", "Observations that contradict it", "No observation contradicts it."));
  const kept = ["shown", "hidden"].filter((name) => one[name] && told.problem.counts[name] > told.problem[name].length)
    .map((name) => `${number(told.problem[name].length)} of ${number(told.problem.counts[name])} ${name === "shown" ? "shown" : "hidden"}`);
  return [sides, ...[legendOf(sides)].filter(Boolean),
    ...(kept.length ? [h("p", { class: "note" }, `The page has ${kept.join(" and ")} observations.`)] : []),
    ...(silent.length ? [h("p", { class: "note" }, `It predicts nothing for ${plural(silent.length, "observation")}${reasons.length ? ` (${reasons.join(", ")})` : ""}.`)] : [])];
}

function disagreementOf({ input, outputs }, problem) {
  const [first, second] = outputs.map((one) => ("value" in one ? picture(one.value) : "undefined" in one ? h("em", null, `nothing (${words(one.undefined)})`) : null));
  const place = isPlace(input);
  const told = place ? `element ${input[1]} of world ${input[0].id || ""}` : inlineOf(input);
  const predicted = first && second ? [", 1 predicts ", first, " and 2 predicts ", second, "."] : ", 1 and 2 predict different outputs.";
  return h("div", { class: "disagreement" }, h("p", null, "For ", told, predicted),
    place ? folded(["Picture of the world", h("span", { class: "unseen" }, ` (${problem})`)], picture(input)) : null);
}

// An input within a sentence: a record by its fields, all else as elsewhere.
function inlineOf(input) {
  const text = isObject(input) ? fieldsIn(input) : typeof input === "string" ? `“${input}”` : null;
  return text === null ? picture(input) : cut(text, MOST_INLINE);
}

const fieldsIn = (record) => Object.entries(record).map(([name, one]) => `${words(name)} ${typeof one === "string" ? `“${one}”` : JSON.stringify(one)}`).join(", ");

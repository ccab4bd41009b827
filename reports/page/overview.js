// For researchers: what was run and what came of it: settings, metrics with intervals, figures, verdicts, calls.

const VERDICTS = ["accepted", "redundant", "inconsistent", "malformed"];
const ARROWS = { higher: ["↑", "higher is better"], lower: ["↓", "lower is better"] };

function forResearchers(page) {
  const { sessions } = page;
  const evaluations = [...new Set(sessions.map((one) => one.evaluation))];
  const metrics = evaluations.map((name) => metricsTable(sessions.filter((one) => one.evaluation === name), sessions, evaluations.length > 1));
  const figures = [h("h3", null, "Figures"), h("div", { class: "figures" }, drawFigures(page))];
  return folded("For researchers",
    h("div", { class: sessions.length > 1 ? "cards" : null }, sessions.map((one) => sessionCard(one, sessions.length > 1))),
    sessions.length > 1 ? [metrics, figures] : h("div", { class: "beside" }, h("div", null, metrics), h("div", null, figures)),
    verdictsTable(sessions), costsTable(sessions), effortTables(sessions));
}

const nameOf = (one) => `${one.task} · ${one.method} · ${one.model}`;

// A session by its model where that tells it apart, else with its id.
function titleOf(one, sessions) {
  const alike = sessions.filter((other) => nameOf(other) === nameOf(one)).length > 1;
  const several = sessions.some((other) => other.task !== one.task || other.method !== one.method);
  const name = several ? nameOf(one) : one.model;
  return alike ? `${name} (${one.session})` : name;
}

function sessionCard(one, several) {
  const ended = Object.entries(one.ends).map(([why, count]) => `${count} ${stopSentence(why)}`);
  const failed = Object.keys(one.failed).length;
  const ends = [...ended, one.open ? `${one.open} unfinished` : null, failed ? `${failed} failed` : null].filter(Boolean).join("; ");
  const settings = facts(one.settings.map(([name, value]) => [name, name === "digest" && value ? h("code", null, value.slice(0, 16)) : value]));
  return h("article", { class: "session" },
    h("h3", null, nameOf(one), " ", h("span", { class: `status ${one.status}` }, one.status)),
    one.cause ? h("p", null, one.cause) : null,
    facts([
      ["session", h("code", null, one.session)],
      ["problems", `${number(one.problems.length)}${ends ? ` (${ends})` : ""}`],
      ["started", one.created.replace("T", " ").slice(0, 16) + " UTC"],
      ["duration", duration(one.seconds)],
    ]),
    several ? folded(["Settings", h("span", { class: "unseen" }, ` of ${one.session}`)], settings) : settings);
}

// Which direction is the good one; nothing where neither is.
function arrowOf({ better }) {
  const [arrow, meaning] = ARROWS[better] || [];
  return arrow ? [" ", h("span", { role: "img", "aria-label": meaning, title: meaning }, arrow)] : null;
}

function metricsTable(some, sessions, named) {
  const means = some[0].metrics.map((metric) => [metric, some.map((one) => one.metrics.find((other) => other.name === metric.name))]);
  const known = means.filter(([, found]) => found.some((one) => one && one.mean !== null));
  const absent = means.filter((row) => !known.includes(row)).map(([metric]) => words(metric.name));
  const rows = known.map(([metric, found]) => {
    const given = found.filter((one) => one && one.mean !== null);
    const [least, greatest] = [Math.min(0, ...given.map((one) => one.low ?? one.mean)), Math.max(1, ...given.map((one) => one.high ?? one.mean))];
    return [[words(metric.name), arrowOf(metric)],
      ...found.map((one) => (!one || one.mean === null ? "–" : h("span", { class: "interval" },
        h("span", null, one.mean.toFixed(3)), one.low === null ? null : h("small", null, ` [${one.low.toFixed(3)}, ${one.high.toFixed(3)}]`),
        h("small", { class: "n" }, ` n ${one.n}`), one.low === null ? null : whisker(one, least, greatest))))];
  });
  const notes = [...new Set(some.map((one) => one.note).filter(Boolean))];
  return [h("h3", null, named ? `Metrics: ${words(some[0].evaluation)}` : "Metrics"),
    rows.length ? table("Means over problems with 95% bootstrap intervals over problems", ["metric", ...some.map((one) => titleOf(one, sessions))], rows, { class: "metrics" }) : null,
    absent.length ? h("p", { class: "note" }, `These metrics have no value here: ${absent.join(", ")}.`) : null,
    notes.map((note) => h("p", { class: "note" }, note)),
    known.length ? folded(["Definitions of the metrics", h("span", { class: "unseen" }, ` of ${words(some[0].evaluation)}`)], h("dl", { class: "meanings" }, known.map(([metric]) => h("div", null, h("dt", null, words(metric.name)), h("dd", null, metric.about))))) : null];
}

function verdictsTable(sessions) {
  const sums = (one) => VERDICTS.map((_, place) => one.problems.reduce((sum, problem) => sum + problem.verdicts[place], 0));
  const rows = sessions.map((one) => [titleOf(one, sessions), ...sums(one), counted(one.breaches), counted(one.malformed), counted(one.repaired || {})]);
  return [h("h3", null, "Verdicts"),
    table("Hypotheses by verdict, and faults of answers", ["session", ...VERDICTS, "violations of the answer contract", "malformed answers by reason", "repaired faults of form"], rows)];
}

const counted = (told) => Object.entries(told).map(([name, count]) => `${words(name)} ${count}`).join(", ") || "none";

function costsTable(sessions) {
  const rows = sessions.flatMap((one) => one.cost.map((row) => [titleOf(one, sessions), row.role, row.calls ?? 0,
    row.tokens_in ?? 0, row.cached_share == null ? "" : percent(row.cached_share), row.tokens_out ?? 0, row.retries ?? 0, row.repeated ?? 0, duration(row.seconds)]));
  return rows.length ? [h("h3", null, "Calls"),
    table("Calls by role. Times are added up over concurrent calls.", ["session", "role", "calls", "input tokens", "of these cached", "output tokens", "retries", "reused answers", "time"], rows)] : null;
}

// What each result cost, what answers added by their number, and sentences about judges and limits.
function effortTables(sessions) {
  const results = sessions.flatMap((one) => one.effort.results.map((row) => [titleOf(one, sessions), row.result,
    Number(row.number.toFixed(1)), Number(row.calls.toFixed(1)), Math.round(row.tokens), row.cost_usd == null ? "–" : dollars(row.cost_usd), duration(row.seconds)]));
  const between = (told) => (told === null ? "–" : told.low === null ? told.mean.toFixed(3) : `${told.mean.toFixed(3)} [${told.low.toFixed(3)}, ${told.high.toFixed(3)}]`);
  const answers = sessions.filter((one) => one.effort.answers.length > 1).flatMap((one) => one.effort.answers.map((row) => [titleOf(one, sessions),
    row.first === row.last ? `${row.first}` : `${row.first} to ${row.last}`, row.problems, between(row.accepted), between(row.gamma)]));
  const notes = sessions.flatMap((one) => one.effort.notes.map((note) => (sessions.length > 1 ? `${titleOf(one, sessions)}: ${note}.` : `${note[0].toUpperCase()}${note.slice(1)}.`)));
  return [
    results.length ? [h("h3", null, "Costs"), table("Model calls for each result, those without a result included", ["session", "result", "number", "calls", "tokens", "US dollars", "time"], results)] : null,
    answers.length ? [h("h3", null, "Gain by answer"), table("What an answer added, on average over the problems that got it, with 95% intervals over problems", ["session", "answer", "problems", "accepted hypotheses", "gamma"], answers)] : null,
    notes.map((note) => h("p", { class: "note" }, note))];
}

// At least two digits that are not 0.
const dollars = (amount) => amount.toFixed(amount > 0 && amount < 0.1 ? Math.min(8, 1 - Math.floor(Math.log10(amount))) : 2);

function failures(sessions) {
  const rows = sessions.flatMap((one) => Object.entries(one.failed).map(([name, cause]) => [name, titleOf(one, sessions), cause]));
  return rows.length ? [h("h3", null, "Failed problems"), table("Failed problems. No metric includes them.", ["problem", "session", "cause"], rows)] : null;
}

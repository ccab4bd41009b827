// What was run and what came of it: settings, metrics with intervals, verdicts, costs, figures.

const VERDICTS = ["accepted", "redundant", "inconsistent", "malformed"];
const ARROWS = { higher: "↑", lower: "↓" };

function drawOverview(page) {
  const { sessions } = page;
  return [
    sessions.map((one, place) => sessionCard(one, place)),
    h("div", { class: "beside" },
      h("div", null, metricsTable(sessions)),
      h("div", null, h("h3", null, "Figures"), h("div", { class: "figures" }, diversity(page), sessions.map((one) => courseOf(one, sessions.length > 1))))),
    verdictsTable(sessions),
    costsTable(sessions),
    failures(sessions),
  ];
}

const nameOf = (one) => `${one.task}, ${one.method}, ${one.model}`;

// A session by its model where that tells it apart, else with its id.
function titleOf(one, sessions) {
  const alike = sessions.filter((other) => nameOf(other) === nameOf(one)).length > 1;
  return alike ? `${one.model} (${one.session})` : sessions.length > 1 && sessions.some((other) => other.model === one.model && other !== one)
    ? `${one.model}, ${one.method}, ${one.task}` : one.model;
}

function sessionCard(one) {
  const ended = Object.entries(one.ends).map(([why, count]) => `${count} ${why}`).join(", ");
  const failed = Object.keys(one.failed).length;
  return h("article", { class: "session" },
    h("h3", null, nameOf(one), " ", h("span", { class: `status ${one.status}` }, one.status)),
    one.cause ? h("p", null, one.cause) : null,
    facts([
      ["session", h("code", null, one.session)],
      ["problems", `${one.problems.length}${ended ? `: ${ended}` : ""}${one.open ? `, ${one.open} open` : ""}${failed ? `, ${failed} failed` : ""}`],
      ["began", one.created.replace("T", " ").slice(0, 19) + " UTC"],
      ["took", duration(one.seconds)],
      ...one.settings.map(([name, value]) => [name, name === "digest" ? h("code", null, value.slice(0, 16)) : value]),
    ]));
}

function metricsTable(sessions) {
  const names = [...new Set(sessions.flatMap((one) => one.metrics.map((metric) => metric.name)))];
  const rows = names.map((name) => {
    const found = sessions.map((one) => one.metrics.find((metric) => metric.name === name));
    const known = found.filter((one) => one && one.mean !== null);
    if (!known.length) return null;
    const least = Math.min(0, ...known.map((one) => one.low));
    const greatest = Math.max(1, ...known.map((one) => one.high));
    const any = known[0];
    return [h("abbr", { title: any.about }, words(name), " ", ARROWS[any.better] || ""),
      ...found.map((one) => (!one || one.mean === null ? "–" : h("span", { class: "interval" },
        h("span", null, one.mean.toFixed(3)), h("small", null, ` [${one.low.toFixed(3)}, ${one.high.toFixed(3)}]`),
        h("small", { class: "n" }, ` n ${one.n}`), whisker(one, least, greatest))))];
  }).filter(Boolean);
  const absent = names.filter((name) => !sessions.some((one) => one.metrics.some((metric) => metric.name === name && metric.mean !== null)));
  return [h("h3", null, "Metrics"),
    table("Means over problems with 95% bootstrap intervals that draw problems again", ["metric", ...sessions.map((one) => titleOf(one, sessions))], rows, { class: "metrics" }),
    absent.length ? h("p", { class: "note" }, `Without a value here: ${absent.map(words).join(", ")}.`) : null,
    [...new Set(sessions.map((one) => one.note).filter(Boolean))].map((note) => h("p", { class: "note" }, note))];
}

function verdictsTable(sessions) {
  const sums = (one) => VERDICTS.map((_, place) => one.problems.reduce((sum, problem) => sum + problem.verdicts[place], 0));
  const rows = sessions.map((one) => [titleOf(one, sessions), ...sums(one), counted(one.breaches), counted(one.malformed)]);
  return [h("h3", null, "Verdicts"),
    table("Hypotheses by verdict, and what was wrong with answers", ["session", ...VERDICTS, "breaches of the contract", "malformed, by reason"], rows)];
}

const counted = (told) => Object.entries(told).map(([name, count]) => `${words(name)} ${count}`).join(", ") || "none";

function costsTable(sessions) {
  const rows = sessions.flatMap((one) => one.cost.map((row) => [titleOf(one, sessions), row.role, row.calls ?? 0,
    row.tokens_in ?? 0, row.tokens_out ?? 0, row.retries ?? 0, row.repeated ?? 0, duration(row.seconds)]));
  return rows.length ? [h("h3", null, "Calls"),
    table("Calls by role; seconds of calls side by side are added up", ["session", "role", "calls", "tokens in", "tokens out", "retries", "answered before", "time"], rows)] : null;
}

function failures(sessions) {
  const rows = sessions.flatMap((one) => Object.entries(one.failed).map(([name, cause]) => [name, titleOf(one, sessions), cause]));
  return rows.length ? [h("h3", null, "Failed problems"), table("Problems that failed, which no metric counts", ["problem", "session", "cause"], rows)] : null;
}

// --- figures

function diversity(page) {
  const points = page.sessions.flatMap((one, place) => one.points.map((point) => ({ ...point, place, one })));
  if (!points.length) return null;
  const widest = Math.max(2, ...points.map((point) => point.gamma));
  const high = Math.min(Math.ceil(widest * 1.05), Math.max(...page.regions.map((one) => one.k), 2));
  const bands = page.regions.map((one) => one.gamma.map((gamma, place) => [gamma, one.low[place], one.high[place]]));
  const said = `${plural(points.length, "problem")}; beta from ${number(Math.min(...points.map((one) => one.beta)))} to ${number(Math.max(...points.map((one) => one.beta)))}, gamma up to ${number(widest)}`;
  return chart({
    title: "Diversity: gamma and beta of each problem", said,
    x: { label: "gamma (distinct predictions an input)", low: 1, high: Math.max(high, 2) }, y: { label: "beta (mean pairwise distance)", low: 0, high: 1 },
    key: [...page.sessions.filter((one) => one.points.length).map((one) => [`c${page.sessions.indexOf(one)} dot`, titleOf(one, page.sessions)]),
      ...page.regions.map((one, place) => [`band b${place}`, `possible with ${one.k}`])],
    draw: (xs, ys) => [
      bands.map((band, place) => s("polygon", { class: `band b${place}`, points: [
        ...band.map(([gamma, low]) => [gamma, low]), ...band.slice().reverse().map(([gamma, , top]) => [gamma, top]),
      ].filter(([gamma]) => gamma <= Math.max(high, 2)).map(([gamma, beta]) => `${xs(gamma)},${ys(beta)}`).join(" ") })),
      points.map((point) => s("circle", { class: `point c${point.place}`, cx: xs(point.gamma), cy: ys(point.beta), r: 3.2 },
        s("title", null, `${point.problem}: gamma ${number(point.gamma)}, beta ${number(point.beta)}, ${point.k} hypotheses`))),
    ],
  }, h("p", { class: "note" }, "Undefined counts as one more output here, as the bounds need it."),
    numbersBelow("Gamma and beta of problems", ["problem", "session", "gamma", "beta", "hypotheses"],
      points.slice(0, 500).map((point) => [point.problem, titleOf(point.one, page.sessions), point.gamma, point.beta, point.k])));
}

function courseOf(one, several) {
  const of = several ? `, ${one.session}` : "";
  return [verdictsByStep(one.course.verdicts, of), foundByAnswers(one.course.found, of), bankBySteps(one, of)];
}

function verdictsByStep(rows, of) {
  if (!rows.length) return null;
  const high = Math.max(...rows.map((row) => VERDICTS.reduce((sum, name) => sum + row[name], 0)), 1);
  const last = rows[rows.length - 1].step;
  const sums = VERDICTS.map((name) => `${rows.reduce((sum, row) => sum + row[name], 0)} ${name}`).join(", ");
  return chart({
    title: `Verdicts by step${of}`, said: sums, x: { label: "step", low: 0.4, high: Math.max(last, 2) + 0.6 }, y: { label: "hypotheses", low: 0, high },
    key: VERDICTS.map((name) => [`bar ${name}`, name]),
    draw: (xs, ys) => rows.map((row) => {
      let below = 0;
      return VERDICTS.filter((name) => row[name]).map((name) => {
        const bottom = below;
        below += row[name];
        return s("rect", { class: `bar ${name}`, x: xs(row.step - 0.4), width: Math.max(1, xs(row.step + 0.4) - xs(row.step - 0.4)), y: ys(below), height: ys(bottom) - ys(below) },
          s("title", null, `step ${row.step}: ${row[name]} ${name}`));
      });
    }),
  }, numbersBelow("Verdicts by step", ["step", ...VERDICTS], rows.map((row) => [row.step, ...VERDICTS.map((name) => row[name])])));
}

function foundByAnswers(rows, of) {
  if (!rows.length) return null;
  const high = Math.max(1, ...rows.map((row) => row.accepted));
  const points = [[0, 0], ...rows.map((row) => [row.answers, row.accepted])];
  const solved = [[0, 0], ...rows.map((row) => [row.answers, row.solved])];
  const end = rows[rows.length - 1];
  return chart({
    title: `Found with so many answers${of}`, said: `after ${end.answers} answers ${number(end.accepted)} accepted hypotheses a problem, ${number(100 * end.solved, 0)}% of problems with one`,
    x: { label: "answers a problem", low: 0, high: Math.max(1, end.answers) }, y: { label: "a problem", low: 0, high },
    key: [["line c0", "accepted hypotheses"], ["line c1", "share of problems with one"]],
    draw: (xs, ys) => [line("c0", points, xs, ys), line("c1", solved, xs, ys)],
  }, numbersBelow("Found with so many answers", ["answers", "accepted", "share with one", "problems asked so far"],
    rows.map((row) => [row.answers, row.accepted, row.solved, row.asked])));
}

function bankBySteps({ family, course }, of) {
  const rows = course.bank;
  if (rows.length < 2) return null;
  const high = Math.max(1, ...rows.map((row) => row.size));
  const known = rows.filter((row) => row.accuracy !== null);
  return chart({
    title: `The bank's growth${of}`, said: `from ${number(rows[0].size)} to ${number(rows[rows.length - 1].size)} hypotheses a problem`,
    x: { label: "step", low: rows[0].step, high: rows[rows.length - 1].step }, y: { label: "hypotheses", low: 0, high },
    key: [["line c2", "size"]], draw: (xs, ys) => line("c2", rows.map((row) => [row.step, row.size]), xs, ys),
  }, numbersBelow("The bank by step", ["step", "size", "best accuracy"], rows.map((row) => [row.step, row.size, row.accuracy ?? "–"])),
    family === "text" && known.length ? h("p", { class: "note" }, `Best accuracy in the bank: ${number(known[0].accuracy)} at step ${known[0].step}, ${number(known[known.length - 1].accuracy)} at the end.`) : null);
}

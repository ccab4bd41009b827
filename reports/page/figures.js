// The figures of the overview: diversity, verdicts by step, what was found with so many answers, banks.

function drawFigures(page) {
  const { sessions } = page;
  return [
    diversity(page),
    sessions.map((one) => verdictsByStep(one.course.verdicts, sessions.length > 1 ? `, ${one.session}` : "")),
    overSessions(sessions, "found", "accepted", { title: "Accepted hypotheses by number of answers", x: ["answers per problem", "answers"], y: "accepted per problem", zero: true, row: "accepted" }),
    overSessions(sessions, "found", "solved", { title: "Problems with an accepted hypothesis", x: ["answers per problem", "answers"], y: "share of problems", zero: true, row: "share of problems" }),
    overSessions(sessions, "bank", "size", { title: "Size of the bank", x: ["step", "step"], y: "hypotheses per problem", row: "size", least: 2 }),
    overSessions(sessions.filter((one) => one.family === "text"), "bank", "accuracy", { title: "Best accuracy in the bank", x: ["step", "step"], y: "accuracy", row: "best accuracy", least: 2 }),
  ];
}

const lookOf = (place) => `c${place % 6}${place > 5 ? " again" : ""}`;

function diversity(page) {
  const points = page.sessions.flatMap((one, place) => one.points.map((point) => ({ ...point, place, one })));
  if (!points.length) return null;
  const widest = points.reduce((most, point) => Math.max(most, point.gamma), 2);
  const betas = points.map((one) => one.beta).sort((a, b) => a - b);
  const high = Math.ceil(widest * 1.02);
  const said = `${plural(points.length, "problem")}; beta from ${number(betas[0])} to ${number(betas[betas.length - 1])}, gamma up to ${number(widest)}`;
  return chart({
    title: "Diversity: gamma and beta of each problem", said,
    x: { label: "gamma (distinct predictions per input)", low: 1, high }, y: { label: "beta (mean distance)", low: 0, high: 1 },
    key: [...page.sessions.map((one, place) => (one.points.length ? [`${lookOf(place)} dot`, titleOf(one, page.sessions)] : null)).filter(Boolean),
      ...page.regions.map((one, place) => [`band b${place}`, `possible with ${one.k} hypotheses`])],
    draw: (xs, ys) => [
      page.regions.map((one, place) => regionOf(one, place, high, xs, ys)),
      points.map((point) => s("circle", { class: `point ${lookOf(point.place)}`, cx: xs(point.gamma), cy: ys(point.beta), r: 3.2 },
        s("title", null, `${point.problem}: gamma ${number(point.gamma)}, beta ${number(point.beta)}, ${point.k} hypotheses`))),
    ],
  }, h("p", { class: "note" }, "Undefined counts as an extra output here, as the bounds require."),
    numbersBelow("Gamma and beta of problems", ["problem", "session", "gamma", "beta", "hypotheses"],
      points, (point) => [point.problem, titleOf(point.one, page.sessions), point.gamma, point.beta, point.k]));
}

// Where (gamma, beta) can lie, up to the greatest gamma that is drawn.
function regionOf(one, place, high, xs, ys) {
  const rows = one.gamma.map((gamma, at) => [gamma, one.low[at], one.high[at]]);
  const inside = rows.filter(([gamma]) => gamma <= high);
  const next = rows[inside.length];
  if (next && inside.length) {
    const last = inside[inside.length - 1];
    const part = (high - last[0]) / (next[0] - last[0]);
    inside.push([high, last[1] + part * (next[1] - last[1]), last[2] + part * (next[2] - last[2])]);
  }
  const border = [...inside.map(([gamma, low]) => [gamma, low]), ...inside.slice().reverse().map(([gamma, , top]) => [gamma, top])];
  return s("polygon", { class: `band b${place}`, points: border.map(([gamma, beta]) => `${xs(gamma)},${ys(beta)}`).join(" ") });
}

function verdictsByStep(rows, of) {
  if (!rows.length) return null;
  const high = Math.max(...rows.map((row) => VERDICTS.reduce((sum, name) => sum + row[name], 0)), 1);
  const last = rows[rows.length - 1].step;
  const sums = VERDICTS.map((name) => `${rows.reduce((sum, row) => sum + row[name], 0)} ${name}`).join(", ");
  return chart({
    title: `Verdicts by step${of}`, said: sums, x: { label: "step", low: 0.4, high: Math.max(last, 2) + 0.6, whole: true }, y: { label: "hypotheses", low: 0, high, whole: true },
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
  }, numbersBelow(`Verdicts by step${of}`, ["step", ...VERDICTS], rows, (row) => [row.step, ...VERDICTS.map((name) => row[name])]));
}

// One curve a session: what `course[part]` has under `value`, by answers or by steps.
function overSessions(sessions, part, value, { title, x, y, zero, row, least = 1 }) {
  const [label, by] = x;
  const curves = sessions.map((one, place) => ({ one, place, rows: one.course[part].filter((told) => told[value] !== null) }))
    .filter((curve) => curve.rows.length >= least);
  if (!curves.length) return null;
  const points = curves.map(({ rows }) => [...(zero ? [[0, 0]] : []), ...rows.map((told) => [told[by], told[value]])]);
  const all = points.flat();
  const end = (list) => number(list[list.length - 1][1]);
  const name = (curve) => titleOf(curve.one, sessions);
  return chart({
    title, said: curves.map((curve, place) => `${sessions.length > 1 ? `${name(curve)}: ` : ""}${end(points[place])} at the end`).join("; "),
    x: { label, low: zero ? 0 : Math.min(...all.map(([at]) => at)), high: Math.max(1, ...all.map(([at]) => at)), whole: true },
    y: { label: y, low: 0, high: Math.max(value === "solved" ? 1 : 0, ...all.map(([, told]) => told)) || 1 },
    key: sessions.length > 1 ? curves.map((curve) => [`line ${lookOf(curve.place)}`, name(curve)]) : [],
    draw: (xs, ys) => curves.map((curve, place) => line(lookOf(curve.place), points[place], xs, ys)),
  }, numbersBelow(title, [by, "session", row, ...(part === "found" ? ["problems with this many answers"] : [])],
    curves.flatMap((curve) => curve.rows.map((told) => [curve, told])), ([curve, told]) => [told[by], name(curve), told[value], ...(part === "found" ? [told.asked] : [])]));
}

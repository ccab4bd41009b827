// Two sessions, problem by problem.

const compared = { pair: 0, metric: "" }; // what is chosen, also after the page was drawn anew

function drawComparison(page) {
  const pairs = page.differences;
  if (!pairs.length) return null;
  const find = (id) => page.sessions.find((one) => one.session === id);
  const named = (id) => { const title = titleOf(find(id), page.sessions); return title.endsWith(`(${id})`) ? title : `${title} (${id})`; };
  const said = (pair) => `${named(pair.second)} − ${named(pair.first)}`;
  const [metrics, place] = [h("span"), h("div")];
  const fill = () => {
    const pair = pairs[compared.pair] || pairs[0];
    const names = pair.metrics.map((one) => one.name);
    const at = Math.max(0, names.indexOf(compared.metric)); // sessions of another task have others
    metrics.replaceChildren(choice("Metric", names.map((name) => [name, words(name)]), names[at], (value) => { compared.metric = value; fill(); metrics.querySelector("select").focus(); }));
    place.replaceChildren(...comparisonOf(page, pair, at, find));
  };
  fill();
  return [h("form", { class: "filters", onsubmit: (event) => event.preventDefault() },
    choice("Sessions", pairs.map((pair, at) => [String(at), said(pair)]), String(compared.pair), (value) => { compared.pair = Number(value); fill(); }), metrics),
    leftOut(page) ? h("p", { class: "note" }, `Only the first ${page.compared} sessions of a task are compared. These are not compared: ${leftOut(page)}.`) : null, place];
}

// Sessions that stand behind so many others of their task that they are compared with none.
function leftOut({ sessions, compared: most }) {
  const alike = (one, other) => one.task === other.task && one.evaluation === other.evaluation;
  return sessions.filter((one, place) => sessions.slice(0, place).filter((other) => alike(one, other)).length >= most).map((one) => one.session).join(", ");
}

function comparisonOf(page, pair, at, find) {
  const [first, second] = [find(pair.first), find(pair.second)];
  const before = new Map(first.problems.map((one) => [one.id, one]));
  const shared = second.problems.filter((one) => before.has(one.id)).map((one) => ({ id: one.id, a: before.get(one.id).values[at], b: one.values[at] }));
  const known = shared.filter((one) => isNumber(one.a) && isNumber(one.b));
  known.sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a));
  const name = words(pair.metrics[at].name);
  const better = known.filter((one) => one.b > one.a).length;
  const worse = known.filter((one) => one.b < one.a).length;
  const rows = pair.metrics.filter((one) => one.mean !== null).map((one) => [[words(one.name), arrowOf(one)],
    h("span", { class: "interval" }, signed(one.mean), one.low === null ? null : ` [${signed(one.low)}, ${signed(one.high)}]`), one.n]);
  const link = (session, value, id) => h("a", { href: addressOf(session, id) }, number(value));
  return [h("div", { class: "beside" },
    table(`Differences over ${plural(pair.problems, "shared problem")}: second session minus first session, with 95% bootstrap intervals over problems`, ["metric", "difference", "problems"], rows),
    known.length ? h("div", null, scatterOf(known, name, first, second, page.sessions),
      h("p", null, `${name}: higher in the second in ${plural(better, "problem")}, lower in ${worse}, equal in ${known.length - better - worse}.`))
      : h("p", { class: "note" }, `No problem has a value of ${name} in both sessions.`)),
    known.length ? table(`${name} by problem, largest difference first`, ["problem", "first", "second", "difference"],
      known.slice(0, 300).map((one) => [one.id, link(first.session, one.a, one.id), link(second.session, one.b, one.id), signed(one.b - one.a)])) : null,
    known.length > 300 ? h("p", { class: "note" }, `${known.length - 300} problems with smaller differences are not listed.`) : null,
  ].filter(Boolean);
}

function signed(value) {
  if (value === null) return "–";
  const shown = Math.abs(value).toFixed(3);
  return `${Number(shown) === 0 ? "" : value > 0 ? "+" : "−"}${shown}`; // what is shown as nought has no sign
}

function scatterOf(known, name, first, second, sessions) {
  const all = known.flatMap((one) => [one.a, one.b]);
  const [low, high] = [Math.min(0, ...all), Math.max(1, ...all)];
  return chart({
    title: `${name} by problem`, said: `${plural(known.length, "problem")}; above the line, the value of the second session is higher`,
    x: { label: titleOf(first, sessions), low, high }, y: { label: titleOf(second, sessions), low, high }, height: 320,
    draw: (xs, ys) => [s("line", { class: "rule", x1: xs(low), y1: ys(low), x2: xs(high), y2: ys(high) }),
      known.map((one) => s("circle", { class: "point c0", cx: xs(one.a), cy: ys(one.b), r: 3 }, s("title", null, `${one.id}: ${number(one.a)} and ${number(one.b)}`)))],
  });
}

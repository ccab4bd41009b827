// Two sessions, problem by problem.

const compared = { pair: 0, metric: 0 }; // what is chosen, also after the page was drawn anew

function drawComparison(page) {
  const pairs = page.differences;
  if (!pairs.length) return null;
  const find = (id) => page.sessions.find((one) => one.session === id);
  const said = (pair) => `${titleOf(find(pair.second), page.sessions)} (${pair.second}) − ${titleOf(find(pair.first), page.sessions)} (${pair.first})`;
  const place = h("div");
  const fill = () => place.replaceChildren(...comparisonOf(page, pairs[compared.pair] || pairs[0], compared.metric, find));
  const metrics = pairs[0].metrics.map((one, at) => [String(at), words(one.name)]);
  fill();
  return [h("form", { class: "filters", onsubmit: (event) => event.preventDefault() },
    choice("Sessions", pairs.map((pair, at) => [String(at), said(pair)]), String(compared.pair), (value) => { compared.pair = Number(value); fill(); }),
    choice("Metric", metrics, String(compared.metric), (value) => { compared.metric = Number(value); fill(); })), place];
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
  const rows = pair.metrics.filter((one) => one.mean !== null).map((one) => [h("span", null, words(one.name), " ", ARROWS[one.better] || ""),
    `${signed(one.mean)} [${signed(one.low)}, ${signed(one.high)}]`, one.n]);
  const link = (session, value, id) => h("a", { href: addressOf(session, id) }, number(value));
  return [
    table(`Differences over ${plural(pair.problems, "shared problem")}: the second session less the first, with 95% intervals that draw problems`, ["metric", "difference", "problems"], rows),
    known.length ? h("div", { class: "figures" }, scatterOf(known, name, first, second, page.sessions)) : h("p", { class: "note" }, `No problem has a value of ${name} in both sessions.`),
    known.length ? h("p", null, `${name}: higher in the second in ${plural(better, "problem")}, lower in ${worse}, equal in ${known.length - better - worse}.`) : null,
    known.length ? table(`${name} by problem, the largest difference first`, ["problem", "first", "second", "difference"],
      known.slice(0, 300).map((one) => [one.id, link(first.session, one.a, one.id), link(second.session, one.b, one.id), signed(one.b - one.a)])) : null,
    known.length > 300 ? h("p", { class: "note" }, `${known.length - 300} problems of smaller differences are not listed.`) : null,
  ].filter(Boolean);
}

const signed = (value) => (value > 0 ? "+" : "") + number(value);

function scatterOf(known, name, first, second, sessions) {
  const all = known.flatMap((one) => [one.a, one.b]);
  const [low, high] = [Math.min(0, ...all), Math.max(1, ...all)];
  return chart({
    title: `${name} by problem`, said: `${plural(known.length, "problem")}; above the line the second session has more`,
    x: { label: titleOf(first, sessions), low, high }, y: { label: titleOf(second, sessions), low, high }, height: 320,
    draw: (xs, ys) => [s("line", { class: "rule", x1: xs(low), y1: ys(low), x2: xs(high), y2: ys(high) }),
      known.map((one) => s("circle", { class: "point c0", cx: xs(one.a), cy: ys(one.b), r: 3 }, s("title", null, `${one.id}: ${number(one.a)} and ${number(one.b)}`)))],
  });
}

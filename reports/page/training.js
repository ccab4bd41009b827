// Trainings: a figure for each curve that the log has of each stage.

// The store does not know whether a training that has not ended still goes on.
const statusOf = ({ status }) => (status === "running" ? "not finished" : status);

function drawTraining(trainings) {
  if (!trainings || !trainings.length) return null;
  return trainings.map((one) => h("article", { class: "session" },
    h("h3", null, one.label, " ", h("span", { class: `status ${one.status}` }, statusOf(one))),
    facts([["training", h("code", null, one.training)], ["base", one.base], ["seed", one.seed], ...one.settings]),
    h("div", { class: "figures" }, one.figures.map(trainingFigure))));
}

function trainingFigure({ name, curves: given }) {
  // What is no number (a loss that was not finite) has no place in a figure.
  const curves = given.map((one) => ({ ...one, points: one.points.filter(([, value]) => isNumber(value)) })).filter((one) => one.points.length);
  if (!curves.length) return null;
  const points = curves.flatMap((curve) => curve.points);
  const [low, high] = [Math.min(...points.map((one) => one[1])), Math.max(...points.map((one) => one[1]))];
  const room = (high - low) * 0.05 || 0.5;
  const last = Math.max(...points.map((one) => one[0]));
  return chart({
    title: words(name), said: curves.map((curve) => `${curve.stage || name} from ${number(curve.points[0][1])} to ${number(curve.points[curve.points.length - 1][1])}`).join(", "),
    x: { label: "examples", low: 0, high: last }, y: { label: words(name), low: low - room, high: high + room },
    key: curves.map((curve, place) => [`line ${lookOf(place)}`, curve.stage || words(name)]),
    draw: (xs, ys) => curves.map((curve, place) => line(lookOf(place), curve.points, xs, ys)),
  }, numbersBelow(words(name), ["examples", ...curves.map((curve) => curve.stage || name)],
    [...new Set(curves.flatMap((curve) => curve.points.map(([at]) => at)))].sort((a, b) => a - b),
    (at) => [at, ...curves.map((curve) => curve.points.find(([other]) => other === at)?.[1] ?? "–")]));
}

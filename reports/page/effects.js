// Sentences about labelled text: how strongly each is associated with its label, and the texts for and against it.

const WIDEST = Math.log(50); // of an odds ratio that is drawn
const LOUD = ["confounded", "differs", "hidden"]; // verdicts that change how a sentence is read

// Drawn when it is opened.
function foldedEffects(name, row, source) {
  const fill = async ({ target: details }) => {
    if (!details.open || details.dataset.filled) return;
    details.dataset.filled = "yes";
    const told = await source.problem(row).catch(() => null);
    if (!told) delete details.dataset.filled;
    details.append(told ? effectsOf(told) : h("p", { class: "note" }, "The server does not respond."));
  };
  return h("details", { ontoggle: fill }, h("summary", null, "Effects and telling texts of the sentences", h("span", { class: "unseen" }, ` of ${name}`)));
}

function effectsOf({ effects, problem }) {
  if (!effects.length) return h("p", { class: "note" }, "There are no sentences.");
  const flagged = effects.filter((one) => one.effects.some(({ within }) => within.some(({ verdict }) => LOUD.includes(verdict)))).length;
  return h("div", { class: "effects" },
    h("p", { class: "note" }, "The odds ratio is the odds of a label in rows to which the sentence gives it, divided by its odds in the rows compared with them. The bracket is its 95% interval, and the line below it is drawn from 1/50 to 50.",
      flagged ? ` ${flagged === 1 ? "One sentence does" : `${number(flagged)} sentences do`} not hold alike within groups.` : ""),
    h("ol", null, effects.map((one) => h("li", null, h("p", { class: "reading" }, one.summary || one.text),
      one.effects.length ? one.effects.map((effect) => effectOf(effect, problem)) : h("p", { class: "evidence" }, "Only a model could apply it to these rows.")))));
}

function effectOf(effect, problem) {
  const ratio = effect.odds_ratio;
  const compared = effect.other === null ? "all other rows" : `“${effect.other}”`;
  const rows = `${plural(effect.n, `${effect.rows} row`)}${effect.rows === "shown" ? " that the search saw" : ""}`;
  const said = [`“${effect.label}” against ${compared}: `, ratio ? h("b", null, `odds ratio ${ratioOf(ratio)}`) : "no odds ratio, because there is nothing to compare",
    effect.verdict === "opposite" ? h("b", null, " (the opposite of the sentence)") : "",
    effect.other === null ? `; applies to ${percent(effect.coverage, 1)} of ${rows}` : `; gives the first label to ${percent((effect.table[0][0] + effect.table[0][1]) / (effect.n || 1), 1)} of ${rows}, one of them to ${percent(effect.coverage, 1)}`, effect.covered ? ` and is right on ${percent(effect.right / effect.covered, 1)} of them` : "",
    effect.stability ? `; the direction stays in ${percent(effect.stability.direction)} of 200 resamples, the significance in ${percent(effect.stability.significant)}` : ""];
  return [h("p", { class: "evidence" }, said), ratio ? ratioLine(ratio) : null,
    effect.within.length ? h("ul", { class: "within" }, effect.within.map((one) => h("li", { class: LOUD.includes(one.verdict) ? "loud" : null }, one.reading))) : null,
    h("div", { class: "sides broad" }, tellingTexts("Telling texts for it", "No text speaks for it.", effect.supporting, effect.rows, problem),
      tellingTexts("Telling texts against it", "No text speaks against it.", effect.contradicting, effect.rows, problem))];
}

function tellingTexts(title, none, texts, rows, problem) {
  return h("div", null, h("p", { class: "side" }, texts.length ? title : none), h("ul", { class: "telling" }, texts.map(({ row, label, pieces }) => {
    const fields = Object.entries(pieces);
    const single = fields.length === 1;
    return h("li", null, h("small", null, `${rows} ${number(row)}, ${words(problem.public.label_name || "label")} “${label}”`),
      single ? markedText(fields[0][1]) : facts(fields.map(([name, some]) => [words(name), markedText(some)])));
  })));
}

// Pieces of which every second is marked.
const markedText = (pieces) => textOf(pieces.join(""), pieces.map((one, place) => (place % 2 ? h("strong", { class: "match" }, one) : one)));

const ratioOf = ({ value, low, high }) => `${decimal(value)} [${decimal(low)}, ${decimal(high)}]`;
const decimal = (value) => (value >= 0.1 && value < 1000 ? value.toFixed(2) : value.toPrecision(3));

function ratioLine({ value, low, high }) {
  const at = (one) => Math.max(-WIDEST, Math.min(WIDEST, Math.log(one)));
  const drawn = whisker({ mean: at(value), low: at(low), high: at(high) }, -WIDEST, WIDEST);
  drawn.prepend(s("line", { class: "rule", x1: 50, x2: 50, y1: 0, y2: 12 }));
  return h("div", { class: "ratio" }, drawn);
}

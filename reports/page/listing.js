// The list of problems: search, filters, order; the one that is open stands beside it.

const MOST_ROWS = 300; // drawn at once; the rest waits for a button
const PAUSE_MS = 120; // after a key, before a search

// Rows of the list: of each problem its session, its number there and its number on the page.
function rowsOf(page) {
  let at = 0;
  return page.sessions.flatMap((session) => session.problems.map((problem, place) => ({ session, problem, place, at: at++ })));
}

const addressOf = (session, id) => `#problem/${session}/${encodeURIComponent(visible(id))}`;

class Listing {
  constructor(page, source) {
    this.page = page;
    this.source = source;
    this.state = { query: "", session: "", ended: "", verdict: "", order: "given" };
    this.drawn = MOST_ROWS;
    this.open = null; // the row that is open
    this.found = null; // numbers of the problems that were searched for; null: all
    this.asked = 0; // searches so far
    this.openings = 0;
    this.timer = 0;
    this.count = h("p", { role: "status", class: "count" });
    this.body = h("tbody");
    this.head = h("th", { scope: "col", class: "number" });
    this.more = h("button", { type: "button", hidden: true, onclick: () => { this.drawn += 5 * MOST_ROWS; this.fill(); } }, "Show more");
    this.place = h("div", { class: "opened", tabindex: -1, role: "region", "aria-label": "Selected problem" }, h("p", { class: "note" }, "Select a problem to see its observations and hypotheses."));
    this.take();
  }

  // What the page's data say now.
  take() {
    this.rows = rowsOf(this.page);
    this.several = this.page.sessions.length > 1;
    this.titles = new Map(this.page.sessions.map((one) => [one, titleOf(one, this.page.sessions)]));
    this.values = new Map(this.page.sessions.map((one) => [one, new Map(one.metrics.map((metric, place) => [metric.name, place]))]));
    const known = this.page.sessions.flatMap((one) => one.metrics.filter((_, place) => one.problems.some((problem) => isNumber(problem.values[place]))));
    this.metrics = new Map(known.map((metric) => [metric.name, metric]));
  }

  value({ session, problem }, name) {
    const place = this.values.get(session).get(name);
    return place === undefined ? null : problem.values[place];
  }

  draw() {
    const set = (name) => (value) => { this.state[name] = value; this.drawn = MOST_ROWS; this.fill(); };
    this.box = h("input", { type: "search", id: "search", placeholder: "search problems, hypotheses and answers", oninput: () => {
      this.region.setAttribute("aria-busy", "true");
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.find(this.box.value).catch(() => this.region.removeAttribute("aria-busy")), PAUSE_MS);
    } });
    const ends = [...new Set(this.rows.map(({ problem }) => endOf(problem)))].sort();
    const found = h("div", { class: "listing" },
      h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
        h("label", { class: "wide" }, "Search ", this.box),
        this.several ? choice("Session", [["", "all"], ...this.page.sessions.map((one) => [one.session, `${nameOf(one)} · ${one.session}`])], "", set("session")) : null,
        choice("Ended", [["", "all"], ...[...new Set([...ends, ...(this.page.live ? ["open"] : [])])].map((one) => [one, endSentence(one)])], "", set("ended")),
        choice("With verdict", [["", "any"], ["consistent", "consistent"], ["none", "no consistent hypothesis"], ...VERDICTS.map((one) => [one, one])], "", set("verdict")),
        choice("Order", [["given", "original order"], ["name", "by name"], ["most", "most accepted first"],
          ...[...this.metrics.values()].map((one) => [`=${one.name}`, `${words(one.name)}, ${one.better === "lower" ? "lowest" : "highest"} first`])], "given", set("order"))),
      this.count,
      this.region = h("div", { class: "scroll list", role: "region", "aria-label": "List of problems", tabindex: 0 },
        h("table", null, h("caption", { class: "unseen" }, "Problems"),
          h("thead", null, h("tr", null, ["problem", "ended", "steps", "accepted"].map((head) => h("th", { scope: "col", class: head === "steps" ? "number" : null }, head)), this.head)), this.body)),
      this.more);
    this.fill();
    return h("div", { class: "columns" }, found, this.place);
  }

  // After the data have changed: the list, and the open problem where something happened to it. Ends when both are drawn.
  async renew() {
    const before = this.open;
    this.take();
    if (before) this.open = this.rows[before.at] || null;
    const changed = before && this.open && JSON.stringify(before.problem) !== JSON.stringify(this.open.problem);
    const found = this.found ? this.find(this.state.query) : this.fill();
    await Promise.all([found, changed ? this.show(this.open) : null]);
  }

  async find(query) {
    this.state.query = query;
    const asked = ++this.asked;
    const sought = query.toLowerCase().split(/\s+/).filter(Boolean);
    const found = sought.length ? await this.source.search(sought, this.rows) : null;
    if (this.asked !== asked) return; // a later search has been begun
    this.found = found;
    this.drawn = MOST_ROWS;
    this.fill();
    this.region.removeAttribute("aria-busy");
  }

  kept() {
    const { session, ended, verdict, order } = this.state;
    const rows = this.rows.filter((row) => (!session || row.session.session === session)
      && (!ended || endOf(row.problem) === ended) && hasVerdict(row.problem, verdict)
      && (!this.found || this.found.has(row.at)));
    if (order === "name") return rows.sort((a, b) => COLLATOR.compare(a.problem.id, b.problem.id));
    if (order === "most") return rows.sort((a, b) => b.problem.verdicts[0] - a.problem.verdicts[0]);
    if (order === "given") return rows;
    const name = order.slice(1);
    const sign = this.metrics.get(name)?.better === "lower" ? -1 : 1;
    const value = (row) => { const one = this.value(row, name); return isNumber(one) ? sign * one : -Infinity; };
    return rows.sort((a, b) => value(b) - value(a) || 0);
  }

  // The metric whose values stand in the list: that which orders it.
  get metric() {
    return this.metrics.get(this.state.order.slice(1));
  }

  fill() {
    const rows = this.kept();
    const name = this.metric?.name;
    this.head.textContent = words(name ?? "metric");
    this.head.hidden = !name;
    const all = this.rows.length;
    this.count.textContent = rows.length === all ? plural(all, "problem") : `${number(rows.length)} of ${plural(all, "problem")}`;
    this.more.hidden = rows.length <= this.drawn;
    this.body.replaceChildren(...rows.slice(0, this.drawn).map((row) => this.row(row, name)));
  }

  row(row, name) {
    const { session, problem } = row;
    const opened = this.open !== null && this.open.at === row.at;
    return h("tr", { class: opened ? "current" : null, "data-at": row.at },
      h("th", { scope: "row" }, h("a", { href: addressOf(session.session, problem.id), "aria-current": opened ? "true" : null }, problem.id || "(unnamed)"),
        " ", this.several ? h("small", null, this.titles.get(session)) : null),
      h("td", null, endSentence(endOf(problem))),
      h("td", { class: "number" }, number(problem.steps)),
      h("td", null, strip(problem.verdicts)),
      name ? h("td", { class: "number" }, number(this.value(row, name))) : null);
  }

  // Marks the row that is open, without drawing the list again.
  mark(at, opened) {
    const row = this.body.querySelector(`tr[data-at="${at}"]`);
    if (!row) return;
    row.className = opened ? "current" : "";
    if (opened) row.querySelector("a").setAttribute("aria-current", "true");
    else row.querySelector("a").removeAttribute("aria-current");
  }

  async show(row) {
    if (this.open) this.mark(this.open.at, false);
    this.open = row;
    this.mark(row.at, true);
    const opening = ++this.openings;
    const told = await this.source.problem(row);
    if (this.openings !== opening) return; // another one has been opened, or this one anew
    const again = this.place.dataset.at === String(row.at);
    const [held, unfolded] = [this.place.contains(document.activeElement), again ? unfoldedIn(this.place) : []];
    this.place.dataset.at = row.at;
    this.place.setAttribute("aria-label", `Problem ${visible(row.problem.id)}`);
    this.place.replaceChildren(told ? drawProblem(told, row.session, this.beside(row)) : h("p", null, "The server no longer has this problem."));
    unfold(this.place, unfolded);
    if (again) return;
    if (!held || !this.place.contains(document.activeElement)) this.place.focus({ preventScroll: true });
    if (this.place.getBoundingClientRect().top < 0 || this.place.getBoundingClientRect().top > innerHeight * 0.7) this.place.scrollIntoView({ block: "start" });
  }

  // A sentence in place of the open problem.
  say(text) {
    this.place.replaceChildren(h("p", null, text));
  }

  // Links to the problems before and after, as the list stands.
  beside(row) {
    const rows = this.kept();
    const at = rows.findIndex((one) => one.at === row.at);
    const link = (other, text) => (other ? h("a", { href: addressOf(other.session.session, other.problem.id) }, text) : null);
    return at < 0 ? [] : [link(rows[at - 1], "← previous"), link(rows[at + 1], "next →")];
  }
}

const COLLATOR = new Intl.Collator("en", { numeric: true });
const endOf = (problem) => (problem.status === "done" ? problem.cause || "done" : problem.status);
const endSentence = (end) => (end === "open" ? "not finished" : stopSentence(end));

function hasVerdict({ verdicts }, verdict) {
  const consistent = verdicts[0] + verdicts[1];
  if (!verdict) return true;
  if (verdict === "consistent") return consistent > 0;
  return verdict === "none" ? consistent === 0 : verdicts[VERDICTS.indexOf(verdict)] > 0;
}

// What a reader has opened in a problem, to be opened again when it is drawn anew.
const keyOf = (one, text) => `${one.closest("li[id]")?.id ?? ""} ${text.replace(/[\d,]+/g, "")}`;
const detailsOf = (place) => [...place.querySelectorAll("details")].map((one) => [one, keyOf(one, one.querySelector("summary").textContent)]);
const tablesOf = (place) => [...place.querySelectorAll(".many")].map((one) => [one, keyOf(one, one.ariaLabel)]);
const unfoldedIn = (place) => [...detailsOf(place).filter(([one]) => one.open), ...tablesOf(place).filter(([one]) => !one.classList.contains("folded"))].map(([, name]) => name);
function unfold(place, names) {
  detailsOf(place).forEach(([one, name]) => { if (names.includes(name)) one.open = true; });
  tablesOf(place).forEach(([one, name]) => { if (names.includes(name)) one.classList.remove("folded"); });
}

// The verdicts of a problem as one bar; in words for those who do not see it.
function strip(counts) {
  const sum = counts.reduce((a, b) => a + b, 0);
  const said = VERDICTS.map((name, place) => (counts[place] ? `${counts[place]} ${name}` : null)).filter(Boolean).join(", ") || "no hypotheses";
  let x = 0;
  return h("span", { class: "strip", title: said },
    s("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": said }, VERDICTS.map((name, place) => {
      const width = sum ? (100 * counts[place]) / sum : 0;
      const bar = s("rect", { class: `bar ${name}`, x, width, y: 0, height: 10 });
      x += width;
      return width ? bar : null;
    })), h("small", null, ` ${counts[0]} of ${sum}`));
}

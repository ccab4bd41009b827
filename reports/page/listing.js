// The list of problems: search, filters, order; the one that is open stands beside it.

const MOST_ROWS = 500; // drawn at once; the rest waits for a button

class Listing {
  constructor(page, source) {
    this.page = page;
    this.source = source;
    this.state = { query: "", session: "", status: "", verdict: "", order: "given" };
    this.drawn = MOST_ROWS;
    this.open = null;
    this.found = null; // keys of problems that were searched for; null: all
    this.timer = 0;
    this.count = h("p", { role: "status", class: "count" });
    this.body = h("tbody");
    this.head = h("th", { scope: "col" });
    this.more = h("button", { type: "button", hidden: true, onclick: () => { this.drawn += 5 * MOST_ROWS; this.fill(); } }, "Show more");
    this.place = h("div", { class: "opened", tabindex: -1 }, h("p", { class: "note" }, "Open a problem to see its observations and every hypothesis."));
  }

  get rows() {
    return this.page.sessions.flatMap((session) => session.problems.map((problem) => ({ session, problem })));
  }

  draw() {
    const several = this.page.sessions.length > 1;
    const set = (name) => (value) => { this.state[name] = value; this.drawn = MOST_ROWS; this.fill(); };
    this.find = async (query) => {
      this.state.query = query;
      const sought = query.toLowerCase().split(/\s+/).filter(Boolean);
      const found = sought.length ? await this.source.search(sought) : null;
      if (this.state.query !== query) return;
      this.found = found;
      this.drawn = MOST_ROWS;
      this.fill();
    };
    const statuses = [...new Set(this.rows.map((row) => row.problem.status))];
    const search = h("input", { type: "search", id: "search", placeholder: "words of problems, hypotheses, answers", oninput: (event) => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.find(event.target.value), 120);
    } });
    this.box = search;
    const metric = this.page.sessions[0].metrics.map((one, place) => [String(place), `by ${words(one.name)}`]);
    const found = h("div", { class: "listing" },
      h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
        h("label", { class: "wide" }, "Search ", search),
        several ? choice("Session", [["", "all"], ...this.page.sessions.map((one) => [one.session, `${titleOf(one, this.page.sessions)} · ${one.session}`])], "", set("session")) : null,
        choice("Status", [["", "all"], ...statuses.map((one) => [one, one])], "", set("status")),
        choice("With verdict", [["", "any"], ["consistent", "consistent"], ["none", "no consistent one"], ...VERDICTS.map((one) => [one, one])], "", set("verdict")),
        choice("Order", [["given", "as given"], ["most", "most accepted first"], ["name", "by name"], ...metric], "given", set("order"))),
      this.count,
      h("div", { class: "scroll list", role: "region", "aria-label": "List of problems", tabindex: 0 },
        h("table", null, h("caption", { class: "unseen" }, "Problems"),
          h("thead", null, h("tr", null, ["problem", ...(several ? ["session"] : []), "ended", "steps", "verdicts"].map((head) => h("th", { scope: "col" }, head)), this.head)), this.body)),
      this.more);
    this.fill();
    return h("div", { class: "columns" }, found, this.place);
  }

  kept() {
    const { session, status, verdict, order } = this.state;
    const rows = this.rows.filter((row) => (!session || row.session.session === session)
      && (!status || row.problem.status === status) && this.hasVerdict(row.problem, verdict)
      && (!this.found || this.found.has(`${row.session.session}/${row.problem.id}`)));
    const value = (row) => (order === "most" ? row.problem.verdicts[0] : row.problem.values[Number(order)]);
    if (order === "name") rows.sort((a, b) => a.problem.id.localeCompare(b.problem.id, "en", { numeric: true }));
    else if (order !== "given") rows.sort((a, b) => (value(b) ?? -Infinity) - (value(a) ?? -Infinity));
    return rows;
  }

  hasVerdict(problem, verdict) {
    const consistent = problem.verdicts[0] + problem.verdicts[1];
    if (!verdict) return true;
    if (verdict === "consistent") return consistent > 0;
    return verdict === "none" ? consistent === 0 : problem.verdicts[VERDICTS.indexOf(verdict)] > 0;
  }

  fill() {
    const rows = this.kept();
    const several = this.page.sessions.length > 1;
    const at = Number.isInteger(Number(this.state.order)) ? Number(this.state.order) : 0;
    const shown = this.page.sessions[0].metrics[at];
    this.head.textContent = shown ? words(shown.name) : "";
    const all = this.rows.length;
    this.count.textContent = rows.length === all ? plural(all, "problem") : `${number(rows.length)} of ${plural(all, "problem")}`;
    this.more.hidden = rows.length <= this.drawn;
    this.body.replaceChildren(...rows.slice(0, this.drawn).map(({ session, problem }) => {
      const opened = this.open && this.open.session === session.session && this.open.id === problem.id;
      return h("tr", { class: opened ? "current" : null },
        h("th", { scope: "row" }, h("a", { href: addressOf(session.session, problem.id), "aria-current": opened ? "true" : null }, problem.id)),
        several ? h("td", null, titleOf(session, this.page.sessions)) : null,
        h("td", null, problem.status === "done" ? words(problem.cause) : problem.status),
        h("td", { class: "number" }, problem.steps),
        h("td", null, strip(problem.verdicts)),
        h("td", { class: "number" }, number(problem.values[at])));
    }));
  }

  async show(session, id) {
    this.open = { session, id };
    this.fill();
    const told = await this.source.problem(session, id);
    if (!this.open || this.open.session !== session || this.open.id !== id) return;
    if (!told) {
      this.place.replaceChildren(h("p", null, `There is no problem ${id} in session ${session} on this page.`));
      return;
    }
    const kept = this.place.contains(document.activeElement);
    this.place.replaceChildren(drawProblem(told, session));
    this.place.setAttribute("aria-label", `Problem ${id}`);
    if (!kept) this.place.focus({ preventScroll: true });
    if (this.place.getBoundingClientRect().top > innerHeight * 0.7) this.place.scrollIntoView({ block: "start" });
  }
}

const addressOf = (session, id) => `#problem/${encodeURIComponent(session)}/${encodeURIComponent(id)}`;

// The verdicts of a problem as one bar; in words for those who do not see it.
function strip(counts) {
  const sum = counts.reduce((a, b) => a + b, 0);
  const said = VERDICTS.map((name, place) => (counts[place] ? `${counts[place]} ${name}` : null)).filter(Boolean).join(", ") || "no hypothesis";
  let x = 0;
  return h("span", { class: "strip" },
    s("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": said }, VERDICTS.map((name, place) => {
      const width = sum ? (100 * counts[place]) / sum : 0;
      const bar = s("rect", { class: `bar ${name}`, x, width, y: 0, height: 10 }, s("title", null, said));
      x += width;
      return width ? bar : null;
    })), h("small", null, ` ${counts[0]}/${sum}`));
}

// The page: its parts from the embedded data, or from the server that shows a running session.

const SECTIONS = [["overview", "Overview"], ["problems", "Problems"], ["compare", "Comparison"], ["training", "Training"]];
const EVERY_MS = 2000; // how often a running session is asked for

const embeddedIn = (id) => {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
};

// Problems that stand in this file. Their texts are read when they are searched or opened.
class Embedded {
  elements() {
    if (!this.found) {
      this.found = new Map();
      for (const element of document.querySelectorAll('script[type="application/json"][id^="p"]')) {
        const head = /^\{"session":("(?:[^"\\]|\\.)*"),"id":("(?:[^"\\]|\\.)*")/.exec(element.textContent);
        this.found.set(`${JSON.parse(head[1])}/${JSON.parse(head[2])}`, element);
      }
      this.texts = new Map();
    }
    return this.found;
  }

  // The keys of problems in which every word stands.
  async search(sought) {
    await whole();
    const found = new Set();
    for (const [key, element] of this.elements()) {
      if (!this.texts.has(key)) this.texts.set(key, readable(element.textContent).toLowerCase());
      const text = this.texts.get(key);
      if (sought.every((word) => text.includes(word))) found.add(key);
    }
    return found;
  }

  async problem(session, id) {
    await whole();
    const element = this.elements().get(`${session}/${id}`);
    return element ? JSON.parse(element.textContent) : null;
  }
}

const whole = () => (document.readyState === "loading"
  ? new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true })) : null);

// The JSON of a problem as its words stand on the page.
const readable = (text) => text.replace(/\\u([0-9a-f]{4})/gi, (_, code) => String.fromCharCode(parseInt(code, 16))).replace(/\\[nrt]/g, " ").replace(/\\(["\\/])/g, "$1");

class Served {
  constructor(sessions) {
    this.sessions = sessions;
  }

  async search(sought) {
    const found = new Set();
    for (const { session } of this.sessions) {
      const answer = await fetch(`search?session=${encodeURIComponent(session)}&words=${encodeURIComponent(sought.join(" "))}`);
      if (answer.ok) (await answer.json()).forEach((id) => found.add(`${session}/${id}`));
    }
    return found;
  }

  async problem(session, id) {
    const answer = await fetch(`problem?session=${encodeURIComponent(session)}&id=${encodeURIComponent(id)}`);
    return answer.ok ? answer.json() : null;
  }
}

class Page {
  constructor() {
    this.page = embeddedIn("told");
    this.source = this.page.live ? new Served(this.page.sessions) : new Embedded();
    this.listing = new Listing(this.page, this.source);
    document.getElementById("subtitle").textContent = this.page.sessions.map(nameOf).slice(0, 3).join(" · ");
    this.put("problems", this.listing.draw());
    this.redraw();
    addEventListener("hashchange", () => this.follow());
    addEventListener("keydown", (event) => this.key(event));
    this.follow();
    if (this.page.live) this.watch();
  }

  put(id, children) {
    const section = document.getElementById(id);
    section.hidden = !children;
    if (children) section.querySelector("div").replaceChildren(...[children].flat(Infinity).filter(Boolean));
  }

  redraw() {
    this.put("overview", drawOverview(this.page));
    this.put("compare", drawComparison(this.page));
    this.put("training", drawTraining(this.page.trainings));
    document.querySelector("nav").replaceChildren(...SECTIONS.filter(([id]) => !document.getElementById(id).hidden).map(([id, name]) => h("a", { href: `#${id}` }, name)));
  }

  follow() {
    const [kind, session, id] = location.hash.slice(1).split("/").map(decodeURIComponent);
    if (kind === "problem" && id !== undefined) this.listing.show(session, id);
  }

  key(event) {
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.listing.box.focus();
    }
    if (event.key === "Escape" && typing === this.listing.box) {
      this.listing.box.value = "";
      this.listing.find("");
    }
  }

  async watch() {
    const said = document.getElementById("live");
    said.hidden = false;
    const tell = (text) => { if (said.textContent !== text) said.textContent = text; };
    let took = 0;
    for (;;) {
      const running = this.page.sessions.some((one) => one.status === "running");
      tell(running ? `Running: ${this.page.sessions.map((one) => `${one.problems.length - one.open} of ${plural(one.problems.length, "problem")}`).join(", ")}` : "Ended; this page is up to date.");
      await new Promise((done) => setTimeout(done, Math.max(running ? EVERY_MS : 5 * EVERY_MS, 4 * took)));
      if (document.hidden) continue;
      try {
        const asked = performance.now();
        const answer = await fetch(`overview?have=${encodeURIComponent(this.page.mark)}`);
        if (!answer.ok) throw new Error(`${answer.status}`);
        if (answer.status === 200) this.renew(await answer.json());
        took = performance.now() - asked;
      } catch (error) {
        tell("The server does not answer; what stands here is the last that it gave.");
        await new Promise((done) => setTimeout(done, 5 * EVERY_MS));
      }
    }
  }

  renew(page) {
    Object.assign(this.page, page);
    this.redraw();
    this.listing.fill();
    if (this.listing.open) this.listing.show(this.listing.open.session, this.listing.open.id);
  }
}

new Page();

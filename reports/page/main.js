// The page: its parts from the embedded data, or from the server that shows a running session.

const SECTIONS = [["overview", "Findings"], ["problems", "Problems"], ["compare", "Comparison"], ["training", "Training"]];
const EVERY_MS = 2000; // how often a running session is asked for

const embeddedIn = (id) => {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
};

// Problems that stand in this file, several in a compressed block. They are read when they are searched or opened.
class Embedded {
  constructor() {
    this.texts = new Map();
    this.blocks = null; // of each block its element and the numbers of its first problem and of that after its last
    if (typeof DecompressionStream === "undefined") tell("This browser is too old to read the problems of this page. Versions since May 2023 can.");
  }

  // The numbers of the problems in which every word stands.
  async search(sought, rows) {
    for (const block of await this.find()) {
      const unread = rows.some(({ at }) => at >= block.first && at < block.end && !this.texts.has(at));
      if (unread) (await linesOf(block)).forEach((line, place) => this.texts.set(block.first + place, wordsOf(JSON.parse(line))));
    }
    return new Set(rows.filter(({ at }) => sought.every((word) => this.texts.get(at).includes(word))).map(({ at }) => at));
  }

  async problem({ at }) {
    const block = (await this.find()).findLast(({ first }) => first <= at);
    return JSON.parse((await linesOf(block))[at - block.first]);
  }

  async find() {
    await whole();
    if (!this.blocks) {
      const elements = [...document.querySelectorAll("script[data-first]")];
      const firsts = elements.map((element) => Number(element.dataset.first));
      this.blocks = elements.map((element, place) => ({ element, first: firsts[place], end: firsts[place + 1] ?? Infinity }));
    }
    return this.blocks;
  }
}

// The JSON texts of a block: lines, compressed with zlib, as base64.
async function linesOf({ element }) {
  const packed = atob(element.textContent);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return (await new Response(stream).text()).split("\n");
}

const whole = () => (document.readyState === "loading"
  ? new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true })) : null);

// What can be searched for in a problem: its id, its data, answers and hypotheses.
function wordsOf({ problem, hypotheses, steps }) {
  const found = [problem.id];
  const left = [problem.shown, problem.hidden, problem.public, problem.reference];
  while (left.length) {
    const one = left.pop();
    if (one !== null && typeof one === "object") left.push(...(isNumbers(one) ? [one.join(", ")] : Object.values(one)));
    else if (one !== null) found.push(String(one));
  }
  for (const one of hypotheses) found.push(one.description || "", one.text || "");
  for (const step of steps) for (const answer of step.answers) found.push(answer.text);
  return found.join("\n").toLowerCase();
}

// The token of the server. Its address carries it once; then this tab alone has it, in the storage of this origin.
const TOKEN = "token";
let token = "";

// Takes the token of the address, or the one that was kept before a reload; says whether the address had one.
function takeToken() {
  const carried = location.hash.startsWith(`#${TOKEN}=`);
  if (carried) {
    token = location.hash.slice(TOKEN.length + 2);
    history.replaceState(null, "", location.pathname);
  }
  try {
    if (carried) sessionStorage.setItem(TOKEN, token);
    else token ||= sessionStorage.getItem(TOKEN) || "";
  } catch { /* a browser that keeps nothing: the token lasts until the page is left */ }
  return carried;
}

const ask = (path) => fetch(path, { headers: { Authorization: `Bearer ${token}` }, credentials: "omit" });

function tell(text) {
  const said = document.getElementById("live");
  said.hidden = false;
  if (said.textContent !== text) said.textContent = text;
}

// Problems that the server of a running session gives one by one.
class Served {
  async search(sought, rows) {
    const found = new Set();
    for (const session of new Set(rows.map((row) => row.session.session))) {
      const answer = await ask(`search?${new URLSearchParams({ session, words: sought.join(" ") })}`);
      const ids = new Set(answer.ok ? await answer.json() : []);
      for (const row of rows) if (row.session.session === session && ids.has(row.problem.id)) found.add(row.at);
    }
    return found;
  }

  async problem({ session, place }) {
    const answer = await ask(`problem?${new URLSearchParams({ session: session.session, place })}`);
    return answer.ok ? answer.json() : null;
  }
}

class Page {
  constructor(page) {
    this.page = page;
    this.source = this.page.live ? new Served() : new Embedded();
    this.listing = new Listing(this.page, this.source);
    document.getElementById("subtitle").textContent = visible(subtitle(this.page.sessions));
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
    const unfolded = unfoldedIn(section);
    if (children) section.querySelector("div").replaceChildren(...[children].flat(Infinity).filter(Boolean));
    unfold(section, unfolded);
  }

  redraw() {
    this.put("overview", drawOverview(this.page, this.source));
    this.put("compare", drawComparison(this.page));
    this.put("training", drawTraining(this.page.trainings));
    document.querySelector("nav").replaceChildren(...SECTIONS.filter(([id]) => !document.getElementById(id).hidden).map(([id, name]) => h("a", { href: `#${id}` }, name)));
  }

  // Opens the problem of the address, which may be typed: compared are addresses as the page writes them.
  follow() {
    if (this.page.live && takeToken()) location.reload(); // the address of another server, put into this tab
    if (!location.hash.startsWith("#problem/")) return;
    const row = this.listing.rows.find(({ session, problem }) => [location.hash, encodeURI(location.hash)].includes(addressOf(session.session, problem.id)));
    if (row) this.listing.show(row).catch(() => this.listing.say("The server does not respond."));
    else this.listing.say(`This page contains no problem ${location.hash}.`);
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
    let took = 0;
    for (;;) {
      const running = this.page.sessions.some((one) => one.status === "running");
      tell(running ? `Running: ${this.page.sessions.map((one) => `${one.problems.length - one.open} of ${plural(one.problems.length, "problem")}`).join(", ")}` : "The session has ended. This page is up to date.");
      await new Promise((done) => setTimeout(done, Math.max(running ? EVERY_MS : 5 * EVERY_MS, 4 * took)));
      if (document.hidden) continue;
      try {
        const asked = performance.now();
        const answer = await ask(`overview?have=${encodeURIComponent(this.page.mark)}`);
        if (!answer.ok) throw new Error(`${answer.status}`);
        if (answer.status === 200) await this.renew(await answer.json());
        took = performance.now() - asked;
      } catch (error) {
        this.page.mark = ""; // what was drawn may be half of an answer: the next one is whole
        tell("The server does not respond. This page shows the last data it sent.");
        await new Promise((done) => setTimeout(done, 5 * EVERY_MS));
      }
    }
  }

  async renew(page) {
    Object.assign(this.page, page);
    this.redraw();
    await this.listing.renew();
  }
}

function subtitle(sessions) {
  if (sessions.length === 1) return nameOf(sessions[0]);
  const tasks = [...new Set(sessions.map((one) => one.task))];
  return `${sessions.length} sessions: ${tasks.slice(0, 4).join(", ")}${tasks.length > 4 ? ", …" : ""}`;
}

// The page of a server: its data are requested with the token.
async function start(page) {
  takeToken();
  for (;;) {
    const answer = await ask("overview").catch(() => null);
    if (answer?.ok) {
      Object.assign(page, await answer.json());
      document.title = ["Peirce", ...page.sessions.map((one) => one.task)].slice(0, 4).join(" · ");
      return new Page(page);
    }
    tell(answer?.status === 503 ? await answer.text() : answer ? "Open the complete address that `peirce view` printed, including its token." : "The server does not respond.");
    if (answer?.status === 403) return addEventListener("hashchange", () => takeToken() && location.reload());
    await new Promise((done) => setTimeout(done, 5 * EVERY_MS));
  }
}

function begin() {
  const embedded = embeddedIn("told");
  if (embedded.live) start(embedded);
  else new Page(embedded);
}

// The heading is painted first: to read and draw thousands of problems takes longer than a frame. A tab that is
// not shown has no frames.
if (document.hidden) begin();
else requestAnimationFrame(() => setTimeout(begin));

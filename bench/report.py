"""The page of a session of 2,000 problems: how long `peirce report` takes, and how soon a browser shows it.

    python bench/report.py [--store FILE] [--problems 2000] [--loads 5] [--json FILE]

The session is made up (`bench/gear_store.py` says how its vectors come about): list functions, about ten
hypotheses a problem, each with 14,101 codes, and a journalled call an answer. It is written to FILE where
that is not there yet. The report runs in a process of its own: seconds, CPU seconds, the most memory it
held, the size of the page. Then a headless chromium opens the file so many times, each in a new context:
first paint and first contentful paint as the browser tells them, the time until the list stands and until
the whole file is read, all from the start of the navigation; then a search (the first reads every
problem's text), a filter, and the opening of a problem. Medians of all loads. No request leaves the page.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gear_store import FUNCTIONS, Answers
from peirce.records import CallKey, Observation, Outcome, Problem, Usage
from peirce.store import Store
from peirce.tasks.programs.list_functions import sample_space
from table import Row, add_json_option, write_rows, write_skipped

GOOD = 0.7  # the chance of a good answer; three bad ones end a problem: ten answers
WORDS = (
    "takes",
    "the",
    "larger",
    "elements",
    "of",
    "every",
    "second",
    "list",
    "and",
    "drops",
    "others",
)

REPORT = """
import json, pathlib, re, resource, sys, time
import peirce
start = time.perf_counter()
told = peirce.report(store=sys.argv[1], out=sys.argv[2])
used = resource.getrusage(resource.RUSAGE_SELF)
# The most resident memory of this program. ru_maxrss would include that of the process that forked it.
most = re.search(r"VmHWM:\\s*(\\d+)", pathlib.Path("/proc/self/status").read_text())
print(json.dumps({
    "seconds": time.perf_counter() - start,
    "cpu_s": used.ru_utime + used.ru_stime,
    "memory_mb": int(most[1]) / 1024,
    "problems": told["problems"],
    "page_mb": told["bytes"] / 1e6,
}))
"""

PAINTS = """() => {
  const at = Object.fromEntries(performance.getEntriesByType("paint").map((one) => [one.name, one.startTime]));
  const [navigation] = performance.getEntriesByType("navigation");
  return { first_paint: at["first-paint"], first_contentful_paint: at["first-contentful-paint"],
    list: window.listAt, whole: navigation.domContentLoadedEventEnd };
}"""
# The browser reports a paint after it is on the screen, which may be later than the list. The page permits
# no text to be run as code, so this is not left to `wait_for_function`.
PAINTED = """() => new Promise((done) => {
  const look = () => performance.getEntriesByType("paint").length === 2 ? done() : requestAnimationFrame(look);
  look();
})"""
# Notes when the list of problems has its first row.
LIST = """const look = () => {
  if (document.querySelector("#problems tbody tr")) window.listAt = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);"""


def problem(number: int) -> Problem:
    rng = random.Random(f"problem {number}")
    pairs: list[Observation] = []
    function = rng.choice(FUNCTIONS)
    while len(pairs) < 16:
        given = [rng.randrange(100) for _ in range(rng.randint(3, 10))]
        try:
            pairs.append(Observation(given, list(function(given))))
        except (IndexError, ZeroDivisionError, ValueError):
            function = rng.choice(FUNCTIONS)
    return Problem(f"list-{number}", "list_functions", "programs", tuple(pairs[:4]), tuple(pairs[4:]),
                   {}, {}, f"{number}")  # fmt: skip


def write(path: Path, problems: int) -> int:
    """Writes one session; returns the number of its answers. The file has its name once it is whole."""
    answers, over = Answers(), sample_space(0)
    draft = path.with_name(path.name + ".part")
    draft.unlink(missing_ok=True)
    some = [problem(number) for number in range(problems)]
    settings = {
        "task": "list_functions", "family": "programs", "method": "abduce", "model": "made up",
        "seed": 0, "answer_format": "tuple", "operational": {"observations": 4, "data": None},
    }  # fmt: skip
    with Store.open(draft, write=True) as store:
        session = store.create_session(settings, [(one, over) for one in some])
        count = asyncio.run(_record(store, session, some, answers))
        store.update_session(session, status="done", seconds=1.0)
    draft.replace(path)
    return count


async def _record(store: Store, session: str, some: list[Problem], answers: Answers) -> int:
    ledger, journal = store.ledger(session), store.journal(session)
    together = asyncio.Semaphore(64)

    async def one(problem: Problem) -> int:
        async with together:
            count = 0
            for record in answers.steps(problem, GOOD, f"report {problem.id}"):
                count += 1
                said = " ".join(random.Random(f"{problem.id} {count}").choices(WORDS, k=60))
                key = CallKey(session, problem.id, f"step/{count}/propose/0")

                async def answer(said: str = said) -> Outcome:
                    return Outcome(said, usage=Usage(900, 200), seconds=1.5)

                await journal.record_once(key, "model", {"messages": said}, answer)
                await ledger.record_step(record)
            await ledger.record_end(problem.id, "done", "cap" if count == 25 else "three_bad")
            return count

    return sum(await asyncio.gather(*(one(problem) for problem in some)))


def reported(store: Path, page: Path) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", REPORT, str(store), str(page)],
                          stdout=subprocess.PIPE, check=True, text=True)  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    return found


def load(browser: Any, page: Path) -> dict[str, float]:
    """Milliseconds of one load in a new context."""
    with browser.new_context(viewport={"width": 1300, "height": 900}) as context:
        tab = context.new_page()
        requests: list[str] = []
        tab.on("request", lambda one: requests.append(one.url))
        tab.add_init_script(LIST)
        tab.goto(page.as_uri(), wait_until="load", timeout=120_000)
        tab.wait_for_function("window.listAt !== undefined")
        tab.evaluate(PAINTED)
        found = dict(tab.evaluate(PAINTS))
        if requests != [page.as_uri()]:
            raise SystemExit(f"requests left the page: {requests[1:]}")

        def timed(act: str, until: str) -> float:
            """Both in the page, so that no round trip of the driver counts."""
            return float(tab.evaluate(f"""() => new Promise((done) => {{
              const start = performance.now();
              const look = () => ({until}) ? done(performance.now() - start) : requestAnimationFrame(look);
              {act};
              look();
            }})"""))  # fmt: skip

        counted = "document.querySelector('.count').textContent.includes(' of ')"
        typed = "box.dispatchEvent(new Event('input'))"
        box = "const box = document.getElementById('search')"
        found["first_search"] = timed(f"{box}; box.value = 'list-77'; {typed}", counted)
        timed(f"{box}; box.value = ''; {typed}", f"!({counted})")
        found["search"] = timed(f"{box}; box.value = 'function_12'; {typed}", counted)
        timed(f"{box}; box.value = ''; {typed}", f"!({counted})")
        chosen = "[...document.querySelectorAll('.filters select')].find((one) => [...one.options].some((o) => o.value === 'none'))"
        found["filter"] = timed(f"const it = {chosen}; it.value = 'malformed'; it.dispatchEvent(new Event('change'))", counted)  # fmt: skip
        found["open"] = timed("[...document.querySelectorAll('#problems tbody a')].slice(0, 41).at(-1).click()",
                              "document.querySelector('.problem h3')")  # fmt: skip
        return found


def loads(page: Path, count: int) -> dict[str, float]:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    with sync_playwright() as play:
        # As root, as in a container, chromium refuses its own sandbox.
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        found = [load(browser, page) for _ in range(count)]
        browser.close()
    return {name: statistics.median(one[name] for one in found) for name in found[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, metavar="FILE")
    parser.add_argument("--problems", type=int, default=2_000)
    parser.add_argument("--loads", type=int, default=5)
    add_json_option(parser)
    given = parser.parse_args()
    if importlib.util.find_spec("playwright") is None or shutil.which("chromium") is None:
        why = "it needs chromium (Debian's package of that name) and pip install 'peirce[test]'"
        write_skipped(given.json, why)
        return
    with tempfile.TemporaryDirectory() as folder:
        store = given.store or Path(folder) / "s.duckdb"
        if not store.exists():
            start = time.perf_counter()
            count = write(store, given.problems)
            print(
                f"{count:,} answers written in {time.perf_counter() - start:.0f} s", file=sys.stderr
            )
        page = Path(folder) / "report.html"
        made = reported(store, page)
        seen = loads(page, given.loads)
    print(f"{made['problems']:,} problems: {made['seconds']:.1f} s, {made['cpu_s']:.1f} s of CPU, "
          f"{made['memory_mb']:,.0f} MB, a page of {made['page_mb']:.1f} MB")  # fmt: skip
    for name, value in seen.items():
        print(f"  {name.replace('_', ' '):24}{value:8.0f} ms")
    work = f"the page of {made['problems']:,} problems"
    rows = [
        Row(f"{work}: peirce report", made["seconds"], "s"),
        Row(f"{work}: peirce report, CPU", made["cpu_s"], "s"),
        Row(f"{work}: peirce report, memory", made["memory_mb"], "MB"),
        Row(f"{work}: size", made["page_mb"], "MB"),
        *(Row(f"{work}: {name.replace('_', ' ')}", value, "ms") for name, value in seen.items()),
    ]
    write_rows(given.json, rows)


if __name__ == "__main__":
    main()

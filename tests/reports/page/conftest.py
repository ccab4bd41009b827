"""Sessions of every family, run once; and a browser, where there is one.

Playwright keeps an event loop in the thread that starts it, so that nothing there may run another one:
what tests of the browser look at is made by fixtures of the whole session, which come before, and the
browser is closed after each file.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import peirce
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # tests import what lies beside them
import page_runs

WAIT_MS = 60_000  # for a busy machine


@dataclass(frozen=True)
class Made:
    """Sessions by name in one store, and the page of all of them; beside it that of `lists` alone."""

    store: Path
    names: dict[str, str]
    file: Path

    def problems(self, name: str) -> list[Any]:
        return peirce.load(self.names[name], store=self.store).problems

    def steps(self, name: str) -> list[Any]:
        return peirce.load(self.names[name], store=self.store).steps


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("page")
    names = page_runs.sessions(folder)
    told = peirce.report(*names.values(), store=folder / "s.duckdb", out=folder / "all.html")
    peirce.report(names["lists"], store=folder / "s.duckdb", out=folder / "one.html")
    return Made(folder / "s.duckdb", names, Path(told["file"]))


@dataclass
class Tab:
    """A page of the browser, and what it said and asked for."""

    page: Any
    said: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(WAIT_MS)
        self.page.on("console", lambda told: self.said.append(f"{told.type}: {told.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self._dialog)

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def goto(self, file: Path, hash_: str = "") -> Tab:
        self.page.goto(file.as_uri() + hash_)
        self.page.wait_for_selector("#problems tbody tr")
        return self

    def open(self, session: str, problem: str) -> None:
        """By its address; until it is drawn."""
        self.page.evaluate(
            "address => { location.hash = address }",
            f"#problem/{session}/{quote(problem, safe='')}",
        )
        self.page.wait_for_function("([session, name]) => { const one = document.querySelector('.problem'); return one"
                                    " && one.querySelector('h3').textContent === name && one.querySelector('code').textContent === session }",
                                    arg=[session, problem])  # fmt: skip

    def unfold(self) -> None:
        """Opens all that is folded, also what was drawn only then."""
        self.page.evaluate("""async () => {
          for (let left = 1; left;) {
            const shut = [...document.querySelectorAll("details:not([open])")];
            left = shut.length;
            shut.forEach((one) => { one.open = true; });
            await new Promise((done) => setTimeout(done, 30));
          }
        }""")

    def all(self, selector: str, script: str = "one => one.textContent") -> list[Any]:
        return list(
            self.page.evaluate(
                f"selector => [...document.querySelectorAll(selector)].map({script})", selector
            )
        )

    def count(self, selector: str) -> int:
        return len(self.all(selector, "one => 1"))

    def choose(self, label: str, value: str) -> None:
        """An option of the list that has this label."""
        labels = self.page.locator("label").filter(has=self.page.locator("select")).all()
        (one,) = [
            one for one in labels if one.evaluate("one => one.firstChild.textContent") == label
        ]
        one.locator("select").select_option(value)

    def search(self, words: str) -> list[str]:
        """What is listed then."""
        self.page.fill("#search", words)
        self.page.wait_for_selector(".scroll.list:not([aria-busy])")
        return self.listed()

    def listed(self) -> list[str]:
        return self.all(".list tbody th a")

    def counted(self) -> str:
        return str(self.page.text_content("#problems .count"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip(
            "NO CHROMIUM HERE: THE PAGE IS NOT TESTED IN A BROWSER (apt-get install chromium)"
        )
    playwright = pytest.importorskip(
        "playwright.sync_api",
        reason="NO PLAYWRIGHT HERE: THE PAGE IS NOT TESTED IN A BROWSER (pip install playwright)",
    )
    with playwright.sync_playwright() as play:
        # As root, as in a container, chromium refuses its own sandbox.
        one = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield one
        one.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Callable[..., Tab]]:
    """tab(**options of the context) -> a new page, which has nothing of another."""
    opened = []

    def new(**options: Any) -> Tab:
        context = browser.new_context(**{"viewport": {"width": 1300, "height": 900}, **options})
        opened.append(context)
        return Tab(context.new_page())

    yield new
    for context in opened:
        context.close()

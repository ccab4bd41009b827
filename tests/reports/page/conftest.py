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

import peirce
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # tests import what lies beside them
import page_runs
from page_tab import Tab


@dataclass(frozen=True)
class Made:
    """Sessions by name in one store, and the page of all of them; beside it that of `lists` alone."""

    store: Path
    names: dict[str, str]
    file: Path
    outcomes: dict[str, Any]
    loaded: dict[str, Any] = field(default_factory=dict)  # what was read from the store

    def problems(self, name: str) -> list[Any]:
        return self._load(name).problems

    def steps(self, name: str) -> list[Any]:
        return self._load(name).steps

    def _load(self, name: str) -> Any:
        if name not in self.loaded:
            self.loaded[name] = peirce.load(self.names[name], store=self.store)
        return self.loaded[name]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("page")
    outcomes = page_runs.sessions(folder)
    names = {name: outcome.session for name, outcome in outcomes.items()}
    told = peirce.report(*names.values(), store=folder / "s.duckdb", out=folder / "all.html")
    peirce.report(names["lists"], store=folder / "s.duckdb", out=folder / "one.html")
    return Made(folder / "s.duckdb", names, Path(told["file"]), outcomes)


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


@pytest.fixture(scope="module")
def shared_tab(browser: Any) -> Iterator[Callable[[Path], Tab]]:
    """shared_tab(file) -> the page of a file, which is loaded once for the tests of a module that leave
    it as it was or set what they look at."""
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    opened: dict[Path, Tab] = {}

    def find(file: Path) -> Tab:
        if file not in opened:
            opened[file] = Tab(context.new_page()).goto(file)
        return opened[file]

    yield find
    context.close()


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

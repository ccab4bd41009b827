"""The page of a session on laws: its figures stand open beside the best law, and say what they show."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import peirce
import pytest
from page_tab import Tab

ANSWERS = ["period = 1.9", "period = 2 * sqrt(length)", "period = 2 * sqrt(length) + where(length > 3.06, exp(length) - exp(3.06), 0)"]  # fmt: skip


@pytest.fixture(scope="session", autouse=True)  # before the browser and its loop
def file(tmp_path_factory: pytest.TempPathFactory, made: Any) -> Path:
    folder = tmp_path_factory.mktemp("laws")
    rows = [f"{0.1 + i / 20:.2f},{'ab'[i % 2]},{i % 5},{2 * math.sqrt(0.1 + i / 20) + (i * 37 % 11 - 5) / 500:.4f}" for i in range(60)]  # fmt: skip
    (folder / "t.csv").write_text("\n".join(["length [m],bob,day,period [s]", *rows]) + "\n")
    (folder / "answers.json").write_text(json.dumps({"*": ANSWERS}))
    store = folder / "s.duckdb"
    outcome = peirce.run("laws", data=folder / "t.csv", target="period [s]", store=store,
                         model=f"scripted:{folder / 'answers.json'}")  # fmt: skip
    return Path(peirce.report(outcome.session, store=store, out=folder / "r.html")["file"])


@pytest.fixture
def page(tab: Any, file: Path) -> Tab:
    opened = tab().goto(file)
    opened.page.wait_for_selector("#overview .drawings svg")
    return opened


def test_the_figures_of_the_first_problem_are_open_and_need_no_network(page: Tab) -> None:
    assert page.all(".drawings figcaption") == [
        "Fit: measured against predicted", "Size against error", "Extrapolation of rival laws",
        "Residuals: measured − predicted",
    ]  # fmt: skip
    assert not page.said and all(one.startswith(("file:", "data:")) for one in page.requests)


def test_each_figure_says_what_it_shows(page: Tab) -> None:
    told = page.all(".drawings svg", "one => one.getAttribute('aria-label')")
    assert told[0].startswith("Fit: measured against predicted: 60 rows; the law 2 · √(length)")
    assert "chosen: 2 · √(length) with size 4 and error 0.0" in told[1]
    assert "along length [m], within and beyond the shown range" in told[2]
    assert len(set(page.all(".drawings .drawings, .drawings summary"))) == 4


def test_the_marks_of_the_front_have_the_formulas(page: Tab) -> None:
    front = page.all(".drawings > *:nth-child(2) circle", "one => one.textContent")
    assert front[-1].startswith(
        "2 · √(length) (chosen law): size of the law 4, root mean square error [s] 0.0"
    )
    assert front[0].startswith("1.9: size of the law 1,")


def test_residuals_can_be_drawn_against_a_column(page: Tab) -> None:
    page.choose("against", "2")
    labels = page.all(".drawings > *:nth-child(4) svg text")
    assert "day" in labels
    page.choose("against", "1")
    labels = page.all(".drawings > *:nth-child(4) svg text")
    assert {"a", "b", "bob"} <= set(labels)
    page.page.locator(".drawings > *:nth-child(4) summary").click()
    cells = page.page.locator(".drawings > *:nth-child(4) tbody td")
    cells.first.wait_for()  # an opened part is filled by an event that comes after the click
    assert cells.first.text_content() in ("a", "b")


def test_an_opened_problem_has_its_figures_too(page: Tab) -> None:
    page.page.locator("#problems tbody th a").first.click()
    page.page.locator(".problem details.drawn > summary").click()
    page.page.wait_for_selector(".problem .drawings svg")
    assert page.count(".problem .drawings figcaption") == 4


def test_the_predictions_of_rival_laws_are_numbers(page: Tab) -> None:
    (told,) = page.all("#overview .disagreement")
    first, second = re.fullmatch(r"For .*, 1 predicts ([\d.]+) and 2 predicts ([\d.]+)\.", told.strip()).groups()  # fmt: skip
    assert float(second) - float(first) > 1


@pytest.mark.parametrize("width", [1280, 420])
def test_nothing_of_a_figure_is_cut(page: Tab, width: int) -> None:
    page.page.set_viewport_size({"width": width, "height": 900})
    outside = page.all(
        ".drawings svg text",
        """one => { const [box, frame] = [one, one.ownerSVGElement].map((each) => each.getBoundingClientRect());
        return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1; }""",
    )
    assert outside and not any(outside)
    assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")

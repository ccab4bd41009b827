"""Effects and telling texts on the page: what stands there, what is marked, and that texts stay texts."""

from __future__ import annotations

import json

import peirce
import pytest
from peirce.agents.scripted import ScriptedProposer

RAIN = 'If the text mentions "rain", the label is wet.'
EVIL = "<img src=x onerror='window.hit = 1'> </script><script>window.hit = 2</script>"


def rows(split, count):
    for n in range(count):
        word = "rain" if n % 2 else "sun"
        yield {"text": f"{word} on {split} day {n} {EVIL}", "label": "wet" if (n % 5 > 0) == (n % 2 > 0) else "dry"}  # fmt: skip


@pytest.fixture(scope="session", autouse=True)  # before the browser and its loop
def page_of_effects(tmp_path_factory):
    folder = tmp_path_factory.mktemp("effects")
    for split, count in (("train", 20), ("test", 60)):
        listed = list(rows(split, count))
        (folder / "sky").mkdir(exist_ok=True)
        (folder / "sky" / f"{split}.jsonl").write_text("\n".join(map(json.dumps, listed)))
    store = folder / "s.duckdb"
    peirce.run(
        "labels", data=folder / "sky", method="abduce", observations=20, store=store,
        model=ScriptedProposer([f"1. {RAIN}"]), judge="exact", max_answers=1,
    )  # fmt: skip
    (row,) = (one for one in peirce.bank(effects=True, store=store) if one.text == RAIN)
    peirce.report(store=store, out=folder / "page.html")
    return folder / "page.html", row.effects[0]


def opened(tab, path):
    page = tab().goto(path)
    page.page.locator("summary", has_text="Effects and telling texts").first.click()
    page.page.locator(".effects").first.wait_for()
    return page


def test_a_sentence_has_its_odds_ratio_and_three_texts_on_each_side(tab, page_of_effects):
    path, effect = page_of_effects
    page = opened(tab, path)
    item = page.page.locator(".effects > ol > li", has_text=RAIN).first
    told = item.inner_text()
    ratio = effect.odds_ratio
    assert f"odds ratio {ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]" in told
    assert effect.coverage == 0.5
    assert "applies to 50% of 60 test rows" in told
    assert "within length" in told
    for place, side in enumerate((effect.supporting, effect.contradicting)):
        texts = item.locator(".telling").nth(place).locator("li")
        assert texts.count() == len(side) == 3
        assert [f"test {one.row}" in text for one, text in zip(side, texts.all_inner_texts(), strict=True)]  # fmt: skip
    assert set(item.locator("strong.match").all_inner_texts()) == {"rain"}
    assert page.said == []


def test_a_text_that_is_html_stays_a_text(tab, page_of_effects):
    path, effect = page_of_effects
    assert all(EVIL in "".join(one.pieces["text"]) for one in effect.supporting)
    page = opened(tab, path)
    assert page.page.locator(".telling").first.inner_text().count(EVIL) == 3
    assert page.page.evaluate("window.hit") is None
    assert page.page.locator("main img").count() == 0


def test_the_page_of_the_problem_has_the_effects_too(tab, page_of_effects):
    page = tab().goto(page_of_effects[0])
    page.page.get_by_role("link", name="sky#0").first.click()
    page.page.locator(".problem .effects").first.wait_for()
    assert "odds ratio" in page.page.locator(".problem .effects").first.inner_text()

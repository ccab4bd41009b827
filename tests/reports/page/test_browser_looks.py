"""How the page looks where a picture of it was poor once: nothing cut, squeezed or told twice."""

from __future__ import annotations

import re

import peirce
import pytest
from page_sessions import small_problem, write

TRUTHS = ('If math is "A", the label is "admitted"; otherwise, it is not.', "a, b")


@pytest.fixture(scope="session", autouse=True)  # before the browser and its loop
def known(tmp_path_factory, made):
    """Two sessions that are alike, whose problem has known truths, and one of another task; their page,
    and beside it that of `texts` alone."""
    folder = tmp_path_factory.mktemp("known")
    problem = small_problem("one", secret={"truths": list(TRUTHS), "few": ["a,b", "c"]})
    store = folder / "s.duckdb"
    sessions = [
        write(store, [(problem, [])], settings={"task": task})
        for task in ("list_functions", "list_functions", "acre")
    ]
    peirce.report(*sessions, store=store, out=folder / "r.html")
    peirce.report(made.names["texts"], store=made.store, out=folder / "one.html")
    return sessions, folder / "r.html"


@pytest.fixture
def page(shared_tab, made):
    one = shared_tab(made.file)
    yield one
    one.page.emulate_media(media="screen")


def test_the_list_of_several_sessions_shows_all_its_columns(page, made):
    """Each row names its session, and the metric at the right is not behind a scroll bar."""
    wide = page.all(".scroll.list", "one => [one.scrollWidth, one.clientWidth]")
    assert wide[0][0] <= wide[0][1]
    assert {row[:4] for row in page.all(".list tbody th small")} == {
        "list", "acre", "mini", "arc ", "abd ", "labe",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["texts", "fields"])
def test_no_label_of_a_table_is_broken(page, made, name):
    page.open(made.names[name], made.problems(name)[0].id)
    lines = page.all(
        ".records td:last-child .value",
        "one => { const range = document.createRange(); range.selectNodeContents(one); return range.getClientRects().length }",
    )
    assert lines and set(lines) == {1}
    broken = page.all(".records td .value", "one => getComputedStyle(one).overflowWrap")
    assert set(broken) == {"break-word"}


def test_a_hypothesis_stands_in_the_line_of_its_verdict(page, made):
    page.open(made.names["scripted"], "gen0-0")
    assert set(page.all(".hypotheses .title", "one => getComputedStyle(one).display")) == {"inline"}


def test_a_reason_is_told_once(page, made):
    page.open(made.names["scripted"], made.problems("scripted")[0].id)
    page.unfold(".problem")
    said = page.all(".hypotheses > li.malformed", "one => one.innerText")
    (told,) = {
        one.reason for step in made.steps("scripted") for answer in step.answers
        for one in answer.judged if one.verdict == "malformed"
    }  # fmt: skip
    assert said and all(text.count(told) == 1 for text in said)


def test_a_hypothesis_has_the_tool_calls_of_its_step(page, made):
    name = made.problems("scripted")[0].id
    page.open(made.names["scripted"], name)
    page.unfold(".problem")
    asked = page.all(
        ".hypotheses > li",
        "one => [...one.querySelectorAll('.asked li')].map((call) => [...call.children].map((part) => part.innerText).join('\\n'))",
    )
    assert [len(calls) for calls in asked] == [0, 1, 0, 0][: len(asked)]
    (call,) = asked[1]
    assert "def f(x):\n    return x[::-1]" in call and "step/2/propose/0/tool/0" in call
    assert call.startswith("execute") and '"consistent"' in call  # what it was given, and gave
    # Pictures and texts of calls are never in a column that is squeezed.
    assert page.count(".problem td pre") == 0
    order = page.all(".problem > details:last-child tbody th")
    steps = [int(path.split("/")[1]) for path in order]
    assert steps == sorted(steps)


def test_worlds_stand_side_by_side(page, made):
    page.open(made.names["worlds"], "large")
    tops = page.all(".observations.worlds > li", "one => one.getBoundingClientRect().top")
    assert len(tops) > len(set(tops))


def test_what_is_folded_in_the_overview_has_a_name_of_its_own(page):
    """A running session's page is drawn again and again, and opens by name what was open."""
    told = page.all(
        "#overview summary", "one => [one.closest('li[id]')?.id ?? '', one.textContent]"
    )
    names = [(item, re.sub(r"[\d,]+", "", text)) for item, text in told]
    assert len(names) > 10 and len(names) == len(set(names))


def test_keys_and_verdicts_keep_their_colours_on_paper(page, made):
    page.open(made.names["lists"], "gen0-0")
    page.page.emulate_media(media="print")
    kept = page.all(".key", "one => getComputedStyle(one, '::before').printColorAdjust")
    assert set(kept) == {"exact"}


def test_an_open_hypothesis_may_go_on_on_the_next_sheet(page, made):
    page.open(made.names["scripted"], "gen0-0")
    page.page.emulate_media(media="print")
    assert set(page.all(".hypotheses > li", "one => getComputedStyle(one).breakInside")) == {"auto"}


def test_sessions_that_are_alike_are_named_by_task_and_once_by_id(known, tab):
    """Beside a session of another task a model's name and an id do not say what was run."""
    (one, two, _other), file = known
    page = tab().goto(file)
    names = [f"list_functions · abduce · made up ({session})" for session in (two, one)]
    assert page.all("#compare form > label:first-child option") == [" − ".join(names)]
    assert names[1] in page.all("#overview table:not(.metrics) tbody th")


def test_sentences_that_are_known_to_be_true_are_a_list(known, tab):
    """They have commas and quotes: as JSON they cannot be read."""
    sessions, file = known
    page = tab().goto(file)
    page.open(sessions[0], "one")
    assert tuple(page.all(".problem .texts li")) == TRUTHS
    assert '["a,b","c"]' in page.page.text_content(".problem")  # short: as it stands


def test_metrics_of_one_session_leave_its_figures_their_room(known, tab):
    """Also where many metrics have no value, which a long line says."""
    page = tab().goto(known[1].with_name("one.html"))
    wide = page.all(".beside > div", "one => one.getBoundingClientRect().width")
    assert wide[1] > wide[0]

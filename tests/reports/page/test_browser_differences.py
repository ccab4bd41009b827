"""Marks in the texts of the task `examples`: what of an output is new, where a prediction is wrong. Marked
or not, each text stands on the page as it is."""

from __future__ import annotations

import peirce
import pytest
from hostile_texts import HOSTILE, shown
from page_sessions import judged, steps, write
from peirce.records import Observation, Problem

NEW = {  # input, output: the pieces of the output that are not copied
    "initials": ("Ada Lovelace", "A. Lovelace", ["."]),
    "swapped": ("2024-03-15", "15/03/2024", ["/", "/"]),
    "slug": ("Hello World", "hello-world", ["h", "-w"]),
    "upper": ("abc", "ABC", ["ABC"]),
    "equal": ("same", "same", []),
    "emptied": ("gone", "", []),
    "from nothing": ("", "new", ["new"]),
    "emoji": ("👩‍🔬 lab", "lab 👩‍🔬👩‍🔬", [" "]),
    "family": ("👨‍👩‍👧 x", "👩 x", ["👩"]),
    "accents": ("cafe\u0301 noir", "noir cafe", [" ", "e"]),
    "right to left": ("שלום עולם", "עולם, שלום", [", "]),
    "markup": ("<b>bold</b> text", "<i>bold</i>", ["<i", "i>"]),
    "lines": ("first\nsecond", "second\n\nfirst", ["\n\n"]),
    "padded": (5, "005", ["00"]),
    "arguments": (["a.b", 1, "zzz"], "zzz: a.b", [": "]),
    "fields": ({"first": "Ann", "last": "Lee"}, "Lee, Ann!", [", ", "!"]),
    "long": ("word " * 500, "word! " * 400, []),
}
WRONG = {  # wanted, predicted: the marked pieces of both
    "a letter too few": ("A. Lee", "A Lee", ["."]),
    "a letter too many": ("A Lee", "A. Lee", ["."]),
    "in the middle": ("2024-03-15", "2024/03/15", ["-03-", "/03/"]),
    "repeated": ("aab", "ab", ["a"]),
    "empty": ("", "x", ["x"]),
    "all": ("yes", "", ["yes"]),
    "an accent": ("cafe\u0301", "cafe", ["e\u0301", "e"]),
    "markup": ("<b>x</b>", "<i>x</i>", ["b>x</b", "i>x</i"]),
}
PIECES = "one => [...one.querySelectorAll('.observations > li:first-child ins, .records tr:first-child ins')].map((one) => one.textContent)"


def example(name, pairs, hidden=(), task="examples"):
    return Problem(name, task, "programs", pairs, hidden)


@pytest.fixture(scope="session")
def marked(tmp_path_factory):
    """The page of problems with such pairs, and its session."""
    folder = tmp_path_factory.mktemp("differences")
    problems = [
        example(name, (Observation(given, output),)) for name, (given, output, _) in NEW.items()
    ]
    problems += [example("other task", (Observation("ab", "abc"),), task="own")]
    records = [(one, steps(one, ("I say", judged(one, "def f(x): ...")))) for one in problems]
    for name, (wanted, predicted, _) in {**WRONG, "kinds": ("12", 12, [])}.items():
        one = example(
            f"wrong {name}", (Observation("a", "a"),), (Observation("something else", wanted),)
        )
        records.append((one, steps(one, ("I say", judged(one, "def f(x): ...", value=predicted)))))
    for number, text in enumerate(HOSTILE):
        one = example(
            f"hostile {number}", (Observation("x", text),), (Observation(text, f"{text}!"),)
        )
        records.append((one, steps(one, ("I say", judged(one, "def f(x): ...", value=text)))))
    session = write(folder / "s.duckdb", records)
    peirce.report(session, store=folder / "s.duckdb", out=folder / "page.html")
    return folder / "page.html", session


@pytest.fixture(scope="module")
def page(shared_tab, marked):
    return shared_tab(marked[0])


@pytest.mark.parametrize("name", NEW)
def test_what_an_output_does_not_copy_from_its_input_is_marked(page, marked, name):
    page.open(marked[1], name)
    (drawn,) = page.all(".problem > details.pairs", PIECES)
    assert drawn == NEW[name][2]
    text = page.all(".problem > details.pairs")[0]
    for one in NEW[name][:2]:
        if isinstance(one, str):
            assert (one or "(empty text)") in text
    assert ("Underlined: not copied from the input." in text) == bool(drawn)
    assert page.said == []


def test_outputs_of_other_tasks_have_no_marks(page, marked):
    page.open(marked[1], "other task")
    page.unfold(".problem")
    assert "abc" in page.all(".problem")[0] and page.count(".problem ins, .problem mark") == 0


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_prediction_and_its_output_are_marked_where_they_differ(page, marked, name):
    page.open(marked[1], f"wrong {name}")
    page.unfold(".problem")
    wanted, predicted, pieces = WRONG[name]
    assert page.all(".problem .failing mark") == pieces
    cells = page.all(".problem .failing tbody td")
    assert cells[1:] == [wanted or "(empty text)", predicted or "(empty text)"]
    assert "Framed: from the first to the last difference" in page.all(".problem")[0]


def test_a_number_that_looks_like_the_text_is_told_from_it(page, marked):
    page.open(marked[1], "wrong kinds")
    page.unfold(".problem")
    assert page.all(".problem .failing tbody td")[1:] == ["12 (text)", "12 (number)"]


def test_marks_are_seen_without_colour_and_read_aloud(page, marked):
    page.open(marked[1], "initials")
    look = "one => [getComputedStyle(one).textDecorationLine, getComputedStyle(one, '::before').content, getComputedStyle(one, '::before').position]"
    assert page.all(".problem ins", look)[0] == ["underline", '" new: "', "absolute"]
    page.open(marked[1], "wrong in the middle")
    page.unfold(".problem")
    look = look.replace("textDecorationLine", "outlineStyle")
    assert page.all(".problem .failing mark", look)[0] == ["solid", '" different: "', "absolute"]


def test_hostile_texts_are_marked_and_not_obeyed(page, marked):
    for number, text in enumerate(HOSTILE):
        page.open(marked[1], f"hostile {number}")
        page.unfold(".problem")
        cells = page.all(".problem .failing tbody td")
        assert cells == [shown(text), shown(f"{text}!"), shown(text)]
        assert shown(text) in page.all(".problem .observations > li")[0]
    assert page.page.evaluate("() => window.hit ?? null") is None
    assert (page.dialogs, page.said, page.requests) == ([], [], [marked[0].as_uri()])


def test_the_evidence_of_a_finding_is_marked_too(page, marked):
    page.page.evaluate("() => { location.hash = '' }")
    page.unfold()
    page.page.wait_for_selector("#overview .observations ins")
    assert page.count("#overview mark") > 0
    assert any("not copied" in one for one in page.all("#overview .legend"))

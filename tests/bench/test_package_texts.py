"""The labelled sets from installed packages: what the texts lose, how rows are divided, and that
`labels` reads what is written.

Not covered: what the packages of a machine give; the tests have packages of their own."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest
from peirce.tasks import load_task

LABELS = ("old", "new")


@pytest.fixture
def texts(bench: Path):
    pytest.importorskip("sklearn", reason="PACKAGE TEXTS NOT TESTED: scikit-learn absent")
    import package_texts

    return package_texts


@pytest.fixture
def sources(bench: Path):
    import text_sources

    return text_sources


def word(number: int) -> str:
    return "".join(chr(97 + int(digit)) for digit in str(number))


def many_rows(texts, sources: int = 60, each: int = 100):
    return [
        texts.Row((f"{word(number)} text of {word(source)}",), LABELS[number % 2], f"s{source}", f"{source}/{number // 3}")
        for source in range(sources)
        for number in range(each)
    ]  # fmt: skip


def module(sources, code: str):
    return sources.Module("pack", Path("pack/shape.py"), ast.parse(code))


def test_a_docstring_loses_signature_doctest_and_the_names_of_function_module_and_package(sources):
    code = '''
def _area(side):
    """_area(side) -> number

    Return the area of a shape of the pack; area is in metres.
    >>> _area(2)
    """
def area(side):
    """Return twice what the other function returns."""
def __init__(self):
    """Never one of the rows, whatever it says here."""
'''
    assert [
        (row.texts[0], row.label) for row in sources.find_docstrings(module(sources, code))
    ] == [
        ("Return the of a of the ; is in metres.", "private"),
        ("Return twice what the other function returns.", "public"),
    ]


def test_messages_keep_their_words_and_no_values(sources):
    code = """
raise ValueError(f"the size {size} must be a number")
raise TypeError("%s is not " % name + "a list of names")
raise KeyError(name)
raise ValueError("cannot read {0} of this".format(name))
"""
    found = [(row.texts[0], row.label) for row in sources.find_messages(module(sources, code))]
    assert found == [
        ("the size … must be a number", "ValueError"),
        ("… is not a list of names", "TypeError"),
        ("cannot read … of this", "ValueError"),
    ]


def test_a_manual_page_loses_macros_its_name_and_its_sections(sources):
    roff = r""".TH FROB 8
.SH NAME
frob \- frobs all of the things that there are here
.SH DESCRIPTION
The \fBfrob\fR command
.B reads
the file of \fIinit\fP(8), line by line.
.PP
Too short.
.SH "SEE ALSO"
All that is said about the command of this page elsewhere.
"""
    assert sources.manual_paragraphs(roff, "frob") == [
        "The command reads the file of init, line by line."
    ]
    assert sources.manual_paragraphs(".so man8/other.8\n", "frob") == []


def test_a_text_is_cut_after_a_sentence(sources):
    text = "One two three. " * 80
    cut = sources.cut_text(text)
    assert len(cut.split()) == 198 and cut.endswith("three.")
    assert len(sources.cut_text("word " * 500).split()) == 200


def test_splits_are_balanced_and_other_sources_are_out_of_distribution(texts):
    rows = texts.select_rows(many_rows(texts), LABELS, 0)
    splits = texts.split_rows(rows, LABELS, 0)
    assert texts.describe_shortage(splits, LABELS) is None
    assert (len(splits["test"]), len(splits["val"])) == (1_000, 500)
    for some in splits.values():
        assert len(set(Counter(row.label for row in some).values())) == 1
    own = [row for name in ("train", "val", "test") for row in splits[name]]
    assert not {row.source for row in own} & {row.source for row in splits["ood"]}
    groups = [{row.group for row in splits[name]} for name in ("train", "val", "test")]
    assert sum(map(len, groups)) == len(set().union(*groups))
    texts_of = [row.texts for some in splits.values() for row in some]
    assert len(texts_of) == len(set(texts_of))
    assert splits == texts.split_rows(rows, LABELS, 0) != texts.split_rows(rows, LABELS, 1)


def test_a_text_stands_once_whatever_its_case_and_numbers(texts):
    rows = [texts.Row((text,), "old", "s", text) for text in ("A text 1.", "a TEXT, 2", "other")]
    assert len(texts.select_rows(rows, LABELS, 0)) == 2


def test_the_part_of_a_source_depends_on_its_name_and_the_seed_alone(texts):
    parts = [texts.part_of(f"s{number}", 0) for number in range(400)]
    assert 150 < parts.count("dev") < 250
    assert parts != [texts.part_of(f"s{number}", 1) for number in range(400)]
    assert parts == [texts.part_of(f"s{number}", 0) for number in range(400)]


def test_pairs_are_of_one_source_and_say_which_text_is_which(texts):
    rows = many_rows(texts, sources=2, each=20)
    label_of = {row.texts[0]: row.label for row in rows}
    pairs = list(texts.pair_rows(rows, "new", 0))
    assert len(pairs) == 20 and {row.label for row in pairs} == {"first", "second"}
    for row in pairs:
        first, second = (label_of[text] for text in row.texts)
        assert (first, second) == (("new", "old") if row.label == "first" else ("old", "new"))
        assert {text.split()[-1] for text in row.texts} == {word(int(row.source[1:]))}
    entries = [texts.ChangelogEntry("s", "low", f"entry {word(number)}") for number in range(20)]
    place = {one.text: number for number, one in enumerate(entries)}
    for row in texts.pair_entries(entries, 0):
        newer_first = (
            place[row.texts[0]] < place[row.texts[1]]
        )  # a changelog begins with the newest
        assert row.label == ("first" if newer_first else "second")


def test_too_few_rows_are_named(texts):
    splits = texts.split_rows(many_rows(texts, sources=3), LABELS, 0)
    assert "of 400 train rows" in texts.describe_shortage(splits, LABELS)


@pytest.mark.parametrize("pair", [False, True])
def test_labels_reads_a_written_set_with_its_splits(texts, tmp_path, pair):
    rows = many_rows(texts)
    labels = LABELS
    if pair:
        rows, labels = list(texts.pair_rows(rows, "new", 0)), ("first", "second")
    splits = texts.split_rows(rows, labels, 0)
    one = texts.TextSet("made", "About.", labels, lambda: rows)
    texts.save_data_sets([texts.make_data(one, splits, with_source=False)], tmp_path / "sets")
    (problem,) = load_task("labels").load(str(tmp_path / "sets" / "made"), "200", 0)
    assert problem.public["shape"] == ("pair" if pair else "text")
    assert tuple(problem.public["labels"]) == labels
    sizes = {name: stop - start for name, (start, stop) in problem.secret["splits"].items()}
    assert sizes == {"val": 500, "ind": 1_000, "ood": len(splits["ood"])}
    made = texts.make_data(one, splits, with_source=True)
    assert made.splits["ood"][0].input["source"] == splits["ood"][0].source

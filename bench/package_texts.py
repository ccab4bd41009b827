"""Build labelled text sets from what comes with Python, installed packages and the operating system.

    python bench/package_texts.py OUT                      # OUT/dev/SET and OUT/final/SET
    python bench/package_texts.py OUT --part dev           # only the sets for development
    python bench/package_texts.py OUT --measure            # also accuracies of baselines on OUT/dev

| set | a text is | the label comes from |
|---|---|---|
| docstrings | the docstring of a function | the name of the function: private if it begins with `_` |
| documents | one sentence of a README, NEWS or licence file | the name of the file |
| urgency | one entry of a Debian changelog | the entry's field `urgency` |
| errors | the message of a `raise` statement | the exception class |
| manual | a paragraph of a manual page | the section of the manual, 1 or 8 |
| docstring_pairs | two docstrings of one package | which of the two functions is public |
| changelog_pairs | two changelog entries of one package | which of the two is newer |

The source of a row is the package it comes from. The sources are divided into two halves by a hash of
their names, so the parts dev and final share no source, whatever else is installed. Within a part,
the out-of-distribution rows (`ood`) come from other sources than training, validation and test rows.
Rows of one manual page are all in the same split. Every split has the same number of rows for each
label. No two texts of a set, both parts together, have the same letters. The same seed and the same
machine give the same sets; other machines have other texts.

bench/text_sources.py finds the texts, keeps labels out of them, and says what it does not cover. A set
for which the machine has too few texts is left out with a sentence that says so. The texts belong to
their authors; the sets are built where they are needed and are not published.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from peirce.records import Observation, Problem
from peirce.reports.papers.hypobench.baselines import score_baselines
from peirce.tasks import load_task
from peirce.tasks.text.columns import Columns
from peirce.tasks.text.data_set_files import check_target_folder, save_data_sets
from peirce.tasks.text.problems import LabelledData
from text_sources import (
    KINDS,
    ChangelogEntry,
    Row,
    draw,
    find_changelog_entries,
    find_docstrings,
    find_document_sentences,
    find_manual_paragraphs,
    find_messages,
    find_python_files,
    letters_of,
    parse_modules,
    python_folders,
)

PARTS = ("dev", "final")
SEED = 38  # of 60 seeds the one whose halves have the most equal numbers of rows; nothing else was compared
MOST_TRAINING, TEST, VALIDATION = 6_000, 1_000, 500
OOD = (500, 1_000)  # fewest and most
LEAST_TRAINING = 400
PER_SOURCE = 400  # rows of one label


@dataclass(frozen=True)
class TextSet:
    """A set and how its rows are found.

    Args:
        name: Name of the set.
        about: What a row is and what its label says, in a sentence.
        labels: The labels.
        find_rows: Returns all rows, in any order.
    """

    name: str
    about: str
    labels: tuple[str, ...]
    find_rows: Callable[[], Iterable[Row]]


# --- the sets -------------------------------------------------------------------


def pair_rows(rows: Iterable[Row], first_label: str, seed: int) -> Iterator[Row]:
    """Pair rows of different labels within each source; "first" if the first has `first_label`."""
    by_source: dict[str, dict[bool, list[Row]]] = defaultdict(lambda: {True: [], False: []})
    for row in rows:
        by_source[row.source][row.label == first_label].append(row)
    for source in sorted(by_source):
        own, other = (
            sorted(by_source[source][one], key=lambda row: draw(seed, "pair", row.texts))
            for one in (True, False)
        )
        for one, two in zip(own, other, strict=False):
            texts = (*one.texts, *two.texts)
            swapped = draw(seed, "order", texts) % 2 == 1
            text = texts[::-1] if swapped else texts
            yield Row(text, "second" if swapped else "first", source, one.group)


def pair_entries(entries: Iterable[ChangelogEntry], seed: int) -> Iterator[Row]:
    """Pair random entries of one package; "first" if the first text is the newer one."""
    by_source: dict[str, list[str]] = defaultdict(list)
    for one in entries:
        by_source[one.source].append(one.text)
    for source, texts in sorted(by_source.items()):
        places = sorted(range(len(texts)), key=lambda place: draw(seed, source, texts[place]))
        for one, two in zip(places[::2], places[1::2], strict=False):
            yield Row(
                (texts[one], texts[two]),
                "first" if one < two else "second",
                source,
                source + texts[one],
            )


def list_sets(folders: Sequence[Path], seed: int) -> list[TextSet]:
    """Return all sets; the Python sources and the changelogs are read once."""
    docstrings: list[Row] = []
    messages: list[Row] = []
    for module in parse_modules(find_python_files(folders, seed)):
        docstrings += find_docstrings(module)
        messages += find_messages(module)
    entries = list(find_changelog_entries())
    classes = ("ValueError", "TypeError")
    urgencies = ("low", "medium")
    return [
        TextSet("docstrings", "Docstrings of Python functions; the label says whether the function is"
                " private or public.", ("private", "public"), lambda: docstrings),
        TextSet("documents", "Sentences from the files of packages; the label says what kind of file it"
                " is.", tuple(KINDS), lambda: find_document_sentences(folders)),
        TextSet("urgency", "Entries of Debian changelogs; the label is the urgency of the upload.",
                urgencies, lambda: [Row((e.text,), e.urgency, e.source, e.text) for e in entries]),
        TextSet("errors", "Error messages of Python packages; the label is the class of the exception.",
                classes, lambda: messages),
        TextSet("manual", "Paragraphs of manual pages; the label is the section of the manual.",
                ("user commands", "administration"), lambda: find_manual_paragraphs(seed)),
        TextSet("docstring_pairs", "Two docstrings of one Python package; the label says which is that of"
                " the public function.", ("first", "second"), lambda: pair_rows(docstrings, "public", seed)),
        TextSet("changelog_pairs", "Two changelog entries of one Debian package; the label says which is"
                " the newer one.", ("first", "second"), lambda: pair_entries(entries, seed)),
    ]  # fmt: skip


def select_rows(rows: Iterable[Row], labels: Sequence[str], seed: int) -> list[Row]:
    """Return the rows of a set in an order by hash: no text twice, at most `PER_SOURCE` of each source
    and label.
    """
    seen: set[str] = set()
    counts = Counter[tuple[str, str]]()
    found = []
    for row in sorted(rows, key=lambda row: (draw(seed, row.texts), row.label)):
        keys = [letters_of(text) for text in row.texts]
        if row.label not in labels or len({*keys} - seen) < len(keys):
            continue
        seen.update(keys)
        if counts[row.source, row.label] < PER_SOURCE:
            counts[row.source, row.label] += 1
            found.append(row)
    return found


def part_of(source: str, seed: int) -> str:
    """Return the part that a source belongs to, by a hash of its name alone."""
    return PARTS[draw(seed, "part", source) % 2]


def balance_labels(rows: Sequence[Row], labels: Sequence[str], each: int) -> list[Row]:
    """Return the first `each` rows of each label."""
    left = dict.fromkeys(labels, each)
    kept = []
    for row in rows:
        if left[row.label]:
            left[row.label] -= 1
            kept.append(row)
    return kept


def take_groups(groups: list[list[Row]], labels: Sequence[str], size: int) -> list[Row]:
    """Remove groups from a list until a split has `size` rows, and return its rows.

    Rows of a label that has enough are lost. Groups with more than a quarter of the split, and those
    that would make one label much more frequent than another, are therefore taken last.
    """
    each = size // len(labels)
    taken: list[Row] = []
    counts = Counter[str]()
    for difference, largest in (
        (0.1 * each, size / 4),
        (0.2 * each, size / 2),
        (math.inf, math.inf),
    ):
        kept: list[list[Row]] = []
        for group in groups:
            after = counts + Counter(row.label for row in group)
            numbers = [after[one] for one in labels]
            wanted = any(counts[row.label] < each for row in group)
            fits = len(group) <= largest and max(numbers) - min(numbers) <= difference
            if wanted and fits:
                taken += group
                counts = after
            else:
                kept.append(group)
        groups[:] = kept
    return balance_labels(taken, labels, min(each, *(counts[one] for one in labels)))


def split_rows(rows: Sequence[Row], labels: Sequence[str], seed: int) -> dict[str, list[Row]]:
    """Divide the rows of a part into the splits, with equally many rows of each label."""
    fewest = min(sum(row.label == label for row in rows) for label in labels)
    rows = balance_labels(rows, labels, fewest)

    def grouped(some: Sequence[Row], key: Callable[[Row], str]) -> list[list[Row]]:
        found: dict[str, list[Row]] = defaultdict(list)
        for row in some:
            found[key(row)].append(row)
        return [found[one] for one in sorted(found, key=lambda one: draw(seed, "split", one))]

    sources = grouped(rows, lambda row: row.source)
    size = min(OOD[1], max(OOD[0], len(rows) // 6))
    splits = {"ood": take_groups(sources, labels, size)}
    left = grouped([row for one in sources for row in one], lambda row: row.group)
    for name, size in (("test", TEST), ("val", VALIDATION), ("train", MOST_TRAINING)):
        splits[name] = take_groups(left, labels, size)
    return {name: splits[name] for name in ("train", "val", "test", "ood")}


def describe_shortage(splits: dict[str, list[Row]], labels: Sequence[str]) -> str | None:
    """Return which split has too few rows, or None."""
    least = {"train": LEAST_TRAINING, "val": VALIDATION, "test": TEST, "ood": OOD[0]}
    short = [
        f"{len(splits[name])} of {size} {name} rows"
        for name, size in least.items() if len(splits[name]) < size - size % len(labels)
    ]  # fmt: skip
    return ", ".join(short) or None


def make_data(one: TextSet, splits: dict[str, list[Row]], with_source: bool) -> LabelledData:
    pair = len(splits["train"][0].texts) == 2
    names = ("text_1", "text_2") if pair else ("text",)
    about = {name: {"kind": "text", "about": ""} for name in names}
    if with_source:
        about["source"] = {"kind": "text", "about": "The package that the row comes from."}

    def observation(row: Row) -> Observation:
        source = {"source": row.source} if with_source else {}
        return Observation({**dict(zip(names, row.texts, strict=True)), **source}, row.label)

    columns = Columns(about, "pair" if pair else "text", one.labels)
    rows = {name: tuple(map(observation, some)) for name, some in splits.items()}
    return LabelledData(one.name, "label", one.labels, columns, splits=rows, description=one.about)


# --- measuring ------------------------------------------------------------------


def measure(folder: Path, seed: int) -> None:
    """Print the accuracy of the baselines on test and OOD rows, trained on 200 rows and on all."""
    print("set              rows   baseline  test  ood")
    for place in sorted(one for one in folder.iterdir() if one.is_dir()):
        for shown in (200, MOST_TRAINING):
            problem: Problem = load_task("labels").load(str(place), str(shown), seed)[0]
            found = defaultdict(dict)
            for one in score_baselines(problem):
                found[one["name"]][one["split"]] = one["accuracy"]
            for name, some in found.items():
                print(
                    f"{place.name:16} {len(problem.shown):5}  {name:8} {some['ind']:.3f} {some['ood']:.3f}"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="the folder to write to, new or empty")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS,
                        help="which halves of the sources")  # fmt: skip
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", nargs="*", metavar="SET", help="build only these sets")
    parser.add_argument("--packages", type=Path, nargs="*", default=[], metavar="DIR",
                        help="further site-packages folders")  # fmt: skip
    parser.add_argument("--with-source", action="store_true", help="add a column with the package")
    parser.add_argument(
        "--measure", action="store_true", help="measure baselines on the part dev, never on final"
    )
    given = parser.parse_args()
    for part in given.part:
        check_target_folder(given.out / part)  # before the minutes that reading takes
    found = [
        (one, select_rows(one.find_rows(), one.labels, given.seed))
        for one in list_sets(python_folders(given.packages), given.seed)
        if not given.only or one.name in given.only
    ]
    for part in given.part:
        made = []
        for one, rows in found:
            own = [row for row in rows if part_of(row.source, given.seed) == part]
            splits = split_rows(own, one.labels, given.seed)
            if lack := describe_shortage(splits, one.labels):
                print(f"{part}/{one.name} is left out: this machine's packages give only {lack}.")
                continue
            made.append(make_data(one, splits, given.with_source))
            sizes = ", ".join(f"{len(some):,} {name}" for name, some in splits.items())
            sources = len({row.source for some in splits.values() for row in some})
            labels = ", ".join(one.labels)
            print(f"{part}/{one.name}: {sizes}; {sources} sources; as many of each of {labels}")
        save_data_sets(made, given.out / part)
    if given.measure and PARTS[0] in given.part:
        measure(given.out / PARTS[0], given.seed)


if __name__ == "__main__":
    main()

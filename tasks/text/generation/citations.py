"""`labels:citations`: abstracts of highly or rarely cited papers (HypoBench, appendix B.1).

    peirce tasks generate labels:citations --data works.jsonl --out made/
    peirce run labels:citations --data 'works.jsonl.gz?after=2&share=0.1&ood=2017'

The papers are objects in a JSON list or in lines of JSONL. An object has the format of OpenAlex
(`abstract_inverted_index`, `publication_year`, `counts_by_year`, `cited_by_count`,
`primary_location.source.display_name`), or the keys `abstract`, `year`, `venue` and `citations`.
The papers of one venue and year form a cohort. In each cohort, the `share` (default 0.1) of papers
with the most citations is labelled "highly cited", and the same share with the fewest citations is
labelled "rarely cited". All other papers are left out. Citations count up to `after` (default 2)
years after publication. With `after=all`, or for a paper without counts by year, all citations
count. Ties between papers are broken at random. There is one data set per venue and, if there are
several venues, one data set of all venues. Rows are split 70/10/20. Papers from the year `ood` on
are the out-of-distribution (OOD) rows.

The following papers are left out and counted in a warning: papers without year, venue, citations or
an abstract of 50 words, editorials and the like, and repeated titles or abstracts. Cohorts with
fewer than 1 / share papers, or without a gap between the two labels, are left out too.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl

from ....records import DataError, Json, Observation, UsageError
from ...io.bad_records import BadRecords
from ...io.files import expand_home, parse_json_file_text, read_jsonl, read_text
from ...io.messages import suggest_nearest, warn
from ..columns import Columns
from ..problems import DEFAULT_LABEL_NAME, LabelledData
from .planted import split_rows

GENERATOR_NAME = "citations"
LABELS = ("highly cited", "rarely cited")
MIN_ABSTRACT_WORDS = 50
MIN_LABEL_ROWS = 10  # minimum number of rows with each label
ALL_VENUES = f"{GENERATOR_NAME}/all"  # the set of all venues
_NAME_CHARACTERS = 80  # in the name of a folder
_OTHER_TYPES = ("editorial", "letter", "erratum", "paratext", "retraction", "peer-review", "review-letter")  # fmt: skip
_ABOUT = (
    "Abstracts of papers, and whether they were among the most or the least cited of their venue"
    " and year."
)


@dataclass(frozen=True)
class CitationSettings:
    """The settings that decide which papers are labelled "highly cited" and "rarely cited".

    Attributes:
        after: The number of years after publication in which citations count; None for all years.
        share: The share of a cohort (papers of one venue and year) that gets each of the two
            labels.
        ood: The first year of the out-of-distribution (OOD) rows, or None for no such rows.
    """

    after: int | None = 2
    share: float = 0.1
    ood: int | None = None


@dataclass(frozen=True)
class Work:
    """A paper with its number of citations in the years that count."""

    title: str
    abstract: str
    venue: str
    year: int
    citations: int


def parse_path(path: str | Path) -> tuple[Path, CitationSettings]:
    """Split `PATH?key=value&...` into the path of the file and the settings.

    Raises:
        UsageError: A setting does not exist or has an invalid value, or there is no such file.
    """
    place, query = expand_home(path), ""
    if not place.exists() and "?" in place.name:
        name, _, query = place.name.partition("?")
        place = place.with_name(name)
    told = dict(parse_qsl(query, keep_blank_values=True))
    names = tuple(CitationSettings.__dataclass_fields__)
    for key in told:
        if key not in names:
            raise UsageError(
                f"{path}: labels:citations has no setting {key!r}{suggest_nearest(key, names)}"
            )
    try:
        choice = CitationSettings(
            None if told.get("after") == "all" else int(told.get("after", 2)),
            float(told.get("share", 0.1)),
            int(told["ood"]) if "ood" in told else None,
        )
    except ValueError as error:
        raise UsageError(
            f"{path}: after and ood must be whole numbers, and share a number ({error})"
        ) from None
    if not 0 < choice.share <= 0.5 or (choice.after or 0) < 0:
        raise UsageError(
            f"{path}: share must be above 0 and at most 0.5, and after must be at least 0 (or all)"
        )
    if not place.is_file():
        raise UsageError(f"{place}: there is no such file of works")
    return place, choice


def build_data_sets(path: str | Path | None, seed: int) -> list[LabelledData]:
    """Return the data sets for a file of papers: one per venue and, with several venues, one of
    all.

    Raises:
        UsageError: `path` is None, a setting is invalid, or all papers are OOD rows.
        DataError: The file contains no usable papers, or no venue has enough papers.
    """
    if path is None:
        raise UsageError("labels:citations needs a file of works: --data works.jsonl")
    place, choice = parse_path(path)
    works = _works(place, choice)
    kept = list(_label_works(works, choice, seed))
    venues = sorted({work.venue for work, _ in kept})
    named = {name: {one} for name, one in _venue_folders(venues).items()}
    if len(venues) > 1:
        named[ALL_VENUES] = set(venues)
    found = []
    for name, own in named.items():
        rows = _rows(name, [pair for pair in kept if pair[0].venue in own], choice, seed)
        if rows is not None:
            found.append(rows)
    if not works:
        raise DataError(f"{place}: found no usable works")
    if not found and choice.ood is not None and all(work.year >= choice.ood for work in works):
        raise UsageError(
            f"{path}: all works are from {choice.ood} or later, so all would be OOD rows"
        )
    if not found:
        raise DataError(
            f"{place}: no venue has {MIN_LABEL_ROWS} works of each label; use a larger share,"
            f" as in {place.name}?share=0.25, to label more works of each venue and year"
        )
    return found


def _rows(
    name: str, kept: Sequence[tuple[Work, str]], choice: CitationSettings, seed: int
) -> LabelledData | None:
    """Return a data set, or None if a label is too rare."""
    late = math.inf if choice.ood is None else choice.ood
    own = [_row(work, label) for work, label in kept if work.year < late]
    other = [_row(work, label) for work, label in kept if work.year >= late]
    counts = Counter(one.output for one in own)
    if min(counts[label] for label in LABELS) < MIN_LABEL_ROWS:
        return None
    splits = {key: tuple(some) for key, some in _parted(own, f"{name} {seed}").items()}
    if other:
        splits["ood"] = tuple(other)
    columns = Columns({"abstract": {"kind": "text", "about": "of the paper"}}, "text", LABELS)
    told: dict[str, Json] = {"after": choice.after, "share": choice.share, "ood": choice.ood}
    return LabelledData(
        name, DEFAULT_LABEL_NAME, LABELS, columns, splits, _ABOUT, properties={**told, "seed": seed}
    )


def _parted(rows: Sequence[Observation], seed: str) -> dict[str, list[Observation]]:
    """Split the rows of each label separately, so that each split has both labels."""
    draw = random.Random(seed)
    found: dict[str, list[Observation]] = {}
    for label in LABELS:
        for split, some in split_rows([one for one in rows if one.output == label], draw).items():
            found.setdefault(split, []).extend(some)
    return {split: draw.sample(some, len(some)) for split, some in found.items()}


def _row(work: Work, label: str) -> Observation:
    return Observation({"abstract": work.abstract}, label)


def _label_works(
    works: Sequence[Work], choice: CitationSettings, seed: int
) -> Iterator[tuple[Work, str]]:
    cohorts: dict[tuple[str, int], list[Work]] = {}
    for one in works:
        cohorts.setdefault((one.venue, one.year), []).append(one)
    for (venue, year), some in sorted(cohorts.items()):
        each = int(choice.share * len(some) + 1e-9)
        draw = random.Random(f"{venue} {year} {seed}")
        ordered = sorted(draw.sample(some, len(some)), key=lambda one: one.citations)
        if each and ordered[each - 1].citations < ordered[-each].citations:
            yield from ((one, LABELS[1]) for one in ordered[:each])
            yield from ((one, LABELS[0]) for one in ordered[-each:])


# --- the file -------------------------------------------------------------------------


def _works(place: Path, choice: CitationSettings) -> list[Work]:
    name = place.name.removesuffix(".gz")
    if name.endswith(".json"):
        told = parse_json_file_text(read_text(place), place)
        objects = told.get("results") if isinstance(told, dict) else told
    elif name.endswith((".jsonl", ".ndjson")):
        with BadRecords(place) as bad:
            objects = [value for _, value in read_jsonl(place, bad)]
    else:
        raise UsageError(f"{place}: a file of works must be .json or .jsonl (also as .gz)")
    if not isinstance(objects, list):
        raise DataError(f"{place}: must be a list of works, or an object with `results`")
    found: list[Work] = []
    left: Counter[str] = Counter()
    titles: set[str] = set()
    abstracts: set[str] = set()
    for one in objects:
        work = _work(one, choice) if isinstance(one, dict) else "no object"
        if isinstance(work, Work) and work.title and work.title in titles:
            work = "a title that was there before"
        if isinstance(work, Work) and work.abstract in abstracts:
            work = "an abstract that was there before"
        if isinstance(work, str):
            left[work] += 1
            continue
        titles.add(work.title)
        abstracts.add(work.abstract)
        found.append(work)
    if left:
        told_left = ", ".join(f"{why} {count:,}" for why, count in left.most_common())
        warn(f"{place}: {left.total():,} of {len(objects):,} works are left out ({told_left})")
    return found


def _work(told: Mapping[str, Json], choice: CitationSettings) -> Work | str:
    """Return the work, or the reason to leave it out."""
    if told.get("type") in _OTHER_TYPES or told.get("is_retracted"):
        return "no paper"
    year = _parse_count(told.get("publication_year", told.get("year")))
    if year is None:
        return "no year"
    venue = told.get("venue") or _inner(told, "primary_location", "source", "display_name")
    venue = venue or _inner(told, "host_venue", "display_name")
    if not isinstance(venue, str):
        return "no venue"
    abstract = told.get("abstract") or _abstract(told.get("abstract_inverted_index"))
    if not isinstance(abstract, str) or len(abstract.split()) < MIN_ABSTRACT_WORDS:
        return f"no abstract of {MIN_ABSTRACT_WORDS} words"
    citations = _citations(told, None if choice.after is None else year + choice.after)
    if citations is None:
        return "no citations of these years"
    title = told.get("title") or told.get("display_name") or ""
    return Work(" ".join(str(title).casefold().split()), " ".join(abstract.split()), venue, year, citations)  # fmt: skip


def _citations(told: Mapping[str, Json], until: int | None) -> int | None:
    """Return the citations up to a year, or None if they are unknown.

    OpenAlex counts only the last ten years. If its counts do not add up to all citations, the first
    years are missing.
    """
    total = _parse_count(told.get("citations", told.get("cited_by_count")))
    by_year = told.get("counts_by_year")
    if until is None or not isinstance(by_year, list):
        return total
    counts: dict[int, int] = {}
    for one in by_year:
        said = one if isinstance(one, dict) else {}
        year, count = (_parse_count(said.get(name)) for name in ("year", "cited_by_count"))
        if year is None or count is None:
            return None
        counts[year] = count
    if total is not None and sum(counts.values()) < total:
        return None
    return sum(count for year, count in counts.items() if year <= until)


def _abstract(places: Json) -> str:
    """Return the abstract from OpenAlex's inverted index (word -> positions)."""
    if not isinstance(places, dict):
        return ""
    words = {
        n: word
        for word, some in places.items()
        for n in (some if isinstance(some, list) else ())
        if isinstance(n, int)
    }
    return " ".join(words[n] for n in sorted(words))


def _inner(told: Mapping[str, Json], *keys: str) -> Json:
    value: Json = told
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _parse_count(value: Json) -> int | None:
    """Return a nonnegative integer, also if it is stored as 12.0, or None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _venue_folders(venues: Sequence[str]) -> dict[str, str]:
    """Return a folder name for each venue; of venues with equal names the later are numbered."""
    found: dict[str, str] = {}
    for venue in venues:
        stem = name = f"{GENERATOR_NAME}/{_slug(venue)}"
        number = 2
        while name in found or name == ALL_VENUES:
            name, number = f"{stem}-{number}", number + 1
        found[name] = venue
    return found


def _slug(name: str) -> str:
    bare = re.sub(r"[\W_]+", "-", name.casefold()).strip("-")
    short = bare.encode()[:_NAME_CHARACTERS].decode(errors="ignore").strip("-")
    return short or "venue"

"""`peirce agree SESSION`: measure how far people agree with a model's ratings of hypotheses.

The command first writes a sheet for people to fill in. The sheet contains pairs of a true sentence
and a sentence of the bank. The pairs are drawn evenly over the problems and over the scores that
the model gave, but the sheet does not show the scores. A person fills in `feature` (yes or no: are
both sentences about a common variable?) and, after a yes, `relationship` (0, 0.25, 0.5, 0.75 or 1).
"""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import fsum
from pathlib import Path

from ...records import DataError, Json, UsageError, digest_of
from ...reports.files.tables import as_text_cell
from ...tasks.text.rating_answers import QUARTER_SCALE
from ..arguments import validate_call
from ..outcome import open_for_reading, store_path
from .ratings_file import default_ratings_path, read_ratings
from .results import Agreement, RatingSheet

DEFAULT_ITEMS = 100
COLUMNS = ("item", "problem", "true", "hypothesis", "feature", "relationship")
CONSENSUS = "consensus"
SCALES = {"feature": (0.0, 1.0), "relationship": QUARTER_SCALE}
_WORDS = {"yes": 1.0, "y": 1.0, "true": 1.0, "1": 1.0, "no": 0.0, "n": 0.0, "false": 0.0, "0": 0.0}

RaterScores = dict[str, dict[str, float | None]]  # question -> item -> rating


@validate_call
def agree(
    session: str = "last",
    *,
    ratings: Sequence[str | Path] = (),
    sheet: str | Path | None = None,
    items: int = DEFAULT_ITEMS,
    seed: int = 0,
    scores: str | Path | None = None,
    store: str | Path | None = None,
) -> list[RatingSheet] | list[Agreement]:
    """Write a sheet for human raters, or compare filled sheets with the ratings of models.

    Args:
        session: the session's id, a unique prefix of the id, or "last". `peirce rate` must have
            rated the session.
        ratings: filled sheets (CSV or JSONL), one per rater. The file name or a column `rater`
            names the rater, and two raters must have different names.
        sheet: write a new sheet to this CSV file, instead of comparing sheets.
        items: number of pairs on the new sheet.
        seed: seed of the draw of pairs.
        scores: file of the models' ratings; None for the file next to the store.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Returns:
        With `sheet`, one object with the number of pairs by problem and score. Otherwise one object
        per question and pair of raters: each two people, and each model with each person and with
        the consensus of the people. The consensus on `feature` is the majority, without ties. The
        consensus on `relationship` is the mean, rounded to the nearest point of the scale.
        `within_one` is the share of pairs whose ratings differ by at most one of the five points.

    Raises:
        UsageError: both or neither of `sheet` and `ratings` are set, or the sheet exists already.
        DataError: the session has no ratings, or a sheet is invalid.
        StoreError: the store or the session cannot be found.
    """
    if (sheet is None) == (not ratings):
        raise UsageError(
            "give a sheet to write (--sheet FILE) or filled sheets to read (--ratings FILE)"
        )
    path = store_path(store)
    with open_for_reading(store) as opened:
        name = opened.find_session(session)
    rows = list(read_ratings(scores or default_ratings_path(path, name), needed=True).rows.values())
    pairs = _pairs(rows)
    if not pairs:
        raise DataError(
            f"session {name} has no ratings of discovery to compare with: create them with"
            " `peirce rate`"
        )
    if sheet is not None:
        return [RatingSheet.from_dict(_write(sheet, pairs, _models(rows), items, seed))]
    return [Agreement.from_dict(row) for row in compare_raters(rows, ratings)]


def compare_raters(
    rows: Sequence[Mapping[str, Json]], sheets: Sequence[str | Path]
) -> list[dict[str, Json]]:
    """Return the agreement of each pair of raters, as `agree` does, without reading a store.

    Args:
        rows: ratings of one or more sessions, as `ratings_file` reads them.
        sheets: sheets filled in by people. If there are none, the models are compared with each
            other.

    Raises:
        DataError: a sheet is invalid or contains other pairs of sentences.
    """
    pairs, models = _pairs(rows), _models(rows)
    people = _people(sheets, set(pairs))
    both = [*combinations(people.items(), 2)]
    others = list(people.items())
    if len(people) > 1:
        others.append((CONSENSUS, _consensus(list(people.values()))))
    both += [(model, other) for model in models.items() for other in others]
    if not people:
        both += combinations(models.items(), 2)
    return [_agreed(question, one, other, pairs) for question in SCALES for one, other in both]


def item_id(row: Mapping[str, Json]) -> str:
    """Return an id for a pair on the sheet, which does not reveal the score of the pair.

    The id begins with a letter, because a spreadsheet would read 123456e78901 as a number.

    Args:
        row: the rating of the pair.
    """
    return "p" + digest_of([row["problem"], row["true"], row["hypothesis"]])[:12]


def _pairs(rows: Sequence[Mapping[str, Json]]) -> dict[str, Mapping[str, Json]]:
    return {item_id(row): row for row in rows if row["kind"] == "feature"}


def _models(rows: Sequence[Mapping[str, Json]]) -> dict[str, RaterScores]:
    found: dict[str, RaterScores] = {}
    for row in rows:
        if row["kind"] in ("feature", "relationship"):
            of_rater = found.setdefault(str(row["by"]), {"feature": {}, "relationship": {}})
            of_rater[row["kind"]][item_id(row)] = row["score"]
    return found


# --- The sheet.


def _write(
    sheet: str | Path,
    pairs: Mapping[str, Mapping[str, Json]],
    models: Mapping[str, RaterScores],
    items: int,
    seed: int,
) -> dict[str, Json]:
    from ...records.private_files import write_atomically
    from ...tasks.io.files import check_writable

    if items < 1:
        raise UsageError(f"--items {items}: it must be at least 1")
    place = check_writable(sheet)
    if place.exists():
        raise UsageError(
            f"{place}: the file already exists and may be filled in; choose another file"
        )
    rated = next(iter(models.values()))
    strata: dict[tuple[str, str], list[str]] = {}
    for item in sorted(pairs):
        strata.setdefault((pairs[item]["problem"], _stratum(rated, item)), []).append(item)
    draw = random.Random(seed)
    for key in sorted(strata):
        draw.shuffle(strata[key])
    chosen: list[tuple[tuple[str, str], str]] = []
    while len(chosen) < items and any(strata.values()):
        for key in sorted(strata):
            if strata[key] and len(chosen) < items:
                chosen.append((key, strata[key].pop()))
    order = [item for _, item in chosen]
    draw.shuffle(order)  # The order must not reveal the scores either.
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item in order:
        row = pairs[item]
        shown = (as_text_cell(str(row[name])) for name in ("problem", "true", "hypothesis"))
        writer.writerow([item, *shown, "", ""])
    write_atomically({place: out.getvalue().encode()})
    counts: dict[str, dict[str, int]] = {}
    for (problem, score), _ in chosen:
        of_problem = counts.setdefault(problem, {})
        of_problem[score] = of_problem.get(score, 0) + 1
    return {"sheet": str(place), "items": len(order), "strata": counts}


def _stratum(rated: RaterScores, item: str) -> str:
    feature, score = rated["feature"].get(item), rated["relationship"].get(item)
    if not feature:
        return "unread" if feature is None else "no"
    return "unread" if score is None else f"{score:g}"


# --- Filled sheets.


def _people(files: Sequence[str | Path], known: set[str]) -> dict[str, RaterScores]:
    from ...tasks.io.files import expand_home, read_csv, read_jsonl

    found: dict[str, RaterScores] = {}
    for one in files:
        place = expand_home(one)
        lines = read_jsonl(place) if place.suffix == ".jsonl" else read_csv(place)
        for number, row in lines:
            where = f"{place}, line {number}"
            item = row.get("item") if isinstance(row, dict) else None
            if not isinstance(row, dict) or not isinstance(item, str) or item not in known:
                raise DataError(f"{where}: item {item!r:.40} was not rated in this session")
            name = str(row.get("rater") or place.stem)
            of_rater = found.setdefault(name, {"feature": {}, "relationship": {}})
            if item in of_rater["feature"] or name == CONSENSUS:
                raise DataError(
                    f"{where}: {name!r} already rated {item}; give every rater a different file"
                    " name, or a name in a column `rater`"
                )
            feature, score = row.get("feature"), row.get("relationship")
            of_rater["feature"][item] = _yes_no(feature, where)
            of_rater["relationship"][item] = _quarter(score, where)
    return found


def _yes_no(cell: Json, where: str) -> float | None:
    said = str("" if cell is None else cell).strip().lower().removesuffix(".0")
    if said and said not in _WORDS:
        raise DataError(f"{where}, feature: {cell!r:.40} is neither yes nor no")
    return _WORDS.get(said)


def _quarter(cell: Json, where: str) -> float | None:
    said = str("" if cell is None else cell).strip()
    if not said:
        return None
    try:
        value = float(said.replace(",", "."))
    except ValueError:
        value = -1.0
    if value not in QUARTER_SCALE:
        raise DataError(f"{where}, relationship: {cell!r:.40} is not one of 0, 0.25, 0.5, 0.75, 1")
    return value


# --- Agreement.


def _agreed(
    question: str,
    one: tuple[str, RaterScores],
    other: tuple[str, RaterScores],
    pairs: Mapping[str, Mapping[str, Json]],
) -> dict[str, Json]:
    from ...tools.discovery.scores import agreement

    left, right, scale = one[1][question], other[1][question], SCALES[question]
    items = sorted(i for i in left.keys() & right.keys() if None not in (left[i], right[i]))
    found = agreement([left[item] for item in items], [right[item] for item in items], scale)
    many = len(scale) > 2
    return {
        "question": question, "one": one[0], "other": other[0], "n": found.n,
        "data_sets": sorted({str(pairs[item]["problem"]).partition("#")[0] for item in items}),
        "agreement": found.same, "within_one": found.near if many else None, "kappa": found.kappa,
        "weighted_kappa": found.weighted if many else None,
        "weighted_kappa_linear": found.weighted_linear if many else None,
    }  # fmt: skip


def _consensus(people: Sequence[RaterScores]) -> RaterScores:
    found: RaterScores = {"feature": {}, "relationship": {}}
    for question, of_items in found.items():
        for item in sorted({item for one in people for item in one[question]}):
            said = [value for one in people if (value := one[question].get(item)) is not None]
            if not said:
                continue
            if question == "relationship":
                mean = fsum(said) / len(said)
                of_items[item] = min(QUARTER_SCALE, key=lambda point: (abs(point - mean), point))
                continue
            ranked = Counter(said).most_common()
            if len(ranked) == 1 or ranked[0][1] > ranked[1][1]:
                of_items[item] = ranked[0][0]
    return found

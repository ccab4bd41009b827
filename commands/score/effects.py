"""Measure the effects of the sentences in a session's bank, for `peirce bank --effects`.

The rows come from the session: its test rows, or else validation rows, or else shown rows. `--data
FILE` replaces them by the labelled rows of a file, which may have further columns, such as the source
of each row. Rows that the session was shown are left out. These are the rows of the file with the
input and label of a shown row, one for each shown row. If rows have no text and the file does not
contain all shown rows, equal rows are coincidences, and none is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records import (
    DataError,
    Json,
    LabelsRows,
    Problem,
    UsageError,
    canonical_json,
)
from ...reports.effect_wording import effect_as_json
from ...reports.metrics.results import list_judged, pair_with_steps
from ...reports.sentence_effects import EffectOptions, EffectRows, has_columns
from ...tasks import load_family
from ...tools.sentence_rules import NotExact, compile_sentence, rule_columns
from ...tools.sentence_rules.columns import find_text_columns
from .predicting.sentences import read_labelled_rows

if TYPE_CHECKING:
    from ...store import Store


def add_effects(
    store: Store,
    session: str,
    rows: Sequence[dict[str, Any]],
    options: EffectOptions,
) -> list[dict[str, Any]]:
    """Return the rows of a bank, each with the key `effects`.

    Args:
        store: the open store.
        session: full id of the session.
        rows: the rows of the bank.
        options: the rows and columns to use.

    Raises:
        UsageError: the session is not about labelled rows, or there is no such column.
        DataError: the file cannot be used.
    """
    family = load_family(store.settings(session)["family"])
    if not isinstance(family, LabelsRows):
        raise UsageError("--effects needs a session on labelled rows (task labels)")
    ids = {row["problem"] for row in rows}
    problems = [row for row in store.problems(session) if row.problem.id in ids]
    records = store.steps(session, [row.problem.id for row in problems], spaces=False)
    found = []
    for row, steps in pair_with_steps(problems, records):
        if not has_columns(row.problem):
            raise UsageError(f"--effects: the rows of problem {row.problem.id} have no columns")
        own = [each for each in rows if each["problem"] == row.problem.id]
        sentences = [str(each["text"]) for each in own]
        effects = options.measure(row.problem, sentences, list_judged(steps))
        found += [
            {**each, "effects": list(map(effect_as_json, one))}
            for each, one in zip(own, effects, strict=True)
        ]
    return found


def effect_options(within: str | Sequence[str], data: str | Path | None) -> EffectOptions:
    """Return the options `--within` and `--data` in the form that reports use.

    Args:
        within: one or more columns.
        data: a file with labelled rows; None for rows of the session.
    """
    columns = [within] if isinstance(within, str) else list(within)
    if data is None:
        return EffectOptions(columns)

    def read_rows(problem: Problem, sentences: Sequence[str]) -> EffectRows:
        return read_effect_rows(data, problem, sentences, columns)

    return EffectOptions(columns, read_rows, str(data))


def read_effect_rows(
    data: str | Path, problem: Problem, sentences: Sequence[str], within: Sequence[str]
) -> EffectRows:
    """Return the labelled rows of a file that the session was not shown, with further columns.

    If the session was shown all of them, all are returned, and named so.

    Args:
        data: the file or folder, possibly followed by `?label=NAME`.
        problem: the problem.
        sentences: the sentences, whose columns the file must have.
        within: the columns to keep, besides the inputs.

    Raises:
        DataError: the file cannot be read or has no labelled rows.
    """
    public = problem.public
    texts = find_text_columns(public)
    needed = set(texts)
    for sentence in sentences:
        rule = compile_sentence(sentence, public)
        if not isinstance(rule, NotExact):
            needed |= rule_columns(rule, texts)
    table, listed = read_labelled_rows(data, problem, None, needed)
    labelled = [place for place, row in enumerate(listed) if row.has_output]
    if not labelled:
        name = public.get("label_name") or "label"
        raise DataError(
            f"{data}: no row has a label in the column {name!r}; add ?label=NAME to name another"
        )
    columns = [name for name in public["columns"] if name in table.columns]
    keys = [_row_key(listed[n].input, listed[n].output, columns) for n in labelled]
    shown = Counter(_row_key(one.input, one.output, columns) for one in problem.shown)
    unseen = [
        n for n, is_new in zip(labelled, _mark_new(keys, shown, texts), strict=True) if is_new
    ]
    name = Path(str(data).split("?")[0]).name
    kept = unseen or labelled
    return EffectRows(
        [listed[n].input for n in kept],
        [str(listed[n].output) for n in kept],
        f"{name} that the search did not see" if unseen else f"{name}, all shown to the search",
        {
            one: [table.columns[one][n] for n in kept]
            for one in within
            if one in table.columns and one not in public["columns"]
        },
    )


def _row_key(row: Mapping[str, Json], label: Json, columns: Sequence[str]) -> str:
    return canonical_json([[row.get(name) for name in columns], label])


def _mark_new(keys: Sequence[str], shown: Counter[str], texts: Sequence[str]) -> list[bool]:
    """Return for each row of a file whether the session was not shown it."""
    if not texts and shown - Counter(keys):
        return [True] * len(keys)
    left = Counter(shown)
    found = []
    for key in keys:
        found.append(not left[key])
        left[key] -= left[key] > 0
    return found

"""Export a session as files: Parquet, JSONL, or a Hugging Face data set folder.

Each format is written under a temporary name and renamed once it is complete. Existing files are
never overwritten. Rows are read through the ordinary read methods, so a running session can be
exported. DuckDB writes the Parquet files from a second database in memory.

Tables (parquet: NAME.parquet; huggingface: data/NAME.parquet, the default one is `hypotheses`):
  hypotheses   problem, task, family, step, answer, ordinal, path, text, description, verdict,
               reason, bad, coverage, shown, hidden (true, false or null per observation),
               shown_right, hidden_right (counts), defined (share of S), undefined (JSON,
               counts by reason), breaches, meta (JSON)
  predictions  problem, step, answer, ordinal, codes, reasons (a list each, in the order of S),
               reason_names, outcome, limited
  problems     problem, task, family, status, cause, space, shown, hidden, public, secret (JSON)
  answers      problem, step, answer, path, text
  steps        problem, step, fields (JSON)
  calls        problem, path, kind, request, response (JSON), tokens_in, tokens_out,
               tokens_cached, tokens_reasoning, seconds, retries, repeats
  bank         problem, rank, hypothesis, text, description, accuracy, visits, covered, reward,
               right
  bank_events  problem, step, hypothesis, observation, right, t, kind
  inputs       space, position, input (JSON), weight
  session      session, created, status, digest, settings (JSON), versions (JSON)

JSONL has one object per line, with `type` first: session {session, created, status, digest,
settings}; problem {problem, task, family, status, cause, shown, hidden, public, secret};
step {problem, step, fields}; answer {problem, step, answer, path, text, judged: [{verdict,
reason, bad, coverage, text, description, shown, hidden, defined, undefined}]};
bank {problem, rank, …}; usage {calls, tokens_in, …}. NaN and infinities become null.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..records import Agreement, DataError, Json, JudgedHypothesis, UsageError, canonical_json
from ..records.private_files import write_folder
from .ledger import events

if TYPE_CHECKING:
    from .contents import StoreContents

Table = tuple[str, Iterator[Sequence[Any]]]  # columns as SQL, rows
FORMATS = ("parquet", "jsonl", "huggingface")

COLUMNS: dict[str, str] = {
    "hypotheses": (
        "problem VARCHAR, task VARCHAR, family VARCHAR, step INTEGER, answer INTEGER, "
        "ordinal INTEGER, path VARCHAR, text VARCHAR, description VARCHAR, verdict VARCHAR, "
        "reason VARCHAR, bad BOOLEAN, coverage DOUBLE, shown BOOLEAN[], hidden BOOLEAN[], "
        "shown_right INTEGER, hidden_right INTEGER, defined DOUBLE, undefined VARCHAR, "
        "breaches VARCHAR[], meta VARCHAR"
    ),
    "predictions": (
        "problem VARCHAR, step INTEGER, answer INTEGER, ordinal INTEGER, codes BIGINT[], "
        "reasons UTINYINT[], reason_names VARCHAR[], outcome VARCHAR, limited BOOLEAN"
    ),
    "problems": (
        "problem VARCHAR, task VARCHAR, family VARCHAR, status VARCHAR, cause VARCHAR, "
        "space VARCHAR, shown VARCHAR, hidden VARCHAR, public VARCHAR, secret VARCHAR"
    ),
    "answers": "problem VARCHAR, step INTEGER, answer INTEGER, path VARCHAR, text VARCHAR",
    "steps": "problem VARCHAR, step INTEGER, fields VARCHAR",
    "calls": (
        "problem VARCHAR, path VARCHAR, kind VARCHAR, request VARCHAR, response VARCHAR, "
        "tokens_in BIGINT, tokens_out BIGINT, tokens_cached BIGINT, tokens_reasoning BIGINT, "
        "seconds DOUBLE, retries INTEGER, repeats VARCHAR"
    ),
    "bank": (
        "problem VARCHAR, rank INTEGER, hypothesis VARCHAR, text VARCHAR, description VARCHAR, "
        'accuracy DOUBLE, visits BIGINT, covered BIGINT, reward DOUBLE, "right" BIGINT[]'
    ),
    "bank_events": (
        "problem VARCHAR, step INTEGER, hypothesis VARCHAR, observation BIGINT, "
        '"right" BOOLEAN, t BIGINT, kind VARCHAR'
    ),
    "inputs": "space VARCHAR, position INTEGER, input VARCHAR, weight DOUBLE",
    "session": (
        "session VARCHAR, created VARCHAR, status VARCHAR, digest VARCHAR, settings VARCHAR, "
        "versions VARCHAR"
    ),
}


def export(store: StoreContents, session: str, out: Path, format: str) -> dict[str, Any]:
    """Export a session to files, as `Store.export` documents.

    Raises:
        UsageError: The format is unknown, or `out` exists.
        DataError: The disk is full.
    """
    if format not in FORMATS:
        raise UsageError(f"format {format!r} is unknown: it must be one of {', '.join(FORMATS)}")
    out = out.expanduser().absolute()
    if os.path.lexists(out):
        raise UsageError(f"{out} already exists; choose another path or remove it first")

    def write(place: Path) -> tuple[list[str], dict[str, int]]:
        if format == "jsonl":
            return _jsonl(store, session, place)
        if format == "parquet":
            return _parquet(store, session, place, place.parent / ".spill")
        return _huggingface(store, session, place)

    with disk_errors(out):
        files, rows = write_folder(out, write)
    return {"session": session, "format": format, "out": str(out), "files": files, "rows": rows}


@contextlib.contextmanager
def disk_errors(out: Path) -> Iterator[None]:
    """Turn DuckDB's error about a file that cannot be written into a DataError that names `out`.

    This is needed because DuckDB's error is not an OSError.
    """
    import duckdb

    try:
        yield
    except duckdb.IOException as error:
        text, full = " ".join(str(error).split()), os.strerror(errno.ENOSPC)
        cause = full if full in text else text[:200]
        raise DataError(f"{out} cannot be written, is the disk full? ({cause})") from None


# --- rows of the tables ----------------------------------------------------


def _marks(agreement: Agreement | None) -> list[bool | None] | None:
    return None if agreement is None else list(agreement.marks)


def _right(agreement: Agreement | None) -> int | None:
    return None if agreement is None else sum(mark is True for mark in agreement.marks)


def _defined(judged: JudgedHypothesis) -> tuple[float | None, dict[str, int]]:
    """Return the share of S with a prediction, and counts of undefined predictions by reason."""
    if judged.space is None or not len(judged.space.reasons):
        return None, {}
    return float(judged.space.defined.mean()), judged.space.count_undefined()


def _hypothesis_rows(store: StoreContents, session: str) -> Iterator[Sequence[Any]]:
    kinds = {row.problem.id: row.problem for row in store.problems(session)}
    for record in store.steps(session):
        problem = kinds[record.problem]
        for number, answered in enumerate(record.answers):
            for ordinal, judged in enumerate(answered.judged):
                said, (share, why) = judged.hypothesis, _defined(judged)
                yield (
                    *(problem.id, problem.task, problem.family, record.step, number, ordinal),
                    answered.path,
                    *((said.text, said.description) if said else (None, None)),
                    *(judged.verdict.value, judged.reason, judged.bad, judged.coverage),
                    *(_marks(judged.shown), _marks(judged.hidden)),
                    *(_right(judged.shown), _right(judged.hidden), share, canonical_json(why)),
                    *((list(said.breaches), _text(said.meta)) if said else ([], "{}")),
                )


def _problem_rows(store: StoreContents, session: str) -> Iterator[Sequence[Any]]:
    for row in store.problems(session):
        data = row.problem.as_json()
        parts = (_text(data[name]) for name in ("shown", "hidden", "public", "secret"))
        yield (data["id"], data["task"], data["family"], row.status, row.cause, row.space, *parts)


def _call_rows(store: StoreContents, session: str) -> Iterator[Sequence[Any]]:
    numbers = ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")
    for row in store.problems(session):
        for call in store.calls(session, row.problem.id):
            yield (
                *(call["problem"], call["path"], call["kind"]),
                *(_text(call["request"]), _text(call["response"])),
                *(call[name] for name in numbers),
                *(call["seconds"], call["retries"], call["repeats"]),
            )


def _event_rows(store: StoreContents, session: str) -> Iterator[Sequence[Any]]:
    names = [row.problem.id for row in store.problems(session)]
    for name, step, event in events(store, session, names):
        happened = (event.observation, event.right, event.t, event.kind)
        yield (name, step, event.hypothesis, *happened)


def _input_rows(store: StoreContents, session: str) -> Iterator[Sequence[Any]]:
    for digest in dict.fromkeys(row.space for row in store.problems(session)):
        space = store.input_set(digest)
        weights = space.weights or (None,) * len(space)
        for place, (value, weight) in enumerate(zip(space.inputs, weights, strict=True)):
            yield (digest, place, _text(value), weight)


def _session_rows(store: StoreContents, session: str) -> Iterator[Sequence[Any]]:
    held = store.session(session)
    yield (
        *(session, held["created"], held["status"], store.digest(session)),
        *(_text(held["settings"]), _text(held["versions"])),
    )


def _tables(store: StoreContents, session: str) -> dict[str, Iterator[Sequence[Any]]]:
    bank = (
        *("rank", "hypothesis", "text", "description", "accuracy", "visits", "covered", "reward"),
        "right",
    )
    return {
        "hypotheses": _hypothesis_rows(store, session),
        "problems": _problem_rows(store, session),
        "answers": (
            (record.problem, record.step, number, answered.path, answered.text)
            for record in store.steps(session, spaces=False)
            for number, answered in enumerate(record.answers)
        ),
        "steps": (
            (record.problem, record.step, _text(record.fields))
            for record in store.steps(session, spaces=False)
        ),
        "calls": _call_rows(store, session),
        "bank": (
            (entry["problem"], *(entry[name] for name in bank)) for entry in store.bank(session)
        ),
        "bank_events": _event_rows(store, session),
        "inputs": _input_rows(store, session),
        "session": _session_rows(store, session),
    }


# --- Parquet -----------------------------------------------------------------


def _parquet(
    store: StoreContents, session: str, folder: Path, spill: Path
) -> tuple[list[str], dict[str, int]]:
    import duckdb

    folder.mkdir()
    counts: dict[str, int] = {}
    config: dict[str, str | bool | int | float | list[str]] = {"temp_directory": str(spill)}
    for name, rows in _tables(store, session).items():
        with duckdb.connect(":memory:", config=config) as memory:
            memory.execute(f"CREATE TABLE {name} ({COLUMNS[name]})")
            counts[name] = _fill(memory, name, rows)
            _copy(memory, name, folder)
    with duckdb.connect(":memory:", config=config) as memory:
        memory.execute(f"CREATE TABLE predictions ({COLUMNS['predictions']})")
        counts["predictions"] = _fill_predictions(memory, store, session)
        _copy(memory, "predictions", folder)
    return sorted(path.name for path in folder.iterdir()), counts


def _copy(memory: Any, name: str, folder: Path) -> None:
    place = str(folder / f"{name}.parquet").replace("'", "''")
    memory.execute(f"COPY {name} TO '{place}' (FORMAT parquet, COMPRESSION zstd)")


def _fill(memory: Any, name: str, rows: Iterator[Sequence[Any]]) -> int:
    count = 0
    with memory.appender(name) as appender:
        for row in rows:
            appender.append_row(*(_utf8(cell) for cell in row))
            count += 1
    return count


def _fill_predictions(memory: Any, store: StoreContents, session: str) -> int:
    """Insert one row per hypothesis; DuckDB builds the lists, as Python would be slow."""
    count = 0
    for record in store.steps(session):
        for number, answered in enumerate(record.answers):
            for ordinal, judged in enumerate(answered.judged):
                if (space := judged.space) is None:
                    continue
                arrays = {"code": space.codes, "reason": space.reasons}  # noqa: F841 (DuckDB reads it)
                memory.execute(
                    "INSERT INTO predictions SELECT ?, ?, ?, ?, coalesce(list(code), []), "
                    "coalesce(list(reason), []), ?, ?, ? FROM arrays",
                    [
                        *(_utf8(record.problem), record.step, number, ordinal),
                        *([_utf8(name) for name in space.reason_names], space.verdict),
                        space.limited,
                    ],
                )
                count += 1
    return count


# --- Hugging Face ------------------------------------------------------------


def _huggingface(
    store: StoreContents, session: str, folder: Path
) -> tuple[list[str], dict[str, int]]:
    folder.mkdir()
    files, counts = _parquet(store, session, folder / "data", folder.parent / ".spill")
    (folder / "README.md").write_text(_card(store, session, counts), encoding="utf-8")
    return ["README.md", *(f"data/{name}" for name in files)], counts


def _card(store: StoreContents, session: str, counts: Mapping[str, int]) -> str:
    held = store.session(session)
    name = _word(session)
    lines = ["---", f'pretty_name: "Peirce session {name}"', "configs:"]
    for table in COLUMNS:
        if counts[table]:  # a table without rows has no types to load
            lines += [f"- config_name: {table}", f"  data_files: data/{table}.parquet"]
            lines += ["  default: true"] * (table == "hypotheses")
    lines += ["---", f"# Peirce session {name}", ""]
    created, status = _word(held["created"]), _word(held["status"])
    lines += [f"Made {created}, status {status}, `{store.digest(session)}`.", ""]
    lines += ["| table | rows |", "|---|---|"]
    lines += [f"| {table} | {counts[table]} |" for table in COLUMNS]
    settings = json.dumps(_finite(held["settings"]), indent=2, sort_keys=True)
    lines += ["", "Settings:", "", *("    " + line for line in settings.splitlines()), ""]
    return "\n".join(lines)


def _word(cell: str) -> str:
    """Return a cell for a card: what could be markup or YAML in the text is replaced by "?"."""
    return re.sub(r"[^A-Za-z0-9:+.-]", "?", cell)[:80]


# --- JSONL -------------------------------------------------------------------


def _jsonl(store: StoreContents, session: str, place: Path) -> tuple[list[str], dict[str, int]]:
    counts: dict[str, int] = {}
    with open(place, "w", encoding="utf-8") as file:
        for line in _lines(store, session):
            counts[line["type"]] = counts.get(line["type"], 0) + 1
            file.write(json.dumps(_finite(line), allow_nan=False) + "\n")
    return [place.name], counts


def _lines(store: StoreContents, session: str) -> Iterator[dict[str, Any]]:
    held = store.session(session)
    names = ("session", "created", "status", "settings")
    yield {"type": "session", **{n: held[n] for n in names}, "digest": store.digest(session)}
    for row in store.problems(session):
        data = row.problem.as_json()
        data["problem"] = data.pop("id")
        yield {"type": "problem", **data, "status": row.status, "cause": row.cause}
        for record in store.steps(session, row.problem.id):
            at = {"problem": record.problem, "step": record.step}
            yield {"type": "step", **at, "fields": dict(record.fields)}
            for number, answered in enumerate(record.answers):
                judged = [_judged(one) for one in answered.judged]
                given = {"path": answered.path, "text": answered.text, "judged": judged}
                yield {"type": "answer", **at, "answer": number, **given}
        for entry in store.bank(session, row.problem.id):
            yield {"type": "bank", **entry}
    yield {"type": "usage", **store.usage(session)}


def _judged(judged: JudgedHypothesis) -> dict[str, Any]:
    share, why = _defined(judged)
    said = judged.hypothesis
    return {
        "verdict": judged.verdict.value,
        "reason": judged.reason,
        "bad": judged.bad,
        "coverage": judged.coverage,
        "text": said.text if said else None,
        "description": said.description if said else None,
        "shown": _marks(judged.shown),
        "hidden": _marks(judged.hidden),
        "defined": share,
        "undefined": why,
    }


# --- cells -------------------------------------------------------------------


def _finite(value: Json) -> Json:
    """Return the value with null for NaN and infinities, which strict JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value


def _text(value: Json) -> str:
    return canonical_json(dict(value) if isinstance(value, Mapping) else value)


def _utf8(cell: Any) -> Any:
    """Return text that UTF-8 can encode; a lone surrogate becomes its escape sequence."""
    if isinstance(cell, str):
        return cell.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(cell, list) and cell and isinstance(cell[0], str):
        return [_utf8(part) for part in cell]
    return cell

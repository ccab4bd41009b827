"""Export preference pairs to files in TRL's preference format, as Parquet or a Hugging Face data
set.

The columns are pair (the position of the pair in the table), prompt, chosen, rejected, stage, task,
problem, split, context (the number of earlier hypotheses in the prompt), chosen_model and
rejected_model. The columns prompt, chosen and rejected have one of two forms:

 - conversational: lists of messages {role, content}, to which a training applies a chat template;
 - plain (TRL: standard): texts. The prompt is rendered with the chat template of a base model and
   ends where the answer begins. Answers have no end-of-text token, because TRL appends this token.

The Parquet export is one file, `pairs.parquet`. A data set folder has one file per split under
`data/` (the split held-out is named `held_out`), and a README.md that `datasets.load_dataset`
reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...records import Json, Message, UsageError
from ...records.private_files import write_folder
from ...store.export import disk_errors
from ..pair_table import PairTable
from ..splits import Split
from ..stages import STAGES

FORMATS = ("parquet", "hf")
_TOGETHER = 4_096

_MESSAGES = "STRUCT(role VARCHAR, content VARCHAR)[]"
_SAID = "[{'role': 'assistant', 'content': %s.text}]"


def export(
    table: PairTable,
    out: Path,
    format: str,
    render_prompt: Callable[[Sequence[Message]], str] | None = None,
) -> dict[str, Json]:
    """Write a set of pairs to the new folder `out`. If writing fails, no folder is left.

    Args:
        table: The preference pairs.
        out: The folder to create. It must not exist.
        format: One of `FORMATS`.
        render_prompt: Converts a prompt to text (`ModelText.render_prompt`); None writes the
            conversational form.

    Returns:
        A dict with the keys out, format, form, files, and rows (the number of rows by split).

    Raises:
        UsageError: `out` exists, or the format is unknown.
        DataError: The disk is full.
    """
    if format not in FORMATS:
        raise UsageError(f"format {format!r} is unknown: it must be one of {', '.join(FORMATS)}")
    out = out.expanduser().absolute()
    if out.exists() or out.is_symlink():
        raise UsageError(f"{out} already exists; choose another path or remove it first")
    with disk_errors(out):
        files, rows = write_folder(out, lambda place: _written(table, place, format, render_prompt))
    form = "conversational" if render_prompt is None else "plain"
    return {"out": str(out), "format": format, "form": form, "files": files, "rows": rows}


def _written(
    table: PairTable,
    folder: Path,
    format: str,
    plain: Callable[[Sequence[Message]], str] | None,
) -> tuple[list[str], dict[str, int]]:
    import duckdb

    folder.mkdir()
    spill = str(folder.parent / ".spill")
    with duckdb.connect(":memory:", config={"temp_directory": spill}) as memory:
        _fill(memory, table, plain)
        rows = {
            split.value: len(table.positions(split=split))
            for split in Split
            if len(table.positions(split=split))
        }
        if format == "parquet":
            _copy(memory, folder / "pairs.parquet", plain is None)
        else:
            (folder / "data").mkdir()
            for split in rows:
                _copy(memory, folder / "data" / f"{_file(split)}.parquet", plain is None, split)
            (folder / "README.md").write_text(_card(table, rows, plain is None), encoding="utf-8")
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return files, rows


def _file(split: str) -> str:
    return split.replace("-", "_")


def _fill(memory: Any, table: PairTable, plain: Callable[[Sequence[Message]], str] | None) -> None:
    asked = "VARCHAR" if plain else _MESSAGES
    memory.execute(
        f"CREATE TABLE asked (place INTEGER, prompt {asked}, task VARCHAR, problem VARCHAR,"
        " split VARCHAR, context INTEGER)"
    )
    memory.execute("CREATE TABLE said (place INTEGER, text VARCHAR, model VARCHAR)")
    memory.execute(
        "CREATE TABLE pair (pair INTEGER, prompt INTEGER, chosen INTEGER, rejected INTEGER,"
        " stage VARCHAR)"
    )
    for start in range(0, len(table.prompts), _TOGETHER):
        stop = min(start + _TOGETHER, len(table.prompts))
        prompts: list[Any] = [
            plain(one) if plain else [_message(turn) for turn in one]
            for one in table.prompts[start:stop]
        ]
        splits = [str(one) for one in table.prompt_split[start:stop]]
        columns = [(asked, prompts), ("VARCHAR", table.prompt_task[start:stop]),
                   ("VARCHAR", table.prompt_problem[start:stop]), ("VARCHAR", splits),
                   ("INTEGER", table.prompt_context[start:stop])]  # fmt: skip
        _insert(memory, "asked", start, columns)
    for start in range(0, len(table.answers), _TOGETHER):
        stop = start + _TOGETHER
        said = (table.answers[start:stop], table.answer_model[start:stop])
        _insert(memory, "said", start, [("VARCHAR", values) for values in said])
    for start in range(0, len(table), 1 << 16):
        stop = start + (1 << 16)
        places = (one[start:stop] for one in (table.prompt, table.chosen, table.rejected))
        stages = [STAGES[stage] for stage in table.stage[start:stop].tolist()]
        _insert(memory, "pair", start, [*(("INTEGER", one) for one in places), ("VARCHAR", stages)])


def _message(turn: Message) -> dict[str, str]:
    return {"role": str(turn["role"]), "content": str(turn["content"])}


def _insert(memory: Any, name: str, start: int, columns: Sequence[tuple[str, Any]]) -> None:
    """Insert typed columns as rows, with their positions from `start` on."""
    lists = ", ".join(f"?::{kind}[] AS c{n}" for n, (kind, _) in enumerate(columns))
    cells = ", ".join(f"unnest(c{n})" for n in range(len(columns)))
    memory.execute(
        f"INSERT INTO {name} SELECT ? + generate_subscripts(c0, 1) - 1, {cells}"
        f" FROM (SELECT {lists})",
        [start, *(values for _, values in columns)],
    )


def _copy(memory: Any, place: Path, messages: bool, split: str | None = None) -> None:
    chosen, rejected = ((_SAID if messages else "%s.text") % one for one in ("better", "worse"))
    named = str(place).replace("'", "''")
    where = "" if split is None else f"WHERE asked.split = '{split}'"
    memory.execute(
        f"COPY (SELECT pair.pair, asked.prompt, {chosen} AS chosen, {rejected} AS rejected,"
        " pair.stage, asked.task, asked.problem, asked.split, asked.context,"
        " better.model AS chosen_model, worse.model AS rejected_model"
        " FROM pair JOIN asked ON asked.place = pair.prompt"
        " JOIN said AS better ON better.place = pair.chosen"
        f" JOIN said AS worse ON worse.place = pair.rejected {where} ORDER BY pair.pair)"
        f" TO '{named}' (FORMAT parquet, COMPRESSION zstd)"
    )


def _card(table: PairTable, rows: Mapping[str, int], messages: bool) -> str:
    lines = ["---", f"pretty_name: Peirce preference pairs {table.digest[:12]}", "configs:"]
    lines += ["- config_name: default", "  data_files:"]
    for split in rows:
        lines += [f"  - split: {_file(split)}", f"    path: data/{_file(split)}.parquet"]
    form = "conversational" if messages else "plain (standard)"
    lines += ["---", f"# Preference pairs {table.digest[:12]}", ""]
    lines += [f"{len(table):,} pairs in TRL's {form} preference format; set `{table.digest}`.", ""]
    lines += ["| split | pairs |", "|---|---|", *(f"| {s} | {n} |" for s, n in rows.items()), ""]
    # Recorded prompts may be long, and only a training by Peirce reads them.
    settings = {key: value for key, value in table.settings.items() if key != "rendering"}
    told = json.dumps(settings, indent=2, sort_keys=True)
    lines += ["Settings:", "", *(f"    {line}" for line in told.splitlines()), ""]
    return "\n".join(lines)

"""`peirce pairs`: build preference pairs from sessions, save them in the store, and export them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, Unpack

from ...records import UsageError
from ...store import Store
from ...training.pairs.settings import PairsConfig
from ..arguments import validate_call
from ..option_types import PairsOptions
from ..outcome import open_for_reading, store_path
from ..problems import make_splits
from ..session.settings import check_choice
from .results import PairReport, PairSetRow

T = TypeVar("T")
FORMATS = ("parquet", "hf")


@validate_call
def pairs(
    *sessions: str,
    config: PairsConfig | None = None,
    saved: str | None = None,
    dry_run: bool = False,
    out: str | Path | None = None,
    format: str = "parquet",
    plain: bool = False,
    workers: int | None = None,
    cluster: str = "local",
    store: str | Path | None = None,
    own_rendering: Any = None,
    progress: Callable[[int, int, int], None] | None = None,
    **overrides: Unpack[PairsOptions],
) -> PairReport:
    """Build preference pairs (GEAR, section 6.1) from the answers of stored sessions.

    A preference pair is a better and a worse answer to the same prompt. Answers of several sessions
    are combined if their problem and shown observations are equal. The pairs are saved in the store
    under their digest.

    Args:
        sessions: ids, unique prefixes of ids, or "last" (the default).
        config: settings of the pairs; None for the defaults.
        saved: digest of a stored set of pairs to write to `out`, instead of building pairs.
        dry_run: only count pairs; store nothing.
        out: folder to write the pairs to; None to write no files.
        format: parquet, or hf for a Hugging Face data set folder.
        plain: write prompts as text, with the chat template of `base`.
        workers: number of processes that build pairs, on each node of a cluster; None for one per
            core of a node, or for this process alone without a cluster.
        cluster: where pairs are built: local, ray or ray://HOST.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        own_rendering: a `training.pairs.OwnRendering`, with which `base` renders the prompts that
            `max_length` counts; None to render them as the sessions did.
        progress: called with the number of problems read, the number of all problems, and the
            number of pairs so far.
        overrides: single settings by name, which replace settings of `config`
            (`training.pairs.settings.PairsConfig`).

    Returns:
        Counts of the pairs (`training/pairs/report.py`). With `out`, also the written files.

    Raises:
        UsageError: a setting is invalid or does not fit another setting.
        DataError: the file that `fixed` names is invalid.
        StoreError: there is no pair.
        Unavailable: the cluster cannot be reached.
    """
    from ...tools.workers.computing import open_compute
    from ...training.pair_table import read_table, save_table
    from ...training.pairs.build_pairs import PairChoices, build_pairs
    from ...training.pairs.lengths import ModelText, TokenLimit
    from ...training.pairs.preferences import Caps

    given = {} if config is None else config.explicit_values()
    config = PairsConfig(**{**given, **{k: one for k, one in overrides.items() if one is not None}})
    base, max_length = config.base, config.max_length
    check_choice("format", format, FORMATS)
    text = None if base is None else ModelText(base, own=own_rendering)
    if text is None and (max_length is not None or plain):
        what = "--max-length counts tokens" if max_length is not None else "--plain makes texts"
        raise UsageError(f"{what}: give the folder of the model with --base")
    if text is not None and max_length is None and not plain:
        raise UsageError("--base is only used for its tokenizer: also give --max-length or --plain")
    if dry_run and out is not None:
        raise UsageError(
            "--dry-run writes nothing, so it cannot be combined with --out: use one of the two"
        )
    if out is None and (plain or format != FORMATS[0]):
        what = "--plain" if plain else f"--format {format}"
        raise UsageError(f"{what} only affects written files: also give their folder with --out")
    _free(out)
    if saved is not None:
        told = {"sessions": bool(sessions), "--dry-run": dry_run}
        names = [
            f"--{name.replace('_', '-')}" for name in config.non_default_names() if name != "base"
        ]
        if taken := [*(name for name, one in told.items() if one), *names]:
            raise UsageError(
                f"--saved {saved} names an existing set, so these options cannot be set:"
                f" {', '.join(taken)}"
            )
        with open_for_reading(store) as opened:
            table = read_table(opened, saved)
            kept = next(row for row in opened.pairs.list() if row["digest"] == table.digest)
        report = dict(kept["counts"])
    else:
        caps = Caps(_three(config.contexts), _three(config.per_context))
        ratio = None if config.ratio is None else _three(config.ratio)
        splits = make_splits(config.split_seed, config.fractions, config.fixed)
        choices = PairChoices(caps, config.limit, ratio, config.seed, splits, config.template)
        fits = None if text is None or max_length is None else TokenLimit(text, max_length)
        with open_for_reading(store) as opened:
            named = [opened.find_session(session) for session in sessions or ("last",)]
        if not dry_run:  # fail early if the store cannot be written; reading limits its memory
            Store.open(store_path(store), write=True).close()
        with open_for_reading(store) as opened, open_compute(cluster, workers) as compute:
            made = build_pairs(opened, named, choices, fits, progress, compute)
        table, report = made.table, dict(made.report)
        if not dry_run:
            with Store.open(store_path(store), write=True) as opened:
                save_table(opened, table, report)
    if out is not None:
        from ...training.pairs.dataset import export

        variables = table.settings.get("template_variables") or {}
        words = text.with_variables(variables).render_prompt if plain and text else None
        written = export(table, Path(out), format, words)
        report["export"] = written
    return PairReport.from_dict(report)


@validate_call
def pair_sets(*, store: str | Path | None = None) -> list[PairSetRow]:
    """Return the sets of preference pairs in the store, oldest first, with their settings and
    counts.

    Args:
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
    """
    with open_for_reading(store) as opened:
        return [PairSetRow.from_dict(row) for row in opened.pairs.list()]


def _free(out: str | Path | None) -> None:
    """Raise UsageError if the folder exists already, before anything is read."""
    if out is not None and Path(out).expanduser().exists():
        raise UsageError(f"{out} already exists; choose another path or remove it first")


def _three(given: Sequence[T]) -> tuple[T, T, T]:
    first, second, third = given
    return first, second, third

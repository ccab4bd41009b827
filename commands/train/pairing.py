"""`peirce pairs`: preference pairs from sessions, into the store and out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ...records import UsageError
from ...store import Store
from ..arguments import checked
from ..outcome import reading, store_path
from ..session.settings import one_of
from ..subsets import splits_of
from .results import PairReport, PairSetRow

CONTEXTS, PER_CONTEXT = (1, 20, 190), (2_000, 15, 15)
FORMATS = ("parquet", "hf")


@checked
def pairs(
    *sessions: str,
    contexts: Sequence[int | None] = CONTEXTS,
    per_context: Sequence[int | None] = PER_CONTEXT,
    limit: int | None = None,
    ratio: Sequence[int] | None = None,
    seed: int = 0,
    fractions: Sequence[float] | None = None,
    split_seed: int = 0,
    fixed: str | Path | None = None,
    template: str | None = None,
    base: str | Path | None = None,
    max_length: int | None = None,
    saved: str | None = None,
    dry_run: bool = False,
    out: str | Path | None = None,
    format: str = "parquet",
    plain: bool = False,
    store: str | Path | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> PairReport:
    """Preference pairs (GEAR, section 6.1) of sessions joined by problem and O_n, kept in the store
    as a set that its digest names; the report of its counts (`training.pairs.report`), and with
    `out` what was written ("export").

    sessions: default last. contexts: the most contexts of 0, 1 and 2 hypotheses of a problem, None
    for all; per_context: the most pairs of each stage of one such context. limit: the most pairs of
    each stage in each split, tasks alike; ratio: of the stages parsing, consistency, gear, in each
    split. fractions, split_seed, fixed: train, validation and held-out, by group (`training.splits`);
    fixed: a JSON file, {split: [groups]}. template: of the prompts, the sessions' own without it.
    base: a folder with the tokenizer of a model: pairs of more than `max_length` tokens are left
    out, and `plain` prompts go through its chat template. saved: a set of the store by its digest
    instead of sessions, to be written to `out`. dry_run: counts alone, nothing is kept. format: parquet or hf, a
    Hugging Face data set folder. progress: told problems read, all problems, pairs so far.

    Raises UsageError, DataError, and StoreError where there is no pair.
    """
    from ...training.pair_table import read_table, save_table
    from ...training.pairs.harvest import Choices, harvest
    from ...training.pairs.lengths import Length, ModelText
    from ...training.pairs.preferences import Caps

    one_of("format", format, FORMATS)
    text = None if base is None else ModelText(base)
    if text is None and (max_length is not None or plain):
        what = "--max-length counts tokens" if max_length is not None else "--plain makes texts"
        raise UsageError(f"{what}: name the folder of the model with --base")
    if text is not None and max_length is None and not plain:
        raise UsageError("--base brings a tokenizer, for --max-length or --plain: give one of them")
    if dry_run and out is not None:
        raise UsageError("--dry-run counts alone and --out writes: give one of the two")
    if out is None and (plain or format != FORMATS[0]):
        what = "--plain" if plain else f"--format {format}"
        raise UsageError(f"{what} is how files are written: name their folder with --out")
    _free(out)
    if saved is not None:
        of_making = {
            "sessions": sessions, "--dry-run": dry_run, "--max-length": max_length is not None,
            "--contexts": tuple(contexts) != CONTEXTS, "--limit": limit is not None,
            "--per-context": tuple(per_context) != PER_CONTEXT, "--ratio": ratio is not None,
            "--seed": seed, "--split-seed": split_seed, "--fractions": fractions is not None,
            "--fixed": fixed is not None, "--template": template is not None,
        }  # fmt: skip
        if given := [name for name, told in of_making.items() if told]:
            raise UsageError(
                f"--saved {saved} names a set that is made: it takes no {', '.join(given)}"
            )
        with reading(store) as opened:
            table = read_table(opened, saved)
            kept = next(row for row in opened.pairs.list() if row["digest"] == table.digest)
        report = dict(kept["counts"])
    else:
        choices = Choices(
            Caps(_three("contexts", contexts), _three("per_context", per_context)),
            limit,
            None if ratio is None else _three_parts(ratio),
            seed,
            splits_of(split_seed, fractions, fixed),
            template,
        )
        fits = None if text is None or max_length is None else Length(text, max_length)
        with reading(store) as opened:
            named = [opened.find(session) for session in sessions or ("last",)]
        if not dry_run:  # said before anything is read, not after; reading bounds its memory
            Store.open(store_path(store), write=True).close()
        with reading(store) as opened:
            made = harvest(opened, named, choices, fits, progress)
        table, report = made.table, dict(made.report)
        if not dry_run:
            with Store.open(store_path(store), write=True) as opened:
                save_table(opened, table, report)
    if out is not None:
        from ...training.pairs.dataset import export

        written = export(table, Path(out), format, text.text if plain and text else None)
        report["export"] = written
    return PairReport.from_dict(report)


@checked
def pair_sets(*, store: str | Path | None = None) -> list[PairSetRow]:
    """The sets of pairs of the store, oldest first: digest, created, settings, counts."""
    with reading(store) as opened:
        return [PairSetRow.from_dict(row) for row in opened.pairs.list()]


def _free(out: str | Path | None) -> None:
    """Said before anything is read, not after."""
    if out is not None and Path(out).expanduser().exists():
        raise UsageError(f"{out} exists already; name another place or remove it first")


def _three(name: str, given: Sequence[int | None]) -> tuple[int | None, int | None, int | None]:
    if len(given) != 3:
        raise UsageError(
            f"{name} {list(given)}: three numbers are needed, for contexts of 0, 1 and 2"
        )
    first, second, third = given
    return first, second, third


def _three_parts(ratio: Sequence[int]) -> tuple[int, int, int]:
    if len(ratio) != 3:
        raise UsageError(
            f"ratio {list(ratio)}: three parts are needed, of parsing, consistency, gear"
        )
    first, second, third = ratio
    return first, second, third

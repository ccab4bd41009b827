"""`peirce train`: train on stored pairs or a session, merge adapters, train classifiers, list
trainings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from ..records.settings import union_members
from ..training.dpo.settings import TrainConfig
from . import options as o
from .printing import emit

app = typer.Typer()

# Settings of a training that classifiers take too.
CLASSIFIER_SETTINGS = ("batch", "learning_rate", "warmup", "weight_decay", "max_length", "full", "lora_rank",
              "lora_alpha", "lora_dropout", "seed", "report_to")  # fmt: skip


def _with_settings(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command a flag for each setting of a training, in place of its **settings."""
    own = [
        one for one in inspect.signature(function, eval_str=True).parameters.values()
        if one.kind is not one.VAR_KEYWORD
    ]  # fmt: skip
    for name, field in TrainConfig.model_fields.items():
        kind = next(
            one if isinstance(one, type) else str for one in union_members(field.annotation)
        )
        flag = "--" + name.replace("_", "-")
        both = f"{flag}/--no-{flag.removeprefix('--')}" if kind is bool else flag
        shown = "" if field.default is None or field.default == "" else f" ({field.default})"
        option = typer.Option(
            both,
            help=f"{str(field.description).removesuffix('.')}{shown}.",
            rich_help_panel=o.TRAINING_SETTINGS,
            show_default=False,
        )
        own.append(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None,
                annotation=Annotated[kind | None, option],
            )
        )  # fmt: skip
    function.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in own}
    return function


def _option(text: str, *names: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, rich_help_panel=o.TRAINING_TARGET)


@app.command(
    epilog=o.examples(
        "peirce train --quick",
        "peirce train --base models/small --pairs last --schedule momentum --out runs/a",
        "peirce train --resume --out runs/a",
        "peirce train --merge runs/a/adapter --base models/small --out merged",
        "peirce train --labels data/reviews --base models/small --out runs/b",
        "peirce train --list",
    )
)
@_with_settings
def train(
    session: Annotated[
        str | None, typer.Argument(
            help="With --quick: id of a session, the start of an id, or last (default).",
            metavar="[SESSION]", show_default=False),
    ] = None,
    quick: Annotated[
        bool, _option(
            "Train a small model on the pairs of a session of list_functions or acre within minutes,"
            " and show what it gained. --base and --out are optional.", "--quick")
    ] = False,
    base: Annotated[
        str | None, _option("Model to train: a folder, or an id of the Hugging Face hub.", metavar="DIR")
    ] = None,
    pairs: Annotated[
        str | None, _option("Stored set of pairs: its digest or the start of it (last).", metavar="DIGEST")
    ] = None,
    out: Annotated[
        str | None, _option(
            "Folder of the training, for checkpoints, weights, model card and figures.", metavar="DIR")
    ] = None,
    config: Annotated[
        str | None, _option("YAML file of settings, with the names of the flags below.", metavar="FILE")
    ] = None,
    resume: Annotated[
        bool, _option("Continue the training in --out from its last checkpoint.", "--resume")
    ] = False,
    sample_answers: Annotated[
        int | None, _option(
            "Number of answers sampled from the model in each period, to check that they can"
            " still be parsed (128; 0 samples none).", metavar="N"),
    ] = None,
    merge: Annotated[
        str | None, _option(
            "Instead of training, merge this adapter into --base and write the model to --out.", metavar="ADAPTER")
    ] = None,
    labels: Annotated[
        str | None, _option(
            "Instead of a proposer, train a classifier on all training rows of this labelled"
            " text: a path as for --data, or labels:GENERATOR.", metavar="DATA"),
    ] = None,
    problem: Annotated[
        list[str] | None, _option("With --labels: use only this data set. May be repeated.", "--problem", metavar="NAME")
    ] = None,
    label: Annotated[str | None, _option("With --labels: column that holds the labels.", metavar="COLUMN")] = None,
    ood: Annotated[str | None, _option(
        "With --labels: out-of-distribution (OOD) file to use, if there are several.", metavar="NAME")] = None,
    skip_bad: Annotated[
        bool, _option("With --labels: skip rows that cannot be read and count them.", "--skip-bad")
    ] = False,
    epochs: Annotated[int | None, _option("With --labels: maximum number of epochs (10).", metavar="N")] = None,
    patience: Annotated[
        int | None, _option(
            "With --labels: number of epochs without improvement after which training stops (3).", metavar="N")
    ] = None,
    listed: Annotated[bool, _option("Instead of training, list the trainings in the store.", "--list")] = False,
    store: o.StoreFile = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
    **settings: Any,
) -> None:  # fmt: skip
    """Train a proposer on preference pairs with DPO, merge adapters, or train text classifiers.

    --quick needs nothing but a session: peirce run list_functions --problems 20.
    """
    from ..records import UsageError

    given = {name: value for name, value in settings.items() if value is not None}
    named = {
        "--quick": quick or None,
        "--merge": merge,
        "--labels": labels,
        "--list": listed or None,
    }
    chosen = [name for name, value in named.items() if value is not None]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} cannot be combined: use one of them")
    of_labels = {
        "problem": problem or None,
        "label": label,
        "ood": ood,
        "skip_bad": skip_bad or None,
        "epochs": epochs,
        "patience": patience,
    }
    if not quick and session is not None:
        raise UsageError(
            f"a session ({session}) is only taken with --quick: type peirce train --quick {session},"
            " or build pairs first with peirce pairs"
        )
    of_pairs = {"pairs": pairs, "sample_answers": sample_answers}
    of_both = {"config": config, "resume": resume or None}
    mode = chosen[0] if chosen else ""
    if not mode and resume and out is not None:
        mode = _find_mode(out)
    taken = {
        "": {**of_pairs, **of_both, **given},
        "--quick": {"resume": resume or None, "seed": given.get("seed")},
        "--labels": {**of_labels, **of_both},
    }.get(mode, {})
    rest = {**of_pairs, **of_labels, **of_both, **given}
    if mode == "--labels":
        taken |= {name: value for name, value in given.items() if name in CLASSIFIER_SETTINGS}
    for name, value in rest.items():
        if value is not None and name not in taken:
            raise UsageError(
                f"{mode or 'a training on pairs'} does not take --{name.replace('_', '-')}"
            )
    options = {name: value for name, value in taken.items() if value is not None}
    if mode == "--list":
        _list(store, as_json)
        return
    if mode == "--quick":
        _train_quickly(session or "last", base, out, store, quiet, as_json, options)
        return
    if out is None:
        raise UsageError("no output folder is given: add --out DIR, or type peirce train --quick")
    if mode == "--merge":
        _merge(str(merge), base, out, as_json)
    elif mode == "--labels":
        _classify(labels, base, out, store, quiet, as_json, options)
    else:
        _train(base, out, store, quiet, as_json, options)


def _train(
    base: str | None, out: str, store: str | None, quiet: bool, as_json: bool, options: dict[str, Any]
) -> None:  # fmt: skip
    from .. import train as train_model
    from ..reports.screen import text, training, training_progress

    with training_progress.TrainingProgress(out, quiet=quiet) as screen:
        record = train_model(base, out=out, store=store, on_progress=screen, **options)
        screen.done = record.status != "interrupted"
    if record.examples is not None:  # only the first process of a launcher has the result
        emit([record]) if as_json else training.print_training(text.create_console(), record)
    if record.status == "interrupted":
        raise typer.Exit(130)


def _train_quickly(
    session: str, base: str | None, out: str | None, store: str | None, quiet: bool, as_json: bool,
    options: dict[str, Any],
) -> None:  # fmt: skip
    from .. import train_quick
    from ..commands.train.training_folder import QUICK_FOLDER
    from ..reports.screen import text, training, training_progress

    out = out or QUICK_FOLDER
    with training_progress.TrainingProgress(out, quiet=quiet) as screen:
        record = train_quick(
            session, base=base, out=out, store=store, on_step=screen.print_step, on_progress=screen,
            **options,
        )  # fmt: skip
        screen.done = record.status != "interrupted"
    emit([record]) if as_json else training.print_quick_training(text.create_console(), record)
    if record.status == "interrupted":
        raise typer.Exit(130)


def _classify(
    data: str | None, base: str | None, out: str, store: str | None, quiet: bool, as_json: bool,
    options: dict[str, Any],
) -> None:  # fmt: skip
    from .. import train_labels
    from ..reports.screen import text, training, training_progress

    with training_progress.ClassifierProgress(out, quiet=quiet) as screen:
        record = train_labels(data, base=base, out=out, store=store, on_progress=screen, **options)
        screen.done = True
    emit([record]) if as_json else training.print_classifiers(text.create_console(), record)


def _merge(adapter: str, base: str | None, out: str, as_json: bool) -> None:
    from .. import merge
    from ..reports.screen import text

    merged = merge(adapter, base=base, out=out)
    if as_json:
        emit([merged])
    else:
        text.create_console().print(
            f"Merged into {merged.model}. Use it with: peirce run TASK --model hf:{merged.model}"
        )


def _list(store: str | None, as_json: bool) -> None:
    from .. import trainings
    from ..reports.screen import text, training

    rows = trainings(store=store)
    emit([rows]) if as_json else training.print_trainings(text.create_console(), rows)


def _find_mode(out: str) -> str:
    """Return the option that started the training in a folder."""
    from pathlib import Path

    from ..commands.train.training_folder import QUICK_FILE, read_kind

    folder = Path(out).expanduser()
    if (folder / QUICK_FILE).exists():
        return "--quick"
    return "--labels" if read_kind(folder) == "labels" else ""

"""Find the trainings that used a session's answers, or that trained the model of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ...records import Json
from ..papers.gear.training import TrainingRun, build_runs

if TYPE_CHECKING:
    from ...store import Store

CURVE_NAMES = ("probe_accuracy", "probe_loss", "weight", "chosen_logratio", "instruction_following",
         "train_loss")  # fmt: skip
SHOWN_SETTINGS = ("examples", "batch", "learning_rate", "beta", "full", "lora_rank")


def find_trainings(store: Store, sessions: Sequence[Mapping[str, Any]]) -> list[dict[str, Json]]:
    """Return the trainings that belong to sessions as JSON, each with its learning curves by stage.

    A training belongs to a session if it used the session's answers, or trained the session's
    model.

    Args:
        store: The open store.
        sessions: Records of sessions, as `Store.session` returns them.
    """
    digests = {one.get("digest") for one in sessions} - {None, ""}
    models = {
        str((one["settings"].get("operational") or {}).get("model") or "").removeprefix("hf:")
        for one in sessions
    } - {""}
    rows = [row for row in store.trainings.list() if _belongs(row["settings"], digests, models)]
    found = build_runs((row, store.trainings.points(str(row["training"]))) for row in rows)
    return [_as_json(one) for one in found]


def _belongs(settings: Mapping[str, Any], digests: set[Any], models: set[str]) -> bool:
    if settings.get("kind", "dpo") != "dpo":
        return False
    out = str((settings.get("operational") or {}).get("out") or "")
    made = any(out and PurePath(out) in (PurePath(one), *PurePath(one).parents) for one in models)
    return made or bool(digests & set(settings.get("sessions") or ()))


def _as_json(one: TrainingRun) -> dict[str, Json]:
    figures = []
    for name in CURVE_NAMES:
        curves = [
            {"stage": stage, "points": [[at, round(value, 6)] for at, value in one.get_curve(stage, name)]}
            for stage in (*one.stages, "") if one.get_curve(stage, name)
        ]  # fmt: skip
        if curves:
            figures.append({"name": name, "curves": curves})
    return {
        "training": one.training, "base": one.base, "label": one.label, "seed": one.seed,
        "status": one.status, "figures": figures,
        "settings": [(name, str(one.settings[name])) for name in SHOWN_SETTINGS if name in one.settings],
    }  # fmt: skip

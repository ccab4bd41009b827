"""The configuration that a stored session was begun with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import graphs
from ...config import ModelConfig, RunConfig
from ...records import Json
from .roles import SCORER

# What earlier versions recorded under "operational" by the names of options.
BY_OPTION = ("repair", "sandbox", "strict_sandbox", "workers", "solver", "concurrency", "cache",
             "store")  # fmt: skip


def stored_config(record: Mapping[str, Any]) -> RunConfig:
    """The configuration of a session from its record (`Store.session`). Raises UsageError for one
    that is no configuration."""
    settings = record["settings"]
    operational = settings["operational"]
    if "config" in operational:
        return RunConfig.from_record(_without_scorer(operational["config"]), graphs)
    return RunConfig.from_options(_migrated(settings, operational), graphs)


def _without_scorer(config: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded configuration without the scorer: sessions that were recorded before only `peirce
    rate` took one may have it, though none asked it."""
    if "roles" not in config:
        return dict(config)
    part = {name: value for name, value in config["roles"].items() if name != "scorer_model"}
    if part.get("roles"):
        part["roles"] = _others(part["roles"])
    if part.get("role"):
        part["role"] = [one for one in part["role"] if not one.startswith(f"{SCORER}.")]
    return {**config, "roles": part}


def _others(roles: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (roles or {}).items() if name != SCORER}


def _migrated(settings: Mapping[str, Json], operational: Mapping[str, Json]) -> dict[str, Json]:
    """The options of a session that was recorded before version 0.2, which kept the settings of its
    model as they had been opened."""
    opening = dict(operational.get("model_options") or {})
    fields = opening.pop("model_args", {})
    own = {name: opening.pop(name) for name in list(opening) if name in ModelConfig.model_fields}
    options = {name: operational.get(name) for name in BY_OPTION}
    found = {
        **options,
        **own,
        "method": settings["method"],
        "model": operational.get("model"),
        "model_arg": {**opening, **fields},
        "roles": _others(operational.get("roles")) or None,
        **(operational.get("spending") or {}),
    }
    return {name: value for name, value in found.items() if value is not None}

"""Which model a training starts from, by its weights, and whether an adapter belongs to it."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..records import Digest, Json, UsageError

if TYPE_CHECKING:
    from ..agents.local_files import Found

PACKAGES = ("torch", "transformers", "peft", "accelerate", "trl", "datasets")
INSTALL = "pip install 'peirce[train]'"
ORIGIN = "peirce.json"  # in the folder of what was trained: its training, its pairs, its base


@dataclass(frozen=True)
class Base:
    """A model's folder. weights: a digest of them alone, whatever its folder is called and whatever
    else lies in it."""

    name: str
    found: Found
    weights: Digest

    def record(self) -> dict[str, Json]:
        return {"name": self.name, "weights": self.weights}


def check_packages(*more: str) -> None:
    """UsageError with the line that installs them where packages are missing."""
    missing = [name for name in (*PACKAGES, *more) if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"Training needs {', '.join(missing)}: {INSTALL}")


def find_base(name: str) -> Base:
    """The base of a training: a folder or an id of the hub. UsageError where it is not there or is
    an adapter, DataError where it cannot be read."""
    from ..agents.local_files import find

    found, adapter = find(f"hf:{name}")
    if adapter is not None:
        raise UsageError(
            f"The base {name!r} is an adapter: merge it into its own base first (peirce train"
            " --merge), and train what comes out."
        )
    return Base(name, found, weights_digest(found.folder))


def weights_digest(folder: Path) -> Digest:
    from ..agents.local_files import WEIGHTS, fingerprint

    return fingerprint(folder, (WEIGHTS,))


def write_origin(folder: Path, base: Base, training: str, pairs: Digest) -> None:
    told = {"training": training, "pairs": pairs, "base": base.record()}
    (folder / ORIGIN).write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def origin(folder: Path) -> dict[str, Json] | None:
    """What `write_origin` wrote there; None for what was trained elsewhere. DataError for a file
    that is broken."""
    from ..agents.local_files import read_object

    return read_object(folder / ORIGIN) if (folder / ORIGIN).is_file() else None


def check_adapter(adapter: Path, base: Base) -> None:
    """UsageError where the adapter was trained on another base, as far as its folder tells."""
    told = (origin(adapter) or {}).get("base")
    if isinstance(told, dict) and told.get("weights") != base.weights:
        raise UsageError(
            f"The adapter {str(adapter)!r} was trained on other weights ({told.get('name')},"
            f" {str(told.get('weights'))[:12]}) than those of {base.name!r} ({base.weights[:12]})."
        )

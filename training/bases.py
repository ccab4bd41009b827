"""Which model a training starts from, by its weights, and what is written beside what it gave."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..records import Digest, Json, UsageError

if TYPE_CHECKING:
    from ..agents.local.files import Found

PACKAGES = ("torch", "transformers", "peft", "accelerate", "trl", "datasets")
INSTALL = "pip install 'peirce[train]'"


@dataclass(frozen=True)
class Base:
    """A model's folder. weights: a digest of them alone (`agents.local_files.weights_digest`)."""

    name: str
    found: Found
    weights: Digest

    def record(self) -> dict[str, Json]:
        return {"name": self.name, "weights": self.weights, "commit": self.found.commit}

    @property
    def place(self) -> str:
        """Where an adapter finds it: the id of the hub, or the whole path of the folder."""
        return self.name if self.found.commit else str(self.found.folder.resolve())


def check_packages(*more: str) -> None:
    """UsageError with the line that installs them where packages are missing."""
    missing = [name for name in (*PACKAGES, *more) if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"Training needs {', '.join(missing)}: {INSTALL}")


def find_base(name: str) -> Base:
    """The base of a training: a folder or an id of the hub. UsageError where it is not there or is
    an adapter, DataError where it cannot be read."""
    from ..agents.local.files import find, weights_digest

    found, adapter = find(f"hf:{name}")
    if adapter is not None:
        raise UsageError(
            f"The base {name!r} is an adapter: merge it into its own base first (peirce train"
            " --merge), and train what comes out."
        )
    return Base(name, found, weights_digest(found.folder))


def write_origin(folder: Path, base: Base, training: str, pairs: Digest) -> None:
    """Says beside the weights where they come from. An adapter is refused for another base then."""
    from ..agents.local.files import ADAPTER_CONFIG, ORIGIN, read_object

    told = {"training": training, "pairs": pairs, "base": base.record()}
    (folder / ORIGIN).write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    if (folder / ADAPTER_CONFIG).is_file():  # peft writes the path as it was given
        config = read_object(folder / ADAPTER_CONFIG) | {"base_model_name_or_path": base.place}
        (folder / ADAPTER_CONFIG).write_text(json.dumps(config, indent=2) + "\n", "utf-8")

"""The base model of a training, and the record of origin that is stored with trained weights."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..records import Digest, Json, UsageError

if TYPE_CHECKING:
    from ..agents.local.files import ModelFolder

PACKAGES = ("torch", "transformers", "peft", "accelerate", "trl", "datasets")
INSTALL = "pip install 'peirce[train]'"


@dataclass(frozen=True)
class Base:
    """The folder of a base model.

    Attributes:
        name: A folder, or an id on the hub.
        files: The files of the model.
        weights: A digest of the weights alone (`agents.local.files.weights_digest`).
    """

    name: str
    files: ModelFolder
    weights: Digest

    def to_record(self) -> dict[str, Json]:
        """Return name, weights and commit as JSON."""
        return {"name": self.name, "weights": self.weights, "commit": self.files.commit}

    @property
    def location(self) -> str:
        """The id on the hub, or the absolute path of the folder, as an adapter's config has it."""
        return self.name if self.files.commit else str(self.files.folder.resolve())


def check_packages(*extra: str) -> None:
    """Raise UsageError, with the command that installs them, where packages are missing."""
    missing = [name for name in (*PACKAGES, *extra) if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"Training needs {', '.join(missing)}: {INSTALL}")


def find_base(name: str) -> Base:
    """Find the base model of a training.

    Args:
        name: A folder, or an id on the hub.

    Raises:
        UsageError: The model does not exist, or is an adapter.
        DataError: The model cannot be read.
    """
    from ..agents.local.files import find_model, weights_digest

    found, adapter = find_model(f"hf:{name}")
    if adapter is not None:
        raise UsageError(
            f"The base {name!r} is an adapter: first merge it into its own base (peirce train"
            " --merge), then train the merged model."
        )
    return Base(name, found, weights_digest(found.folder))


def write_origin(folder: Path, base: Base, training: str, pairs: Digest) -> None:
    """Record in the folder of trained weights from which base and training they come.

    With this file, Peirce refuses to apply an adapter to another base.
    """
    from ..agents.local.files import ADAPTER_CONFIG, ORIGIN_FILE, read_object

    told = {"training": training, "pairs": pairs, "base": base.to_record()}
    (folder / ORIGIN_FILE).write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    if (folder / ADAPTER_CONFIG).is_file():  # peft writes the path that the caller used
        config = read_object(folder / ADAPTER_CONFIG) | {"base_model_name_or_path": base.location}
        (folder / ADAPTER_CONFIG).write_text(json.dumps(config, indent=2) + "\n", "utf-8")

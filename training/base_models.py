"""Find the base model of a training, and record the base model beside trained weights."""

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
    """A base model on disk: the model from which a training starts.

    Attributes:
        name: The path of a folder, or a model id on the Hugging Face hub.
        files: The files of the model.
        weights: The digest of the weight files (`agents.local.files.weights_digest`).
    """

    name: str
    files: ModelFolder
    weights: Digest

    def to_record(self) -> dict[str, Json]:
        """Return the name, the digest of the weights and the hub commit as a JSON object."""
        return {"name": self.name, "weights": self.weights, "commit": self.files.commit}

    @property
    def location(self) -> str:
        """The id on the hub, or the absolute path of the folder.

        This value is written as the base model into the configuration of an adapter.
        """
        return self.name if self.files.commit else str(self.files.folder.resolve())


def check_packages(*extra: str) -> None:
    """Raise UsageError if a package that training needs is not installed.

    The message contains the command that installs the missing packages.

    Args:
        extra: Further packages to check.
    """
    missing = [name for name in (*PACKAGES, *extra) if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"Training needs {', '.join(missing)}: {INSTALL}")


def find_base(name: str) -> Base:
    """Return the base model that a name identifies.

    Args:
        name: The path of a folder, or a model id on the Hugging Face hub.

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
    """Record which base model and which training produced the weights in `folder`.

    Peirce reads this record and refuses to apply an adapter to a different base model.

    Args:
        folder: The folder with the trained weights.
        base: The base model of the training.
        training: The id of the training.
        pairs: The digest of the preference pairs.
    """
    from ..agents.local.files import ADAPTER_CONFIG, ORIGIN_FILE, read_object

    told = {"training": training, "pairs": pairs, "base": base.to_record()}
    (folder / ORIGIN_FILE).write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    if (folder / ADAPTER_CONFIG).is_file():  # peft writes the path that the caller used
        config = read_object(folder / ADAPTER_CONFIG) | {"base_model_name_or_path": base.location}
        (folder / ADAPTER_CONFIG).write_text(json.dumps(config, indent=2) + "\n", "utf-8")

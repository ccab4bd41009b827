"""Language models that run in this process.

The module proposer.py is imported only when such a model is opened.
"""

from __future__ import annotations

from ...records import Proposer
from ..model_settings import ModelKind
from .settings import LocalSettings


async def open_model(settings: LocalSettings) -> Proposer:
    """Load a model on the thread that will run it, and return its proposer.

    Raises:
        UsageError: The model does not exist, or a setting is invalid.
        DataError: A file of the model is missing or damaged.
    """
    from .proposer import open_local

    return await open_local(settings)


def check_model(settings: LocalSettings) -> None:
    """Raise the errors that `open_model` would raise, without downloading or loading a model."""
    from .proposer import check_local

    check_local(settings)


HF = ModelKind("hf:FOLDER_OR_ID", LocalSettings, open_model, check_model)

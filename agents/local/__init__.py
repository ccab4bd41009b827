"""Language models that run in this process. proposer.py is imported when one is opened."""

from __future__ import annotations

from ...records import Proposer
from ..model_settings import ModelKind
from .settings import LocalSettings


async def open_model(settings: LocalSettings) -> Proposer:
    """Load the model on the thread that will run it. Raises UsageError or DataError."""
    from .proposer import open_local

    return await open_local(settings)


def check_model(settings: LocalSettings) -> None:
    """Raise the errors that `open_model` would raise for these settings, without fetching or
    loading a model.
    """
    from .proposer import check_local

    check_local(settings)


HF = ModelKind("hf:FOLDER_OR_ID", LocalSettings, open_model, check_model)

"""Models behind an OpenAI-compatible chat endpoint (chat.py), which is imported when one is opened."""

from __future__ import annotations

from ...records import Proposer
from ..model_settings import ModelKind
from .settings import ChatSettings


async def open_model(settings: ChatSettings) -> Proposer:
    """Nothing is asked of the endpoint yet. Raises UsageError."""
    from .chat import open_chat

    return open_chat(settings)


OPENAI = ModelKind("openai:NAME", ChatSettings, open_model)
HTTP = ModelKind("http://host:port/v1#NAME", ChatSettings, open_model)
HTTPS = ModelKind("https://host/v1#NAME", ChatSettings, open_model)

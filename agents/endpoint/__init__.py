"""Models behind an OpenAI-compatible chat endpoint.

The modules chat.py and replicas.py, which import LangChain, are imported only when such a model is
opened.
"""

from __future__ import annotations

from ...records import Proposer
from ..model_settings import ModelKind
from .settings import ChatSettings


async def open_model(settings: ChatSettings) -> Proposer:
    """Return a proposer for the endpoint, without sending a request.

    Raises:
        UsageError: The model string, a setting or the environment is invalid.
    """
    from .replicas import open_chat

    return open_chat(settings)


PROVIDER = ModelKind("PROVIDER:NAME", ChatSettings, open_model)
HTTP = ModelKind("http://host:port/v1#NAME", ChatSettings, open_model)
HTTPS = ModelKind("https://host/v1#NAME", ChatSettings, open_model)

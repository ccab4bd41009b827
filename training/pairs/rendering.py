"""Describe with which chat templates the sessions of a set of pairs rendered their prompts.

The description is part of the settings of the set, so that a training can check that its base model
renders the same tokens (`dpo/reproduction.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...records import Json

if TYPE_CHECKING:
    from ...store import Store
    from .pooling import Source

PROMPTS_PER_SESSION = 4


def describe_rendering(store: Store, sources: Sequence[Source]) -> list[dict[str, Json]]:
    """Return a dict for each session that recorded digests of its prompts, in the order of `sources`.

    The keys are session (the session's digest), model, chat_template (a digest, "plain", or None if
    it is unknown), variables (of the chat template), and prompts: up to `PROMPTS_PER_SESSION` dicts
    with the keys messages, digest (`records.digest_prompt`), and tools if there are any.

    Args:
        store: The open store.
        sources: The sessions.
    """
    found: list[dict[str, Json]] = []
    for source in sources:
        settings = source.settings.get("model_settings") or {}
        if settings.get("scheme") not in ("hf", "openai"):
            continue
        prompts = store.digested_prompts(source.session, PROMPTS_PER_SESSION)
        if prompts:
            found.append(
                {
                    "session": source.digest,
                    "model": str(source.settings.get("model")),
                    "chat_template": settings.get("chat_template"),
                    "variables": dict(source.variables or {}),
                    "prompts": [
                        {key: one[key] for key in ("messages", "tools", "digest") if one[key]}
                        for one in prompts
                    ],
                }
            )
    return found

"""Trackers that the libraries know (tensorboard, wandb, …), by their names."""

from __future__ import annotations

from ..records import UsageError


def trackers(told: str) -> list[str]:
    """The names in `told`, by commas; none of an empty text or `none`. UsageError for one that
    transformers does not know or whose library is not installed."""
    names = [one.strip() for one in told.split(",") if one.strip() not in ("", "none")]
    if not names:
        return []
    from transformers.integrations import get_reporting_integration_callbacks

    try:
        for callback in get_reporting_integration_callbacks(names):
            callback()
    except (ValueError, RuntimeError, ImportError) as error:
        cause = " ".join(str(error).split())
        raise UsageError(f"report_to {told!r} cannot be served: {cause}") from None
    return names

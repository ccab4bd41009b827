"""The forms of dates and times that texts are recognised as."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

DATE_FORMS = (
    "%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y%m%d", "%d %B %Y",
    "%B %d, %Y", "%d %b %Y", "%b %d, %Y", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%H:%M",
    "%H:%M:%S", "%I:%M %p", "%d/%m/%y", "%m/%d/%y",
)  # fmt: skip


def is_date(value: Any, form: str) -> bool:
    """Return whether a value is a text that is a date or time of this form."""
    try:
        return bool(datetime.strptime(value, form))
    except (TypeError, ValueError):
        return False


def date_form(texts: Sequence[Any]) -> str | None:
    """Return the first form that all these texts have, or None."""
    for form in DATE_FORMS:
        if texts and all(is_date(text, form) for text in texts):
            return form
    return None

"""The forms of dates and times that texts are recognised as."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

DATE_FORMS = (
    "%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y%m%d", "%d %B %Y",
    "%B %d, %Y", "%d %b %Y", "%b %d, %Y", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%H:%M",
    "%H:%M:%S", "%I:%M %p", "%d/%m/%y", "%m/%d/%y", "%d-%b-%Y", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%z",
    "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%d %H:%M:%S%z", "%Y-%m-%d %H:%M:%S %z", "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p",
    "%Y-%m-%d %I:%M %p", "%I:%M%p", "%I:%M:%S %p", "%I %p", "%I%p", "%d.%m.%y", "%d-%m-%y", "%d %b %y", "%d-%b-%y",
    "%A, %d %B %Y", "%A, %B %d, %Y", "%a, %d %b %Y", "%a %d %b %Y", "%d %B, %Y", "%b %d %Y", "%B %d %Y", "%b %d",
    "%d %b", "%B %Y", "%b %Y", "%Y-%m", "%m/%Y", "%d/%m", "%m/%d", "%a, %d %b %Y %H:%M:%S %z",
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

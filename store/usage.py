"""Sum what the calls of a session took: tokens, retries and seconds, by kind of call and by role."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .codec import decode_text
from .connection import RowReader


def usage(reader: RowReader, session: str) -> dict[str, Any]:
    """Return numbers of calls, tokens, retries, repeated calls and seconds of a session.

    The result contains totals, and sums by kind and by role, each with "cached_share", the share of
    the input tokens that the endpoint took from its cache (None without input tokens). A repeated call was answered from the
    record of another session. The role is a name in the path of a call: `propose` for
    step/3/propose/0, and `propose/tool` for step/3/propose/0/tool/1, a tool that the proposer
    called. For the calls of a second proposer, the roles are `then` and `then/tool`. The role `human`
    has the hints and answers of a person.
    """
    by_kind: dict[str, dict[str, Any]] = {}
    by_role: dict[str, dict[str, Any]] = {}
    total = _nothing()
    for kind, role, sums in _sums_by_role(reader, session):
        _add(total, sums)
        _add(by_kind.setdefault(kind, _nothing()), sums)
        _add(by_role.setdefault(role, _nothing()), sums)
    shares = {"by_kind": by_kind, "by_role": by_role}
    return {
        **_with_cached_share(total),
        **{
            by: {name: _with_cached_share(sums) for name, sums in of.items()}
            for by, of in shares.items()
        },
    }


def model_usage(reader: RowReader, session: str) -> dict[str, dict[str, Any]]:
    """Return the sums of `usage` by role over the model calls alone, without "cached_share"."""
    return {role: sums for kind, role, sums in _sums_by_role(reader, session) if kind == "model"}


# The role in the path of a call, as `usage` describes it.
_ROLE = (
    "CASE WHEN kind = 'human' THEN 'human' WHEN path LIKE 'seed/%' THEN 'seed' WHEN path NOT LIKE '%/%/%' THEN path ELSE "
    "{propose} || CASE split_part(path, '/', 5) WHEN 'tool' THEN '/tool' ELSE '' END END"
)
_ASKED = "split_part(path, '/', 3)"
# Both proposers' calls have the same paths. The role stands in the request of the model call; within
# a text of the request its quotation marks would be escaped. A tool call belongs to the model call.
_ASKED_OF_TWO = (
    f"CASE WHEN {_ASKED} = 'propose' AND (problem, regexp_replace(path, '/tool/.*$', '')) IN "
    "(SELECT (problem, path) FROM call WHERE session = $1 AND kind = 'model' AND path LIKE "
    f"'%/propose/%' AND request LIKE '%\"role\":\"then\"%') THEN 'then' ELSE {_ASKED} END"
)


def _sums_by_role(reader: RowReader, session: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the kind and the role of calls with their sums, in the order of kinds and roles."""
    # Requests are only read where the settings name a second proposer.
    (named,) = reader.query(
        "SELECT count(*) FILTER (settings LIKE '%\"then\"%') FROM session WHERE session = ?",
        (session,),
    )
    role = _ROLE.format(propose=_ASKED_OF_TWO if named[0] else _ASKED)
    rows = reader.query(
        f"SELECT kind, {role}, "
        "count(*), sum(tokens_in), sum(tokens_out), sum(tokens_cached), "  # HUGEINT: no overflow
        "sum(tokens_reasoning), sum(retries), "
        "count(*) FILTER (repeats <> ''), sum(seconds) "
        "FROM call WHERE session = $1 GROUP BY 1, 2 ORDER BY 1, 2",
        (session,),
    )
    for kind, name, *numbers in rows:
        yield kind, decode_text(name), dict(zip(_nothing(), numbers, strict=True))


def _add(sums: dict[str, Any], more: dict[str, Any]) -> None:
    for name, number in more.items():
        sums[name] += number


def _with_cached_share(sums: dict[str, Any]) -> dict[str, Any]:
    """Return sums of tokens with the share of the input tokens that the endpoint had cached.

    The share is None without input tokens. Some servers count cached tokens apart from the input
    tokens; a share above 1 is shown as 1.
    """
    cached, total = sums["tokens_cached"], sums["tokens_in"]
    return {**sums, "cached_share": round(min(cached, total) / total, 4) if total else None}


def _nothing() -> dict[str, Any]:
    tokens = ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")
    return {"calls": 0, **dict.fromkeys(tokens, 0), "retries": 0, "repeated": 0, "seconds": 0.0}

"""Read the recorded calls of a session: with requests and responses, as a list, or the texts of people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..records import PROMPT_DIGEST
from .codec import decode_json, decode_text, encode_text
from .connection import RowReader

CALL_COLUMNS = (
    "problem, path, kind, request_digest, request, response, vectors, tokens_in, tokens_out, "
    "tokens_cached, tokens_reasoning, seconds, retries, started, repeats"
)
MAX_TOOL_CHARS = 2_000  # characters of a tool's request and of its response in a listing


def calls(reader: RowReader, session: str, problem: str | None) -> list[dict[str, Any]]:
    """Return the model and tool calls of a session, ordered by problem and path.

    Arrays in the calls are given by their digests. `problem` selects the calls of one problem; None
    selects all problems.
    """
    where, params = "session = ?", [session]
    if problem is not None:
        where, params = where + " AND problem = ?", [session, encode_text(problem)]
    rows = reader.query(
        f"SELECT {CALL_COLUMNS} FROM call JOIN (SELECT session, problem, ordinal FROM problem) USING "
        f"(session, problem) WHERE {where} ORDER BY ordinal, path",
        params,
    )
    return [_call(row) for row in rows]


def digested_prompts(reader: RowReader, session: str, limit: int) -> list[dict[str, Any]]:
    """Return requests of the proposer whose responses contain the digest of their prompt.

    Each dict has the keys messages, tools and digest. First calls of problems come first.
    """
    rows = reader.query(
        "SELECT request, response FROM call JOIN (SELECT session, problem, ordinal FROM problem) "
        "USING (session, problem) WHERE session = ? AND kind = 'model' AND path LIKE "
        f"'%/propose/%' AND response LIKE '%\"{PROMPT_DIGEST}\"%' ORDER BY path, ordinal LIMIT ?",
        (session, limit),
    )
    found = []
    for asked, answered in rows:
        request = decode_json(asked, "call.request", dict)
        meta = decode_json(answered, "call.response", dict).get("meta") or {}
        if isinstance(digest := meta.get(PROMPT_DIGEST), str):
            found.append(
                {"messages": request["messages"], "tools": request["tools"], "digest": digest}
            )
    return found


def list_calls(
    reader: RowReader, session: str, problem: str | Sequence[str] | None
) -> list[dict[str, Any]]:
    """Return the calls of a session without requests and responses, which take most of the space.

    The keys are problem, path, kind, tokens_in, tokens_out, seconds, retries and repeats. If a
    proposer called a tool, the call also has the key "said": its request and response as text, cut
    at `MAX_TOOL_CHARS` characters. A call of the kind "human" has the key "texts": the hints or the
    answer of the person. `problem` is the id of one problem, the ids of several, or None for all.
    """
    where, params = "session = ?", [session]
    if problem is not None:
        ids = [problem] if isinstance(problem, str) else problem
        where += f" AND problem IN ({','.join('?' * len(ids)) or 'NULL'})"
        params += map(encode_text, ids)
    said = ", ".join(
        f"CASE WHEN path LIKE '%/tool/%' THEN left({name}, {MAX_TOOL_CHARS}) END"
        for name in ("request", "response")
    )
    said += ", CASE WHEN kind = 'human' THEN response END"
    names = ("tokens_in", "tokens_out", "seconds", "retries", "repeats")
    rows = reader.query(
        f"SELECT problem, path, kind, {', '.join(names)}, {said} FROM call JOIN (SELECT session, "
        f"problem, ordinal FROM problem) USING (session, problem) WHERE {where} ORDER BY ordinal, path",
        params,
    )
    found = []
    for name, path, kind, *numbers, request, response, of_person in rows:
        call = {"problem": decode_text(name), "path": decode_text(path), "kind": kind}
        call |= dict(zip(names, numbers, strict=True))
        if request is not None:
            call["said"] = {"request": request, "response": response}
        if of_person is not None:
            call["texts"] = list(read_texts(decode_json(of_person, "call.response")))
        found.append(call)
    return found


def human_texts(
    reader: RowReader, session: str, problem: str | None
) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the hints and answers of people: (problem, path, texts), ordered by problem and path.

    Hints of a request are its texts in the order in which they were given; an answer is one text.
    """
    where, params = "session = ? AND kind = 'human'", [session]
    if problem is not None:
        where, params = where + " AND problem = ?", [session, encode_text(problem)]
    rows = reader.query(f"SELECT problem, path, response FROM call WHERE {where}", params)
    found = [
        (decode_text(name), decode_text(path), read_texts(decode_json(response, "call.response")))
        for name, path, response in rows
    ]
    return sorted(found, key=lambda one: (one[0], _numbers_of(one[1]), one[1]))


def _numbers_of(path: str) -> list[int]:
    """Return the numbers in a path, so that step 10 comes after step 9."""
    return [int(part) for part in path.split("/") if part.isdecimal()]


def read_texts(response: Any) -> tuple[str, ...]:
    """Return the texts in the response of a call of a person."""
    told = response if isinstance(response, dict) else {}
    hints = told.get("hints", [told.get("text")])
    return tuple(one for one in hints if isinstance(one, str)) if isinstance(hints, list) else ()


def last_responses(reader: RowReader, session: str, kind: str) -> dict[str, Any]:
    """Return the response of the last call of a kind, for each problem that has such a call.

    `kind` is "model", "tool" or "human".
    """
    rows = reader.query(
        "SELECT problem, arg_max(response, started) FROM call WHERE session = ? AND kind = ? "
        "GROUP BY problem",
        (session, kind),
    )
    return {
        decode_text(problem): decode_json(response, "call.response") for problem, response in rows
    }


def _call(row: Sequence[Any]) -> dict[str, Any]:
    problem, path, kind, digest, request, response, vectors, *numbers = row
    names = (
        *("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning"),
        *("seconds", "retries", "started", "repeats"),
    )
    return {
        "problem": decode_text(problem),
        "path": decode_text(path),
        "kind": kind,
        "request_digest": digest,
        "request": decode_json(request, "call.request"),
        "response": decode_json(response, "call.response"),
        "vectors": decode_json(vectors, "call.vectors", dict),
        **dict(zip(names, numbers, strict=True)),
    }

"""The resources of the server: the list of sessions, one session, and its report as a page."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError

from ... import PeirceError, load, report, run_in_thread, sessions
from .answers import clean_json, clean_text
from .run_settings import AccessRules

MAX_SESSIONS = 1_000  # in the list, the newest ones
MAX_FINDINGS = 100  # of one session
MAX_REPORT_BYTES = 20_000_000
LISTED = ("session", "created", "status", "task", "method", "model", "seed", "problems",
          "problems_done", "problems_failed")  # fmt: skip


def add_resources(server: MCPServer[Any], rules: AccessRules) -> None:
    """Add the resources to a server.

    Args:
        server: the server.
        rules: what clients may use.
    """
    store = rules.server.store

    async def list_sessions() -> str:
        def read() -> str:
            rows = sessions(store=store) if store.exists() else []
            listed = [{key: row[key] for key in LISTED} for row in reversed(rows[-MAX_SESSIONS:])]
            return json.dumps(clean_json(listed), ensure_ascii=False)

        return await _read(read)

    async def describe_session(session: str) -> str:
        def read() -> str:
            trace = load(session, store=store)
            row = next(one for one in sessions(store=store) if one.session == trace.session)
            found = trace.findings()
            about = {key: row[key] for key in LISTED}
            about["total_findings"] = len(found)
            about["findings"] = [one.to_dict() for one in found[:MAX_FINDINGS]]
            return json.dumps(clean_json(about), ensure_ascii=False)

        return await _read(read)

    async def write_report(session: str) -> str:
        def read() -> str:
            with tempfile.TemporaryDirectory(prefix="peirce-") as folder:
                page = Path(folder, "report.html")
                report(session, out=page, store=store)
                if page.stat().st_size > MAX_REPORT_BYTES:
                    raise PeirceError(
                        f"the page has {page.stat().st_size:,} bytes, too many for a resource: write"
                        f" it with peirce report {session} --out FILE"
                    )
                return clean_text(page.read_text("utf-8"))

        return await _read(read)

    for function, address, kind, about in (
        (list_sessions, "", "application/json", "The sessions of the store, newest first."),
        (
            describe_session, "/{session}", "application/json",
            "One session: its status, counts and best findings.",
        ),
        (
            write_report, "/{session}/report", "text/html",
            "The report of one session as one HTML page without external parts.",
        ),
    ):  # fmt: skip
        name = function.__name__.partition("_")[2]
        decorate = server.resource(
            f"peirce://sessions{address}", name=name, mime_type=kind, description=about
        )
        decorate(function)


async def _read(work: Any) -> str:
    try:
        found: str = await run_in_thread(work)
        return found
    except PeirceError as error:
        raise ResourceError(clean_text(str(error))) from None

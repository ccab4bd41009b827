"""A session that has ended keeps its summary where its sandbox cannot be opened any more.

Internals: `open_oracles` is replaced by one that fails as a stopped engine does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.commands import findings
from peirce.commands.outcome import load_outcome
from peirce.records import SandboxUnavailable


def test_without_a_sandbox_the_findings_lack_only_what_it_would_compute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "sums.csv"
    data.write_text('input,output\n"[1, 2, 3]",6\n"[4]",4\n[],0\n"[2, 9]",11\n')

    def fail(*arguments: Any) -> Any:
        raise SandboxUnavailable("the engine does not answer")

    complete = peirce.run("examples", data=data, store=tmp_path / "a.duckdb", max_answers=2)
    monkeypatch.setattr(findings, "open_oracles", fail)
    session = load_outcome(tmp_path / "a.duckdb", complete.session)
    assert session.status == "done" and session.digest == complete.digest
    assert complete.best and None not in complete.best[0].disagreement.outputs
    assert [one.reading for one in session.best] == [one.reading for one in complete.best]
    assert session.best[0].disagreement.outputs == [None, None]

"""docs/how-to/use-from-python.md runs: its blocks of Python, in order, as one script in an empty folder.

A block whose fence says more than `python` needs what a test has not (an endpoint, an hour); it is
compiled. A traceback names the line of the page, as blocks stand in the script where they do there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from peirce.tests.cli.forked_command import run_script

PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/use-from-python.md"
TEXT = PAGE.read_text("utf-8")
BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.S | re.M)
WHOLE = [(found[1].strip(), found[2], found.start(2)) for found in BLOCK.finditer(TEXT)]


def script() -> str:
    """The blocks that run, each at its own line."""
    lines: list[str] = []
    for needs, code, start in WHOLE:
        if not needs:
            lines += [""] * (TEXT.count("\n", 0, start) - len(lines))
            lines += code.splitlines()
    return "\n".join(lines) + "\n"


def test_the_blocks_of_the_page_run_as_one_script(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(script(), "utf-8")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "PEIRCE"))}
    done = run_script("page.py", cwd=tmp_path, env={**clean, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("done {") and "('exhausted', " in done.stdout


def test_a_block_that_is_not_run_says_why_and_compiles() -> None:
    apart = [(needs, code) for needs, code, _ in WHOLE if needs]
    assert {needs for needs, _ in apart} <= {"endpoint", "training"}
    for _, code in apart:
        compile(code, str(PAGE), "exec")


def test_most_of_the_page_runs_and_its_first_block_is_short() -> None:
    run = [code for needs, code, _ in WHOLE if not needs]
    assert len(run) >= 2 * (len(WHOLE) - len(run))
    assert len([line for line in run[0].splitlines() if line.strip()]) <= 10

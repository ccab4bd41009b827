"""The site of the documentation is built without a warning, and its links and anchors lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from site_links import title_blocks, unlink_outside  # noqa: E402

needs_mkdocs = pytest.mark.skipif(
    importlib.util.find_spec("mkdocs") is None, reason="NO MKDOCS HERE: pip install 'peirce[docs]'"
)


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--config-file",
        str(config),
        "--site-dir",
        str(site),
    ]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


@needs_mkdocs
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    built = build(ROOT / "mkdocs.yml", tmp_path / "site")
    assert built.returncode == 0 and "WARNING" not in built.stderr, built.stderr[-2_000:]
    assert (tmp_path / "site" / "tutorials" / "labelled-text.html").is_file()


@needs_mkdocs
def test_a_link_that_leads_nowhere_fails(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# One\n\n[gone](gone.md)\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nstrict: true\n")
    built = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert built.returncode != 0 and "gone.md" in built.stderr


def test_links_out_of_the_docs_become_text() -> None:
    text = "[log](../../LOG.md) [a](b.md#c) [code](../x.py) [out](https://example.org/a.md) ![i](../f.svg)"
    assert unlink_outside(text, "how-to/one.md") == (
        "log [a](b.md#c) code [out](https://example.org/a.md) ![i](../f.svg)"
    )


def test_the_name_of_a_code_block_becomes_its_title() -> None:
    assert title_blocks("```csv pairs.csv\na\n```\n") == '```csv title="pairs.csv"\na\n```\n'
    assert title_blocks("```python\na\n```\n") == "```python\na\n```\n"

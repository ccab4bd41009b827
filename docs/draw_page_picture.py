"""Draw docs/page.png, the picture of the report page in the README: run `python docs/draw_page_picture.py`.

The script runs a session of the embedded search on the tickets of docs/walks/labelled-texts, writes its page and takes
a picture of the first screen with chromium (`apt-get install chromium`).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import peirce

DOCS = Path(__file__).resolve().parent
TICKETS = DOCS / "walks" / "labelled-texts" / "tickets.csv"
PICTURE = DOCS / "page.png"
WIDTH, HEIGHT = 1200, 800
MAX_BYTES = 150_000


def draw(picture: Path) -> None:
    """Write the picture.

    Args:
        picture: The PNG file.
    """
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit(
            "There is no chromium here. Install it, for example with `apt-get install chromium`."
        )
    with tempfile.TemporaryDirectory() as folder:
        store, page = Path(folder) / "peirce.duckdb", Path(folder) / "report.html"
        peirce.run("labels", data=TICKETS, label="kind", model="search", store=store)
        peirce.report(store=store, out=page)
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--virtual-time-budget=3000",
        ]
        subprocess.run(
            [chromium, *options, f"--user-data-dir={folder}/chromium", f"--window-size={WIDTH},{HEIGHT}",
             f"--screenshot={picture}", page.as_uri()],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
    if picture.stat().st_size > MAX_BYTES:
        sys.exit(
            f"{picture.name} has {picture.stat().st_size:,} bytes; at most {MAX_BYTES:,} are allowed."
        )


if __name__ == "__main__":
    draw(PICTURE)

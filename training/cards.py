"""What the cards of trained models are written with."""

from __future__ import annotations

from collections.abc import Sequence

SHORT = 16  # digits of a digest


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a pipe table."""

    def line(cells: Sequence[str]) -> str:
        inside = " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells)
        return f"| {inside} |"

    return [line(heads), line(["---"] * len(heads)), *map(line, rows)]

"""A part of the published GPT-4 answers, for tests with every change; the whole is imported in `make soak`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WHOLE = Path("recorded") / "gpt4_list_function_python.json"
IMPORTS = 8  # problems with an answer that imports a module; 14 answers are judged only leniently


def read_whole(shared_data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared_data / WHOLE).read_text())
    return found


def write_part(shared_data: Path, file: Path, every: int = 9) -> list[dict[str, Any]]:
    """Write each `every`-th problem, and all with an answer that imports a module; return them."""
    whole = read_whole(shared_data)
    some = [
        one for place, one in enumerate(whole["problems"]) if place % every == 0 or imports(one)
    ]
    assert sum(map(imports, some)) == IMPORTS
    file.write_text(json.dumps(whole | {"problems": some}))
    return some


def imports(problem: dict[str, Any]) -> bool:
    return "import " in json.dumps(problem["turns"])

"""Generated sets for tests: a few instances, made once, saved in the published form and changed.

Internals: the records of an instance are changed before they are written in the published form.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from peirce.tasks.logic.audit import audit_file
from peirce.tasks.logic.generation.instances import GeneratedInstance
from peirce.tasks.logic.generation.published_form import holdout_rows, instance_record
from peirce.tasks.logic.generation.series import generate_instances

Records, Rows = list[dict[str, Any]], list[dict[str, Any]]
REGIMES = ("full", "partial", "skeptical")


@cache
def made(count: int = 6, seed: int = 11) -> tuple[GeneratedInstance, ...]:
    """Two of each regime."""
    return tuple(generate_instances(count, seed))


def of(regime: str) -> GeneratedInstance:
    return next(one for one in made() if one.recipe.regime == regime)


def plain(value: Any) -> Any:
    """A copy in JSON values; sets are lists."""
    return json.loads(json.dumps(value, default=lambda some: list(some) if some else some))


def written(one: GeneratedInstance) -> tuple[Records, Rows]:
    return [plain(instance_record(one))], plain(holdout_rows(one))


def saved(folder: Path, records: Records, rows: Rows) -> Path:
    """As JSON, which is YAML too."""
    folder.mkdir(exist_ok=True)
    (folder / "abd_instances_v1.yaml").write_text(json.dumps(records))
    (folder / "abd_holdouts_v1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


Change = Callable[[dict[str, Any], Rows], Any]


def failed(folder: Path, regime: str, change: Change) -> dict[str, dict[str, Any]]:
    """The checks that fail once an instance was changed, by name."""
    records, rows = written(of(regime))
    change(records[0], rows)
    told = audit_file(saved(folder, records, rows))
    return {one["check"]: one for one in told["checks"] if one["failed"]}

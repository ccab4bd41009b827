"""A check: how often what it says holds, and where it first does not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ....records import Json

SHOWN = 5


@dataclass
class Check:
    """check: what holds where it passes. of: what is counted. offenders: the first, each with what
    was found there."""

    check: str
    of: str
    passed: int = 0
    failed: int = 0
    offenders: list[str] = field(default_factory=list)

    def count(self, holds: bool, where: str, found: str = "") -> None:
        if holds:
            self.passed += 1
            return
        self.failed += 1
        if len(self.offenders) < SHOWN:
            self.offenders.append(f"{where}: {found}" if found else where)

    def as_json(self) -> dict[str, Json]:
        return {
            "check": self.check,
            "of": self.of,
            "passed": self.passed,
            "failed": self.failed,
            "offenders": list(self.offenders),
        }


class Checks:
    """Checks by name, in the order in which they are first counted."""

    def __init__(self) -> None:
        self.found: dict[str, Check] = {}

    def count(self, check: str, of: str, holds: bool, where: str, found: str = "") -> None:
        self.found.setdefault(check, Check(check, of)).count(holds, where, found)

    def all(self) -> Iterable[Check]:
        return self.found.values()

"""Z3 in a separate process: `python -m peirce.tools.logic.z3_worker` (tools/line_process.py).

Z3 counts its resources, but a single step of Z3 may exceed any time limit. Therefore the parent
process may have to kill this process. Translated worlds are kept in memory for the next rule.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from ..line_process import serve
from .parser import parse_formula
from .theories import theory_from_json
from .worlds import parse_world
from .z3_solver import GroundedWorlds

_KEPT = 16
_GATES = 200_000


class Worker:
    """The object that answers requests of the parent process, one after another.

    It keeps the most recently used worlds in memory.
    """

    def __init__(self) -> None:
        self.solved: OrderedDict[str, GroundedWorlds] = OrderedDict()

    def answer(self, request: dict[str, Any]) -> Any:
        """Answer one request of the parent process.

        Args:
            request: The keys are "key" (a digest of the theory and the worlds), "theory", "worlds",
                "regime", "rule", "wanted" (what to return) and "resources" (the limit for Z3).

        Returns:
            The validity and cost of the rule in each world, with explanations if requested. If
            "wanted" is "extension", the rows of `GroundedWorlds.extension`.
        """
        solved = self._solved(request)
        rule = parse_formula(request["rule"], solved.theory.predicates)
        if request["wanted"] == "extension":
            return solved.extension(rule).tolist()
        worths = [worth._asdict() for worth in solved.judge(rule)]
        if request["wanted"] == "worth":
            return worths
        told = solved.explain(rule)
        return [worth | one.as_json() for worth, one in zip(worths, told, strict=True)]

    def _solved(self, request: dict[str, Any]) -> GroundedWorlds:
        key = request["key"]
        if key not in self.solved:
            theory = theory_from_json(request["theory"])
            worlds = [parse_world(one, theory.signature, "a world") for one in request["worlds"]]
            self.solved[key] = GroundedWorlds(
                theory, worlds, request["regime"], request["resources"]
            )
            if len(self.solved) > _KEPT:
                self.solved.popitem(last=False)
        self.solved.move_to_end(key)
        if len(self.solved[key].gates.gates) > _GATES:  # Judged rules leave gates; start afresh.
            self.solved[key] = self.solved[key].without_gates()
        return self.solved[key]


if __name__ == "__main__":
    serve(Worker().answer)

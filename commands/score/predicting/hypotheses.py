"""Apply hypotheses that a sandbox or solver can run (programs, rules about worlds) to new inputs.

The best hypothesis that is consistent with the shown observations decides the prediction
(reports/findings.py). All consistent hypotheses vote: `agreement` is the share of the votes for
this prediction.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ....records import (
    Family,
    Hypothesis,
    InputSet,
    Json,
    NamesCodes,
    Oracles,
    OracleSettings,
    Predictions,
    Problem,
    SplitsObservations,
    UsageError,
    View,
)
from ....reports.findings import rank_problems
from ....store import Store
from ....tasks import problem_family
from ...oracles import open_oracles
from ...session.bank_files import StoredBank
from ..checking import warn_about_missing_layers
from .inputs import InputRow, PredictionInputs
from .votes import agreement_shares

INPUTS_PER_BATCH = 1_000  # inputs that the hypotheses are applied to in one batch


def rank_stored(bank: StoredBank, problem: Problem, store: Path) -> list[Hypothesis] | None:
    """Return the consistent hypotheses of a session for one problem, best first.

    The result is None if the bank comes from a file instead of a session.

    Args:
        bank: the bank of hypotheses.
        problem: the problem.
        store: path of the store.
    """
    session = bank.source.get("session")
    if session is None:
        return None
    with closing(Store.open(store, write=False)) as opened:
        rows = [row for row in opened.problems(session) if row.problem.id == problem.id]
        ((_, ranked),) = rank_problems(opened, session, rows, distinct=False)
    return [one.hypothesis for one in ranked if one.judged.verdict.consistent]


@dataclass(frozen=True)
class OraclePredictions:
    """Predictions by the best hypothesis of a bank, applied by a sandbox or solver.

    Args:
        problem: the problem that the hypotheses explain.
        bank: name of the bank, for messages.
        texts: the hypotheses of a bank from a file, best first.
        ranked: the consistent hypotheses of a session, best first. None for a bank from a file: its
            hypotheses are judged on the shown observations here.
        inputs: the inputs to predict.
        opening: the settings with which the sandbox or solver is opened.
        cluster: where hypotheses are applied: local, ray or ray://HOST.
    """

    problem: Problem
    bank: str
    texts: Sequence[str]
    ranked: Sequence[Hypothesis] | None
    inputs: PredictionInputs
    opening: OracleSettings
    cluster: str = "local"

    async def give_all(self, give: Callable[[dict[str, Json]], Awaitable[None]]) -> None:
        """Predict the output of each input, and pass the predictions to `give` in order."""
        family = problem_family(self.problem)
        view = self.inputs.problem.make_view(InputSet("none", ()))
        rows = self.inputs.rows
        async with open_oracles(family, self.opening, self.cluster) as tools:
            warn_about_missing_layers(tools, self.opening.sandbox)
            oracles = tools.make_oracles()
            voters = await self._consistent(family, oracles)
            summaries = await self._summaries(family, voters[0], view, oracles)
            for start in range(0, len(rows), INPUTS_PER_BATCH):
                part = rows[start : start + INPUTS_PER_BATCH]
                inputs = InputSet("inputs", tuple(row.input for row in part))
                predicted = await family.predict(voters, inputs, view, oracles)
                results, marks = await self._results(
                    family, voters[0], predicted[0], part, view, oracles
                )
                shares = _shares(predicted, results)
                for place, row in enumerate(part):
                    found = {
                        "row": start + place + 1,
                        **row.columns,
                        **(summaries[row.observation] if row.observation is not None else {}),
                        "prediction": results[place].get("value"),
                        "agreement": shares[place],
                        "rule": voters[0].text,
                        "how": "oracle",
                        "reason": results[place].get("undefined"),
                        "hypothesis": voters[0].text,
                    }
                    if row.has_output:
                        found |= {"expected": row.output, "right": marks[place] is True}
                    await give(found)

    async def _consistent(self, family: Family, oracles: Oracles) -> Sequence[Hypothesis]:
        """Return the hypotheses that are consistent with the shown observations, best first.

        Raises:
            UsageError: there is none.
        """
        found = self.ranked
        if found is None:
            view = self.problem.make_view(InputSet("none", ()))
            parsed = [family.parse_hypothesis(text, view) for text in dict.fromkeys(self.texts)]
            found = [
                one
                for one in parsed
                if isinstance(one, Hypothesis)
                and family.is_consistent(
                    await family.measure_agreement(one, self.problem.shown, view, oracles)
                )
            ]
        if not found:
            raise UsageError(
                f"bank {self.bank} has no hypothesis that is consistent with problem"
                f" {self.problem.id}"
            )
        return found

    async def _summaries(
        self, family: Family, best: Hypothesis, view: View, oracles: Oracles
    ) -> list[Mapping[str, Json]]:
        """Return what is reported about each whole observation."""
        if not isinstance(family, SplitsObservations) or not self.inputs.observations:
            return []
        agreement = await family.measure_agreement(best, self.inputs.observations, view, oracles)
        return [family.summarize_agreement(one) for one in agreement.got]

    async def _results(
        self,
        family: Family,
        best: Hypothesis,
        predicted: Predictions,
        part: Sequence[InputRow],
        view: View,
        oracles: Oracles,
    ) -> tuple[Sequence[Mapping[str, Json]], Sequence[bool | None]]:
        """Return what the best hypothesis predicts, as in `Agreement.got`, and whether it is right."""
        if isinstance(family, SplitsObservations) and isinstance(family, NamesCodes):
            names = family.code_names(self.problem)
            results: list[Mapping[str, Json]] = [
                {"undefined": predicted.reason_names[reason - 1]}
                if reason
                else {"value": names[code]}
                for code, reason in zip(
                    predicted.codes.tolist(), predicted.reasons.tolist(), strict=True
                )
            ]
            return results, [None] * len(part)
        agreement = await family.measure_agreement(best, [row.pair for row in part], view, oracles)
        return agreement.got, agreement.marks


def _shares(
    predicted: Sequence[Predictions], results: Sequence[Mapping[str, Json]]
) -> list[float | None]:
    decided = [
        code if "value" in result and is_defined else None
        for code, is_defined, result in zip(
            predicted[0].codes.tolist(), predicted[0].defined.tolist(), results, strict=True
        )
    ]
    return agreement_shares(
        np.stack([one.codes for one in predicted]), np.stack([one.defined for one in predicted]), decided
    )  # fmt: skip

"""The evaluation of exception rules (ABD, section 6).

Definitions and denominators are in docs/explanation/exception-rules.md. One answer per problem is
scored (`records.py`). At the end of a session, the answer is scored on the prompt worlds by the
exact evaluator, with data from the store alone. `peirce eval abd` judges the stored answers again,
with either evaluator, and also on the holdouts (commands/score/rule_scores.py).

Validity and `holdout_validity` are shares of all problems, including those with malformed answers.
Gaps and sizes are means over valid rules. If the solver reached a limit, the result has no value
and is counted in `limited`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....records import InputSet, Problem, StepRecord, Verdict
from ....tasks.logic.measures import measure_rule
from ...metrics.evaluation import Evaluation, Metric
from ...metrics.statistics import Interval, metric_intervals
from .records import Attempt, Record, build_record, choose_attempt, is_refined, problem_facts

SEED = 0  # Seed of the intervals.
METRICS = (
    Metric(
        "prompt_validity",
        "higher",
        "Share of rules that are valid on all prompt worlds without repairing parentheses.",
    ),
    Metric(
        "prompt_validity_repaired",
        "higher",
        "Share of rules that are valid on all prompt worlds after missing closing parentheses"
        " are added.",
    ),
    Metric("gap", "lower", "Mean cost above the lower bound per prompt world."),
    Metric("gref", "lower", "Mean cost above that of the planted rule per prompt world."),
    Metric(
        "beats_reference", "higher", "Share of valid rules that cost less than the planted rule."
    ),
    Metric("ast_size", "lower", "Mean syntax tree size of valid rules."),
    Metric("holdout_validity", "higher", "Share of rules that are valid on all holdouts."),
    Metric(
        "holdout_validity_given_prompt",
        "higher",
        "Share of rules valid on all holdouts among those valid on all prompt worlds.",
    ),
    Metric("holdout_gap", "lower", "Mean cost above the lower bound per holdout."),
    Metric(
        "delta_gap",
        "lower",
        "Increase of the gap from prompt worlds to holdouts, for rules valid on both.",
    ),
    Metric("invalid", "lower", "Share of rules that are invalid on at least one prompt world."),
    Metric("parse_error", "lower", "Share of answers that contain no rule."),
    Metric("missing", "lower", "Share of answers without a rule that have at most ten characters."),
    Metric("auto_closed", "lower", "Share of answers with missing closing parentheses."),
    Metric(
        "limited",
        "lower",
        "Share of rules that were not decided because the solver reached a limit.",
    ),
    Metric("ast_size_read", "lower", "Mean syntax tree size of all rules that were parsed."),
)
NAMES = tuple(metric.name for metric in METRICS)


def record_metrics(one: Record) -> dict[str, float | None]:
    """Return the metrics of a scored answer.

    A metric is None if the answer does not count for the metric.
    """
    invalid = None if one.valid is None else one.has_rule and not one.valid
    found = {
        "prompt_validity": one.strictly_valid,
        "prompt_validity_repaired": one.valid,
        "gap": one.gap,
        "gref": one.gref,
        "beats_reference": one.beats_reference,
        "ast_size": one.size if one.valid else None,
        "holdout_validity": one.holdout_valid,
        "holdout_validity_given_prompt": one.holdout_given_prompt,
        "holdout_gap": one.holdout_gap,
        "delta_gap": one.delta_gap,
        "invalid": invalid,
        "parse_error": not one.has_rule and not one.missing,
        "missing": one.missing,
        "auto_closed": one.closed > 0,
        "limited": one.limited,
        "ast_size_read": one.size if one.has_rule else None,
    }
    return {name: None if value is None else float(value) for name, value in found.items()}


def intervals(
    records: Sequence[Record],
    metrics: Sequence[str] = NAMES,
    has_value: Callable[[Record], bool] = lambda one: True,
    *,
    seed: int = SEED,
) -> dict[str, Interval]:
    """Return means of metrics over records, with intervals that resample problems within their
    regime.

    Args:
        records: The scored answers.
        metrics: Names of the metrics.
        has_value: Selects the records that count. Resamples are drawn from all records, because the
            selected property, such as a rule's size, is an outcome too.
        seed: Seed of the draws.
    """
    regimes = [one.facts.regime for one in records]
    valued = [record_metrics(one) if has_value(one) else {} for one in records]
    return metric_intervals(valued, metrics, strata=regimes, seed=seed)


def problem_metrics(
    problem: Problem, steps: Sequence[StepRecord], space: InputSet | None = None
) -> dict[str, float | None]:
    """Return the metrics of a problem on its prompt worlds, from the stored judgements.

    Args:
        problem: The problem.
        steps: The recorded steps of the problem.
        space: Ignored.
    """
    attempts: list[Attempt] = []
    for answer in (one for step in steps for one in step.answers):
        for judged in answer.judged:
            place = len(attempts)
            if judged.hypothesis is None or judged.verdict is Verdict.MALFORMED:
                reason = judged.reason.partition(":")[0]
                attempts.append(Attempt(place, answer.text, None, reason))
            else:
                rule = judged.hypothesis
                closed = rule.meta.get("closed", 0)
                attempts.append(Attempt(place, answer.text, rule, "", closed, judged.shown))
    chosen = choose_attempt(attempts, is_refined(steps))
    facts = problem_facts(problem, opened=False)
    of_rule = measure_rule(problem, chosen.shown, None, "exact")
    return record_metrics(build_record(problem, facts, attempts, chosen, of_rule))


def record_row(one: Record) -> Mapping[str, float | str | None]:
    """Return a scored answer as one row of the output of `--by-problem`."""
    return {
        "regime": one.facts.regime,
        "theory": one.facts.theory,
        "difficulty": one.facts.difficulty,
        "answers": one.answers,
        "formula": one.formula,
        "reason": one.reason,
        "failure": one.mode,
        "prompt_cost": one.measured.prompt.cost,
        "holdout_cost": one.measured.holdout.cost,
        **record_metrics(one),
    }


EVALUATION = Evaluation(
    name="abd",
    about="Validity, cost and size of exception rules, on prompt worlds and holdouts.",
    families=frozenset({"logic"}),
    metrics=METRICS,
    problem_metrics=problem_metrics,
    stratum=lambda problem: str(problem.public["theory"]["regime"]),
    main=("prompt_validity", "gap", "ast_size", "holdout_validity", "holdout_gap"),
    note="Exact evaluator on prompt worlds only; `peirce eval abd` also evaluates the holdouts",
)

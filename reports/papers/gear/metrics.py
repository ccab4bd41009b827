"""The GEAR scores of the problems of a session (GEAR, sections 3 and 5.1, table 3).

The consistent hypotheses of a problem are its accepted and its redundant hypotheses. Consistency
and instruction following are shares of all answers, including malformed answers. A problem without
a consistent answer has 0 in consistency and in beta, and no value in gamma and generalizability.
Therefore gamma and generalizability are means over fewer problems, whose number is n. Beta is 0
with fewer than two consistent hypotheses. An answer with several hypotheses counts once for each
hypothesis. Pass rates and Top-k on the observations are added to the scores (`pass_rates.py`).

The published tables use other conventions for some metrics, which have separate names here.
`beta_of_two` and `gamma_of_two` are means over the problems with at least two consistent
hypotheses. `consistency_of_parsed` leaves out malformed answers. docs/explanation/gear.md has the
formulas, and docs/reference/deviations.md lists all differences from the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ....records import NOT_REQUESTED, InputSet, Problem, StepRecord, Verdict
from ....tools.gear import scores
from ....tools.gear.prediction_classes import recall_classes
from ...metrics import pass_rates
from ...metrics.evaluation import Evaluation, Metric
from ...metrics.results import list_judged
from ...metrics.statistics import Interval
from ...metrics.statistics import metric_intervals as summarise

METRICS = (
    Metric("consistency", "higher", "Share of answers that agree with all shown observations."),
    Metric(
        "generalizability",
        "higher",
        "Share of the sample space S for which a consistent hypothesis makes a prediction.",
    ),
    Metric(
        "beta", "higher", "Mean Jaccard distance between the predictions of consistent hypotheses."
    ),
    Metric(
        "gamma",
        "higher",
        "Mean number of distinct predictions per input over all consistent hypotheses.",
    ),
    Metric("hypotheses", "higher", "Number of answers per problem, including malformed ones."),
    Metric("instruction_following", "higher", "Share of answers that are well formed."),
    Metric("consistent_hypotheses", "higher", "Number of consistent answers per problem."),
    Metric("accepted", "higher", "Number of consistent and novel answers per problem."),
    Metric("redundant", "lower", "Number of consistent but not novel answers per problem."),
    Metric(
        "inconsistent", "lower", "Number of answers per problem that contradict an observation."
    ),
    Metric("malformed", "lower", "Number of answers per problem that contain no hypothesis."),
    Metric("beta_of_two", "higher", "beta over problems with at least two consistent hypotheses."),
    Metric(
        "gamma_of_two", "higher", "gamma over problems with at least two consistent hypotheses."
    ),
    Metric("consistency_of_parsed", "higher", "Share of well-formed answers that are consistent."),
    *pass_rates.METRICS,
    pass_rates.WITHOUT_HIDDEN,
)


def problem_metrics(
    problem: Problem, steps: Sequence[StepRecord], space: InputSet | None = None
) -> dict[str, float | None]:
    """Return the GEAR scores and pass rates of one problem.

    If the predictions of a consistent hypothesis on the sample space are not known, gamma and
    generalizability are None. Beta is then None too if there are at least two consistent
    hypotheses.

    Args:
        problem: The problem.
        steps: The recorded steps of the problem.
        space: The sample space, if its inputs have weights; otherwise None.

    Raises:
        ValueError: Hypotheses of the problem were scored on sample spaces of different sizes.
    """
    judged = list_judged(steps)
    verdicts = [j.verdict for j in judged]
    counts = Counter(verdicts)
    consistent = [j for j in judged if j.verdict.consistent]
    predictions = [j.space for j in consistent if j.space and j.space.verdict != NOT_REQUESTED]
    weights = None if space is None else space.weights
    share = gamma = None
    beta: float | None = 0.0
    if len(predictions) < len(consistent):
        beta = 0.0 if len(consistent) < 2 else None
    elif consistent:
        if weights is None:
            found = scores.score_classes(recall_classes(predictions))
        else:
            found = scores.score_set(*scores.stack_predictions(predictions), weights)
        share, gamma, beta, _ = found
    return {
        "consistency": scores.consistency(verdicts),
        "generalizability": share,
        "beta": beta,
        "gamma": gamma,
        "hypotheses": len(judged),
        "instruction_following": scores.instruction_following(verdicts),
        "consistent_hypotheses": len(consistent),
        "accepted": counts[Verdict.ACCEPTED],
        "redundant": counts[Verdict.REDUNDANT],
        "inconsistent": counts[Verdict.INCONSISTENT],
        "malformed": counts[Verdict.MALFORMED],
        "beta_of_two": beta if len(consistent) > 1 else None,
        "gamma_of_two": gamma if len(consistent) > 1 else None,
        "consistency_of_parsed": scores.consistency(
            [verdict for verdict in verdicts if verdict is not Verdict.MALFORMED]
        ),
        **pass_rates.pass_rates(problem, judged),
    }


def summarize(
    results: Sequence[Mapping[str, float | None]], *, seed: int = 0
) -> dict[str, Interval]:
    """Return the mean of each metric over problems, with intervals.

    Args:
        results: The result of `problem_metrics` for each problem.
        seed: Seed of the bootstrap.
    """
    return summarise(results, EVALUATION.metric_names, seed=seed)


EVALUATION = Evaluation(
    name="gear",
    about="Consistency, generalizability, beta and gamma of the proposed hypotheses.",
    families=None,
    metrics=METRICS,
    problem_metrics=problem_metrics,
    main=("consistency", "generalizability", "beta", "gamma", "top1"),
)

"""Discover hypotheses that explain data. Peirce is named after C. S. Peirce, who defined abduction.

    import peirce

    session = peirce.run("list_functions", problems=12, model="search")
    print(session.metrics["gamma"].mean)

Every command of the command line is also a function of this package. A session is identified by its
id, by a unique prefix of its id, or by "last". A store is identified by the path of its file
(default: $PEIRCE_STORE, otherwise peirce.duckdb in the current folder). Functions return objects
with attributes, and the method `to_dict()` of a result returns the JSON object that the command
line prints with `--json`. Expected failures are raised as `PeirceError`.

Each public name is imported when it is first used, which keeps `import peirce` fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .commands.data.diagnosis import doctor
    from .commands.data.exporting import export
    from .commands.data.generating import tasks_audit, tasks_generate
    from .commands.data.merging import merge_stores
    from .commands.data.results import (
        Audit,
        Doctor,
        Export,
        Generated,
        MergedStore,
        ProblemShown,
        SpaceFile,
        TaskHelp,
        TaskRow,
    )
    from .commands.outcome import Session, Trace
    from .commands.problems import tasks_help, tasks_list, tasks_show, tasks_space
    from .commands.reproduce.experiment import reproduce
    from .commands.reproduce.forecast import plan_reproduction
    from .commands.reproduce.results import (
        PlannedStep,
        ReproducedRow,
        Reproduction,
        ReproductionPlan,
    )
    from .commands.reproduce.settings import CostAssumptions, ReproductionConfig
    from .commands.results import Metric, Result
    from .commands.score.checking import check
    from .commands.score.comparing import compare
    from .commands.score.evaluating import baselines, evaluate
    from .commands.score.evaluation_results import Evaluation, ProblemBaselines
    from .commands.score.executing import execute
    from .commands.score.judging_rows import judge
    from .commands.score.oracle_results import (
        Execution,
        InputResult,
        JudgedRows,
        Solved,
        WorldResult,
    )
    from .commands.score.predicting import predict
    from .commands.score.rater_agreement import agree
    from .commands.score.rating import rate
    from .commands.score.reporting import report, view
    from .commands.score.results import (
        Agreement,
        CheckRow,
        ComparedSession,
        Comparison,
        PredictionFile,
        PredictionRow,
        Rating,
        RatingSheet,
        RatingSummary,
        Report,
        Study,
    )
    from .commands.score.solving import solve
    from .commands.score.studying import study
    from .commands.session.controlling import adjust, continue_, pause, status, stop
    from .commands.session.detaching import start, start_resumed
    from .commands.session.discovering import Discovery, adiscover, discover, recognize
    from .commands.session.event_loops import run_in_thread
    from .commands.session.finding_results import (
        Disagreement,
        Finding,
        Findings,
        FrontHypothesis,
        RightCount,
    )
    from .commands.session.hinting import hint
    from .commands.session.listing import bank, load, sessions, show
    from .commands.session.proposing import Proposals, propose
    from .commands.session.results import (
        BankRow,
        BankStep,
        CallRow,
        FileReading,
        Forecast,
        HypothesisRow,
        ProblemRow,
        Recognition,
        Replay,
        SessionRow,
        SessionStatus,
        SweepRow,
    )
    from .commands.session.resuming import aresume, resume
    from .commands.session.running import arun, import_recorded, plan, replay, run
    from .commands.session.sweeping import plan_sweep, sweep
    from .commands.train.labelled_training import train_labels
    from .commands.train.pairing import pair_sets, pairs
    from .commands.train.pretraining import pretrain
    from .commands.train.quick_training import train_quick
    from .commands.train.results import (
        ClassifierRecord,
        Merged,
        PairReport,
        PairSetRow,
        Pretrained,
        QuickMetric,
        QuickRecord,
        TrainingCurves,
        TrainingRecord,
        TrainingRow,
    )
    from .commands.train.training import merge, train, training_curves, trainings
    from .config import (
        BudgetConfig,
        ClusterConfig,
        DataConfig,
        MethodSettings,
        ModelConfig,
        RolesConfig,
        RunConfig,
        SandboxConfig,
        StoreConfig,
        TextConfig,
    )
    from .records.errors import PeirceError
    from .training.dpo.settings import TrainConfig
    from .training.pairs.settings import PairsConfig

__version__ = "0.1.0"
__all__ = [
    "Agreement", "Audit", "BankRow", "BankStep", "BudgetConfig", "CallRow", "CheckRow",
    "ClassifierRecord", "ClusterConfig", "ComparedSession", "Comparison", "CostAssumptions", "DataConfig", "Disagreement", "Discovery", "Doctor",
    "Evaluation", "Execution", "Export", "FileReading", "Finding", "Findings", "Forecast",
    "FrontHypothesis", "Generated", "HypothesisRow", "InputResult", "JudgedRows", "Merged", "MergedStore", "MethodSettings", "Metric", "ModelConfig", "PairReport",
    "PairSetRow", "PairsConfig", "PeirceError", "PlannedStep", "PredictionFile", "PredictionRow", "Pretrained",
    "ProblemBaselines", "ProblemRow", "ProblemShown", "Proposals", "QuickMetric", "QuickRecord", "Rating",
    "RatingSheet", "RatingSummary", "Recognition", "Replay", "Report", "ReproducedRow", "Reproduction",
    "ReproductionConfig", "ReproductionPlan", "Result", "RightCount",
    "RolesConfig", "RunConfig", "SandboxConfig", "Session", "SessionRow", "SessionStatus", "Solved", "SpaceFile",
    "StoreConfig", "Study", "SweepRow", "TaskHelp", "TaskRow", "TextConfig", "Trace", "TrainConfig",
    "TrainingCurves", "TrainingRecord", "TrainingRow", "WorldResult", "adiscover", "adjust", "agree", "aresume", "arun",
    "bank", "baselines", "check", "compare", "continue_", "discover", "doctor", "evaluate", "execute", "export", "hint", "import_recorded",
    "judge", "load", "merge", "merge_stores", "pair_sets", "pairs", "pause", "plan", "plan_reproduction", "plan_sweep", "predict", "pretrain", "propose", "rate", "recognize",
    "replay", "report", "reproduce", "resume", "run", "run_in_thread", "sessions", "show", "solve", "start", "start_resumed", "status", "stop", "study", "sweep", "tasks_audit",
    "tasks_generate", "tasks_help", "tasks_list", "tasks_show", "tasks_space", "train",
    "train_labels", "train_quick", "training_curves", "trainings", "view",
]  # fmt: skip

# The module of each public name. The imports above repeat this for type checkers and editors, and
# tests/test_public_names.py compares the two.
_NAMES = {
    "commands.session.running": "run arun plan import_recorded replay",
    "commands.session.resuming": "resume aresume",
    "commands.session.sweeping": "sweep plan_sweep",
    "commands.session.controlling": "status pause continue_ stop adjust",
    "commands.session.detaching": "start start_resumed",
    "commands.session.hinting": "hint",
    "commands.session.discovering": "discover adiscover recognize Discovery",
    "commands.session.listing": "sessions show bank load",
    "commands.session.event_loops": "run_in_thread",
    "commands.session.proposing": "propose Proposals",
    "commands.score.executing": "execute",
    "commands.score.judging_rows": "judge",
    "commands.score.solving": "solve",
    "commands.score.oracle_results": "Execution InputResult JudgedRows Solved WorldResult",
    "commands.score.checking": "check",
    "commands.score.comparing": "compare",
    "commands.score.predicting": "predict",
    "commands.score.evaluating": "evaluate baselines",
    "commands.score.studying": "study",
    "commands.score.rating": "rate",
    "commands.score.rater_agreement": "agree",
    "commands.score.reporting": "report view",
    "commands.train.pairing": "pairs pair_sets",
    "commands.train.training": "train trainings training_curves merge",
    "commands.train.labelled_training": "train_labels",
    "commands.train.pretraining": "pretrain",
    "commands.train.quick_training": "train_quick",
    "commands.reproduce.experiment": "reproduce",
    "commands.reproduce.forecast": "plan_reproduction",
    "commands.reproduce.results": "PlannedStep ReproducedRow Reproduction ReproductionPlan",
    "commands.reproduce.settings": "CostAssumptions ReproductionConfig",
    "commands.problems": "tasks_list tasks_help tasks_show tasks_space",
    "commands.data.generating": "tasks_generate tasks_audit",
    "commands.data.merging": "merge_stores",
    "commands.data.exporting": "export",
    "commands.data.diagnosis": "doctor",
    "commands.outcome": "Session Trace",
    "commands.results": "Metric Result",
    "commands.session.finding_results": (
        "Disagreement Finding Findings FrontHypothesis RightCount"
    ),
    "commands.session.results": (
        "BankRow BankStep CallRow FileReading Forecast HypothesisRow ProblemRow Recognition Replay "
        "SessionRow SessionStatus SweepRow"
    ),
    "commands.score.evaluation_results": "Evaluation ProblemBaselines",
    "commands.score.results": (
        "Agreement CheckRow ComparedSession Comparison PredictionFile PredictionRow Rating "
        "RatingSheet RatingSummary Report Study"
    ),
    "commands.train.results": (
        "ClassifierRecord Merged PairReport PairSetRow Pretrained QuickMetric "
        "QuickRecord TrainingCurves TrainingRecord TrainingRow"
    ),
    "commands.data.results": (
        "Audit Doctor Export Generated MergedStore ProblemShown SpaceFile TaskHelp TaskRow"
    ),
    "config": (
        "RunConfig DataConfig ModelConfig RolesConfig MethodSettings TextConfig "
        "BudgetConfig SandboxConfig ClusterConfig StoreConfig"
    ),
    "training.pairs.settings": "PairsConfig",
    "training.dpo.settings": "TrainConfig",
    "records.errors": "PeirceError",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

if not TYPE_CHECKING:  # Otherwise type checkers would give every misspelt name the type Any.

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module 'peirce' has no attribute {name!r}")
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)

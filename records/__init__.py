"""The data types of Peirce and the Protocols between its packages.

A session holds problems. A problem is worked on in steps. A step holds calls, each one request to a
model or a tool. A call to a model returns an answer, an answer holds zero or more hypotheses, and
each hypothesis gets one verdict. Every type here is frozen, typed and serialisable, and this
package imports no other package of Peirce. Import names from `records`, whichever module defines
them.
"""

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

from .calls import (
    ASKED_AGAIN,
    CallKey,
    Journal,
    Message,
    Outcome,
    Proposer,
    Repairer,
    Reply,
    ToolCall,
    ToolSpec,
    Usage,
)
from .errors import (
    BudgetSpent,
    DataError,
    Interrupted,
    PeirceError,
    SandboxUnavailable,
    StoreError,
    Unavailable,
    UsageError,
)
from .families import (
    Evaluated,
    Family,
    FamilyWords,
    FindsContradictions,
    LabelsRows,
    Measuring,
    NamesCodes,
    OpensOracle,
    RecordedForm,
    Searched,
    SearchManner,
    SetsMethods,
    Tolerant,
    Worded,
)
from .hypotheses import UNASKED, Agreement, Hypothesis, Malformed, Predictions, Verdict
from .limits import Limits
from .oracles import (
    Apply,
    Batch,
    Execute,
    Judge,
    Keep,
    OpenOracle,
    OracleKind,
    Oracles,
    OracleSettings,
    Sandbox,
    Solution,
    Solve,
    Wanted,
)
from .problems import Earlier, InputSet, Observation, Problem, Summary, View
from .steps import Answered, BankEvent, EventKind, Judged, Ledger, StepRecord
from .tasks import Task
from .values import Digest, Json, canonical_json, digest_of, digest_of_text

__all__ = [
    "ASKED_AGAIN",
    "UNASKED",
    "Agreement",
    "Answered",
    "Apply",
    "BankEvent",
    "Batch",
    "BudgetSpent",
    "CallKey",
    "DataError",
    "Digest",
    "Earlier",
    "Evaluated",
    "EventKind",
    "Execute",
    "Family",
    "FamilyWords",
    "FindsContradictions",
    "Hypothesis",
    "InputSet",
    "Interrupted",
    "Journal",
    "Json",
    "Judge",
    "Judged",
    "Keep",
    "LabelsRows",
    "Ledger",
    "Limits",
    "Malformed",
    "Measuring",
    "Message",
    "NamesCodes",
    "Observation",
    "OpenOracle",
    "OpensOracle",
    "OracleKind",
    "OracleSettings",
    "Oracles",
    "Outcome",
    "PeirceError",
    "Predictions",
    "Problem",
    "Proposer",
    "RecordedForm",
    "Repairer",
    "Reply",
    "Sandbox",
    "SandboxUnavailable",
    "SearchManner",
    "Searched",
    "SetsMethods",
    "Solution",
    "Solve",
    "StepRecord",
    "StoreError",
    "Summary",
    "Task",
    "Tolerant",
    "ToolCall",
    "ToolSpec",
    "Unavailable",
    "Usage",
    "UsageError",
    "Verdict",
    "View",
    "Wanted",
    "Worded",
    "canonical_json",
    "digest_of",
    "digest_of_text",
]  # fmt: skip

"""The nouns of Peirce and the Protocols between its rooms.

A session holds problems. A problem goes in steps. A step holds calls (one model
or tool request each); a model's call gives an answer; an answer holds 0..n
hypotheses; each hypothesis gets one verdict. Every noun here is frozen, typed
and serialisable; nothing here imports another room. Import a name from `records`,
whichever of these modules holds it.
"""

from .calls import ASKED_AGAIN, CallKey, Journal, Message, Outcome, Reply, ToolCall, ToolSpec, Usage
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
    LabelsRows,
    Measuring,
    NamesCodes,
    RecordedForm,
    Searched,
    SearchManner,
    SetsMethods,
    Tolerant,
    Worded,
)
from .hypotheses import UNASKED, Agreement, Hypothesis, Malformed, Predictions, Verdict
from .limits import Limits
from .oracles import Batch, Execute, Judge, Keep, Oracles, Sandbox, Solution, Solve, Wanted
from .problems import Earlier, InputSet, Observation, Problem, Summary, View
from .proposers import Proposer, Repairer
from .steps import Answered, BankEvent, EventKind, Judged, Ledger, StepRecord
from .tasks import Task
from .values import Digest, Json, canonical_json, digest_of, digest_of_text

__all__ = [
    "ASKED_AGAIN",
    "UNASKED",
    "Agreement",
    "Answered",
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

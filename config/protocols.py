"""Published protocols as presets of options: `--protocol NAME`.

A protocol is data: options with values, as if a user had set them. An option that the user sets takes
precedence, and the session records the difference. docs/reference/protocols.md says for each option
what the paper states, and where Peirce departs from the paper all the same.

Another package adds a protocol by an entry point in the group `peirce.protocols`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..records import Json, UsageError, registry
from ..records.settings import suggest_name


@dataclass(frozen=True)
class RunProtocol:
    """The conditions of a published experiment, as options of a session.

    Args:
        name: The value of `--protocol`.
        about: The source of the conditions in one line.
        families: The task families for which the conditions are published.
        options: The options of the session by name, among them the method. What `--method-arg` and
            `--model-arg` take is allowed too. None stands for an option that the protocol does not
            set: setting it departs from the protocol.
        by_model: Further options for kinds of models, by the word before the colon of a model string.
        advice: What to do when the results are scored; "" for nothing special.
    """

    name: str
    about: str
    families: tuple[str, ...]
    options: Mapping[str, Json]
    by_model: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    advice: str = ""

    def options_for(self, scheme: str) -> dict[str, Json]:
        """Return the options for a kind of model, such as "hf"."""
        return {**self.options, **self.by_model.get(scheme, {})}


def find_protocol(name: str) -> RunProtocol:
    """Return the protocol with this name.

    Raises:
        UsageError: There is no such protocol. The message names the protocols that there are.
    """
    if not registry.is_registered("protocols", name):
        known = registry.component_names("protocols")
        raise UsageError(f"{name!r} is not a protocol{suggest_name(name, known)}")
    found: RunProtocol = registry.load("protocols", name)
    return found


# Options that none of the three papers has: a second proposer, a search beside the model, further limits,
# and an effort of reasoning that is not the provider's default.
_ADDITIONS: Mapping[str, Json] = {
    "then": None,
    "repair": None,
    "seed_hypotheses": None,
    "problem_tokens": None,
    "patience": None,
    "ask_human": None,
    "reasoning_effort": None,
}
ALL_ANSWERS = 1_000_000  # a list of earlier answers is never shortened

GEAR = RunProtocol(
    "gear",
    "GEAR (section 4.1, appendix E)",
    ("programs",),
    {
        "method": "abduce",
        "template": "gear",
        "answer_format": "tuple",
        "strict_contract": True,
        "lenient": False,
        "tool_calls": 0,
        "feedback": False,
        "history": "descriptions",
        "history_limit": ALL_ANSWERS,
        "fit": "refuse",
        "max_answers": 25,
        "temperature": None,
        "top_p": None,
        "reasoning_tokens": None,
        **_ADDITIONS,
    },
    {"hf": {"top_p": 0.9, "max_tokens": 4096}},
)
HYPOGENIC = RunProtocol(
    "hypogenic",
    "HypoGeniC as run for HypoBench (appendix D.1, released pipeline)",
    ("text",),
    {
        "method": "hypogenic",
        "observations": 200,
        "examples": 10,
        "hypotheses": 10,
        "top": 10,
        "alpha": 0.5,
        "scale": 0.8,
        "wrong": 10,
        "capacity": 20,
        "rounds": 1,
        "inference": "multi",
        "judge": "model",
        "repeats": 1,
        "judge_batch": 1,
        "prompts": "config",
        "answer_format": "list",
        "strict_contract": False,
        "lenient": False,
        "fit": "refuse",
        "temperature": 1e-5,
        "max_tokens": 8000,
        "top_p": None,
        "reasoning_tokens": None,
        "judge_model": None,
        "judge_then": None,
        **_ADDITIONS,
    },
)
ABD = RunProtocol(
    "abd",
    "ABD (section 6.1, appendix A)",
    ("logic",),
    {
        "method": "io",
        "template": "full",
        "answer_format": "json",
        "structured": "never",
        "strict_contract": False,
        "lenient": False,
        "tool_calls": 0,
        "fit": "refuse",
        "temperature": 0,
        "top_p": None,
        **_ADDITIONS,
    },
    advice="compare with published figures by `peirce eval abd --evaluator released`",
)

"""The events of a session, as the custom stream of a run shows them.

Each event is a JSON object with the key "type". It is the event that `on_event` of `peirce.run`
receives, with two exceptions: of the settings of a session only a few are shown, and a run that ends
with an error adds an event of its own.

| type | other keys |
|---|---|
| reading, read | data; or rows and seconds: labelled rows are being read, or have been |
| curve, curve_session | rows, number, of; or session: the next session of a learning curve begins |
| session | session (its id), task, method, model, problems, open, layers |
| problem_started | problem |
| call_started | problem, path: a call that is not recorded yet is about to be made |
| call | problem, path, kind, source (journal, cache or made), usage, retries, seconds |
| asked_again | problem, path, cause: the endpoint failed, so the request is repeated |
| step | problem, step, verdicts |
| no_tools, too_long | problem: the model takes no tools, or the prompt is too long for it |
| handed_over | problem, cause: the second proposer continues the problem |
| question | problem, path, question: the problem waits for a person |
| answered | problem, path, text: a person has answered |
| problem_ended | problem, status, cause |
| hint | problem: a person has used `peirce hint` |
| paused, continued, adjusted | what `peirce pause`, `continue` and `adjust` changed |
| report | text |
| stopping | |
| ended | status, cause, failed: all problems have ended, or the session was stopped |
| error | text: one sentence that says why no session ran |
"""

from __future__ import annotations

from collections.abc import Mapping

from ...records import Json

SHOWN_SETTINGS = ("task", "method", "model")


def describe_event(event: Mapping[str, Json]) -> dict[str, Json]:
    """Return an event of a session as the custom stream shows it.

    Args:
        event: The event, as `on_event` of `peirce.run` receives it.
    """
    shown = dict(event)
    settings = shown.pop("settings", None) or {}
    return shown | {name: settings[name] for name in SHOWN_SETTINGS if name in settings}


class WaitingProblems:
    """Counts which problems of a running session are worked on, and which wait for a person.

    Attributes:
        session: The id of the session; "" before it has begun.
        questions: The question of each waiting problem, by the problem's id.
    """

    def __init__(self) -> None:
        self.session = ""
        self.questions: dict[str, str] = {}
        self._started = 0

    def count(self, event: Mapping[str, Json]) -> None:
        """Take an event of the session into account."""
        match event["type"]:
            case "session":
                self.session = event["session"]
            case "problem_started":
                self._started += 1
            case "problem_ended":
                self._started -= 1
            case "question":
                self.questions[event["problem"]] = event["question"]
            case "answered":  # somebody used `peirce hint`
                self.questions.pop(event["problem"], None)

    @property
    def are_all(self) -> bool:
        """Whether all problems that were started and have not ended wait for a person."""
        return bool(self.questions) and len(self.questions) >= self._started

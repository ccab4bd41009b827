"""Sessions that go through each way of working with language models, and the made-up models behind
them: for tests that disturb these sessions.

What a model says depends on the messages and the seed of a request alone, so a session comes to the
same findings in whatever order its requests arrive.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batch_server import BatchServer
from faulty_server import FaultyServer, Said, draw
from text_model import write_own

Request = dict[str, Any]
ROOM = 1_500  # tokens of four characters, in the context of the model "narrow"
FORMS: Mapping[str, Callable[[str], str]] = {
    "fence": lambda whole: f"```json\n{whole}\n```",
    "trailing_comma": lambda whole: f"{whole[:-1]},}}",
    "unclosed": lambda whole: whole[:-1],
    "prose": lambda whole: f"This is it: {whole} I hope so.",
    "half": lambda whole: whole[: len(whole) // 2],
}


def number_of(request: Request) -> int:
    return draw(request["messages"], request.get("seed"))


def write_program(number: int) -> tuple[str, str]:
    """A description and a program. Two of three keep short lists, as the examples ask."""
    kind, n = number % 3, number // 3 % 7
    if kind == 0:
        return f"cuts to {n}", f"def f(x):\n    return x[: {n}]"
    rest = f"[v + {n} for v in x]" if kind == 1 else f"x[: {n}]"
    return f"changes long lists by {n}", f"def f(x):\n    return x if len(x) < 3 else {rest}"


def has_results(request: Request) -> bool:
    return any(message["role"] == "tool" for message in request["messages"])


def call_tools(*calls: tuple[str, str]) -> Said:
    made = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(calls)
    ]
    return {"content": None, "tool_calls": made}


def several_tools(request: Request) -> Said:
    """Calls three tools at once, one of them wrongly, before each answer but every fourth."""
    number = number_of(request)
    if request.get("tools") and not has_results(request) and number % 4:
        sources = [json.dumps({"code": write_program(number // n)[1]}) for n in (1, 3)]
        return call_tools(
            ("execute", sources[0]), ("execute", '{"cod": 3'), ("execute", sources[1])
        )
    return {"content": repr(write_program(number))}


def nearly_valid(request: Request) -> Said:
    """Writes its tool calls as text and its answers nearly in the form of the schema."""
    number = number_of(request)
    description, code = write_program(number)
    if request.get("tools") and not has_results(request) and number % 2:
        call = json.dumps({"name": "execute", "arguments": {"code": code}})
        return {"content": f"<tool_call>{call}</tool_call>"}
    whole = json.dumps({"description": description, "code": code})
    return {"content": FORMS[tuple(FORMS)[number // 2 % len(FORMS)]](whole)}


def programs(request: Request) -> Said:
    """Answers that keep, cut or change lists; the model "weak" always changes them wrongly."""
    number = number_of(request)
    if request["model"] == "weak":
        return {"content": repr(("wrong", f"def f(x):\n    return [{number % 9}, 17]"))}
    return {"content": repr(write_program(number))}


FORMULAS = (
    "(P x)",
    "(exists y (R x y))",
    "(and (P x) (exists y (R x y)))",
    "(or (P x) (exists y (S x y)))",
)


def formulas(request: Request) -> Said:
    """Rules that are seldom valid and never short, so that a search has something to repair."""
    number = number_of(request)
    chosen = FORMULAS[number % 4]
    return {
        "content": json.dumps(
            {"formula": f"(or {chosen} {chosen})", "description": "says it twice"}
        )
    }


def judges(request: Request) -> Said:
    """Proposes sentences, and labels texts alone or in batches. The model "dear" is always sure; the
    other one is unsure about an eighth of the texts and names no label for some texts of a batch."""
    prompt = request["messages"][-1]["content"]
    sentence = re.search(r"^Hypothesis: (.*)$", prompt, re.MULTILINE)
    if sentence is None:
        lines = [f"{n}. Inputs of mood {n} are warm." for n in range(1, 4)]
        return {"content": "\n".join(lines)}
    said: dict[str, str] = {}
    for place, text in re.findall(r"^Input(?: (\d+))?:\n(.*)$", prompt, re.MULTILINE):
        about = draw(sentence.group(1), text)
        unsure = request["model"] != "dear" and about % 8 == 0
        number = draw(about, request.get("seed")) if unsure else about
        said[place or "1"] = (
            "hm" if place and number % 11 == 0 else ("warm", "cold")[number // 5 % 2]
        )
    if "Input 1:" in prompt:
        return {"content": json.dumps(said)}
    return {"content": f"Final answer: {said['1']}"}


class PaidServer(FaultyServer):
    """Counts the answers that a provider would charge: those that are sent whole.

    paid: how often each answer was paid, by request. on_paid: called with the number of paid answers
    so far, before the answer is sent. The model "narrow" refuses longer prompts than `ROOM`.
    """

    def __init__(self, *args: Any, faults: tuple[str, ...] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        self._kinds = faults
        self.paid: Counter[int] = Counter()
        self.on_paid: Callable[[int], None] = lambda count: None

    def fault_of(self, request: Request) -> str | None:
        fault = super().fault_of(request)
        if fault is not None and self._kinds:
            fault = self._kinds[draw(fault, request["messages"]) % len(self._kinds)]
        if fault in (None, "slow"):  # slow, but before the client's timeout
            self.paid[draw(request["model"], number_of(request), request.get("tools"))] += 1
            self.on_paid(sum(self.paid.values()))
        return fault

    async def _answer(self, request: Request, send: Any) -> None:
        size = sum(len(str(one)) for one in request["messages"]) // 4
        if request["model"] != "narrow" or size <= ROOM:
            return await super()._answer(request, send)
        told = {
            "message": f"This model's maximum context length is {ROOM} tokens. However, your messages"
            f" resulted in {size} tokens. Please reduce the length of the messages.",
            "code": "context_length_exceeded",
        }
        self.refusals += 1
        await self._send(send, 400, json.dumps({"error": told}).encode())


class PaidBatchServer(BatchServer):
    """A batch server that calls `on_paid` before it answers another request of a batch."""

    on_paid: Callable[[int], None] = staticmethod(lambda count: None)

    def complete(self, request: Request) -> dict[str, Any]:
        self.on_paid(sum(self.paid.values()))
        return super().complete(request)


@dataclass
class Way:
    """A session that goes one way.

    Args:
        task: The task.
        says: What the models say to a request.
        options: The options of the session.
        models: The options that name a model, with its name at the server.
        role_settings: Settings of the models of other roles.
        faults: The kinds of faults that change nothing; () for all.
        server: The class of the server.
    """

    task: str
    says: Callable[[Request], Said]
    options: Mapping[str, Any]
    models: Mapping[str, str] = field(default_factory=lambda: {"model": "m"})
    role_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    server: type[PaidServer | PaidBatchServer] = PaidServer


QUICK = {"backoff_s": 0.01, "timeout_s": 10.0}
BATCHES = {"batch_wait_s": 0.2, "batch_poll_s": 0.02, "backoff_s": 0.001}
LISTS = {"max_answers": 4, "tool_calls": 0}
TEXTS = {
    "method": "io", "judge": "model", "hypotheses": 3, "observations": 14, "split": ("ind",),
    "inference": "two-step",
}  # fmt: skip
FREE = ("429", "500", "cut", "slow")  # faults that cost no tokens
WAYS: Mapping[str, Way] = {
    "several tools at once": Way("examples", several_tools, {**LISTS, "tool_calls": 4}),
    "repaired answers": Way(
        "examples", nearly_valid, {**LISTS, "tool_calls": 2, "answer_format": "json"}
    ),
    "two judges and batches of texts": Way(
        "labels", judges, {**TEXTS, "repeats": 2, "judge_batch": 4},
        {"model": "m", "judge_then": "dear"},
    ),
    "a second proposer": Way(
        "examples", programs, {**LISTS, "max_answers": 3}, {"model": "weak", "then": "strong"}
    ),
    "batch files": Way(
        "examples", programs, {**LISTS, "max_answers": 2, "batch_files": True},
        {"model": "weak", "then": "strong"}, {"then": {"batch_files": True, **BATCHES}},
        server=PaidBatchServer,
    ),
    "batch files of two judges": Way(
        "labels", judges, {**TEXTS, "repeats": 2, "judge_batch": 4, "batch_files": True, "concurrency": 64},
        {"model": "m", "judge_then": "dear"}, {"judge2": {"batch_files": True, **BATCHES}},
        server=PaidBatchServer,
    ),
    "a small context": Way(
        "examples", programs, {"max_answers": 4, "tool_calls": 0, "history": "chat"},
        {"model": "narrow"},
    ),
    "a short history": Way(
        "examples", programs, {**LISTS, "max_answers": 6, "history_limit": 2, "patience": 2}
    ),
    "programs repaired by a search": Way(
        "examples", programs, {**LISTS, "max_answers": 3, "seed_hypotheses": 2, "repair": "search"}
    ),
    "rules repaired by a search": Way(
        "abd", formulas,
        {"problems": 2, "max_answers": 3, "tool_calls": 0, "seed_hypotheses": 1, "repair": "search"},
    ),
    "a limit on the tokens of a problem": Way(
        "examples", several_tools,
        {**LISTS, "tool_calls": 4, "max_answers": 6, "problem_tokens": 80}, faults=FREE,
    ),
}  # fmt: skip


def write_data(way: Way, folder: Path) -> str | None:
    """Write the data of a session and return where they are, or None if its task makes them."""
    if way.task == "abd":
        return None
    if way.task == "labels":
        return str(write_own(folder / "made", "text"))
    if way.models["model"] == "narrow":
        shown = [[n] * (30 + n) for n in range(1, 61)]
        problems = [[(one, one[gap:]) for one in shown] for gap in (0, 1)]
    else:
        problems = [[([n], [n]), ([n, 1], [n, 1])] for n in range(3)]
    lines = [
        {"id": f"p{number}", "train": [{"input": i, "output": o} for i, o in pairs], "test": []}
        for number, pairs in enumerate(problems)
    ]
    file = folder / "pairs.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


def session_options(way: Way, url: str, folder: Path) -> dict[str, Any]:
    """Return the options of `peirce.run` for a session at this server."""
    quick = BATCHES if way.server is PaidBatchServer else QUICK
    named = {option: f"{url}#{name}" for option, name in way.models.items()}
    roles = {ROLE_OF[option]: quick for option in way.models if option != "model"}
    found = {
        "concurrency": 3, "seed": 5, "workers": 1, **way.options, **named,
        "data": write_data(way, folder), "model_arg": dict(quick),
    }  # fmt: skip
    roles |= way.role_settings
    found |= {"roles": roles} if roles else {}
    return {name: value for name, value in found.items() if value is not None}


ROLE_OF = {"then": "then", "judge_then": "judge2"}


def command_line(options: Mapping[str, Any]) -> list[str]:
    """Return the words of `peirce run` for the same session."""
    words: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "model_arg":
            words += [part for key, one in value.items() for part in (flag, f"{key}={one}")]
        elif name == "roles":
            words += [part for role, settings in value.items() for key, one in settings.items()
                      for part in ("--role", f"{role}.{key}={json.dumps(one)}")]  # fmt: skip
        elif value is True:
            words.append(flag)
        elif isinstance(value, tuple):
            words += [part for one in value for part in (flag, str(one))]
        else:
            words += [flag, str(value)]
    return words

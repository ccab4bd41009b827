"""Stand-in models for bench/protocols.py, behind a chat endpoint over HTTP.

Each stand-in reacts to one thing that protocols differ in, and is the same in all else. What it says
depends only on the messages, the offered tools, the schema and the seed of a request:

- checker: guesses, and tries its guesses with the tool if it is offered one.
- learner: guesses, and guesses better where the prompt says where an earlier answer failed.
- imitator: sometimes answers in prose; where the chat shows that it did, it mostly does so again.
- forgetful: often forgets the form of an answer that the prompt does not state after the observations,
  unless the endpoint enforces a schema.
- loose: imports a module or uses typographic quotes (rules about worlds: drops the last parenthesis or
  the last brace).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from stand_in_server import CHARACTERS_PER_TOKEN, Answer, Request, count_usage, serve_chat

BEHAVIOURS = ("checker", "learner", "imitator", "forgetful", "loose")
MOST_TRIED = 4
CAPABLE, GUESSING = 0.9, 0.35  # share of guesses that are right, by what a stand-in reacts to
PAIR = re.compile(r"^Pair \d+: \((\[.*?\]), (\[.*\])\)$", re.MULTILINE)
# Rules on lists, by words that describe them.
RULES: Mapping[str, str] = {
    "drops the first element": "x[1:]",
    "drops the last element": "x[:-1]",
    "reverses the list": "x[::-1]",
    "sorts the list": "sorted(x)",
    "keeps every second element": "x[::2]",
    "adds one to each element": "[v + 1 for v in x]",
    "keeps the even elements": "[v for v in x if v % 2 == 0]",
    "repeats the list": "x + x",
    "keeps the first two elements": "x[:2]",
    "gives the largest element": "[max(x)] if x else []",
    "gives the length": "[len(x)]",
    "removes repeated elements": "list(dict.fromkeys(x))",
}
FORMULAS = (
    "(P x)", "(Q x)", "(not (P x))", "(exists y (R x y))", "(exists y (S x y))",
    "(exists y (and (R x y) (P y)))", "(exists y (and (S x y) (P y)))", "(exists y (R y x))",
)  # fmt: skip
SOUND = "(= x x)"  # valid in every world, at the largest cost
FAILED = ("The function is right on", "The rule is valid in")  # beginnings of feedback


def draw(*parts: Any) -> float:
    """Return a number from 0 to 1 that depends only on `parts`."""
    return int(hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8], 16) / 2**32


def apply(rule: str, given: list[int]) -> Any:
    """Return what a rule of `RULES` gives. No text of a model is evaluated."""
    return eval(RULES[rule], {"x": given}, {})


def consistent_rules(prompt: str) -> list[str]:
    """Return the rules that agree with all pairs in a prompt."""
    pairs = [(ast.literal_eval(a), ast.literal_eval(b)) for a, b in PAIR.findall(prompt)]
    return [rule for rule in RULES if all(apply(rule, a) == b for a, b in pairs)]


def conversation(messages: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(one.get("content") or "") for one in messages)


def guess_rule(text: str, seed: Any, *, capable: bool) -> tuple[str, str]:
    """Return (description, source): a rule for short lists, and another one for long lists, which makes
    the hypothesis distinct from those that the text mentions."""
    right = draw("right", seed) < (CAPABLE if capable else GUESSING)
    known = consistent_rules(text)
    rules = known if right and known else [rule for rule in RULES if rule not in known]
    short = rules[int(draw("rule", seed) * len(rules))]
    rest = [rule for rule in RULES if f"lists, and {rule}" not in text and rule != short]
    long = rest[int(draw("long", seed) * len(rest))] if rest else short
    return describe(
        f"def f(x):\n    if len(x) < 6:\n        return {RULES[short]}\n    return {RULES[long]}"
    )


def describe(source: str) -> tuple[str, str]:
    """Return a function's description and its source."""
    short, long = re.findall(r"return (.*)$", source, re.MULTILINE)
    names = {code: rule for rule, code in RULES.items()}
    return f"It {names[short]} of short lists, and {names[long]} of long ones", source


def write_program(name: str, seed: Any, guess: tuple[str, str]) -> str:
    """Return an answer about a program in the tuple's form, or as the stand-in happens to write it."""
    description, source = guess
    whole = f"({json.dumps(description)}, {json.dumps(source)})"
    slip = draw("slip", name, seed)
    if name == "loose" and slip < 0.25:
        importing = source.replace("def f", "import math\ndef f").replace(
            "len(x)", "math.ceil(len(x))"
        )
        return f"({json.dumps(description)}, {json.dumps(importing)})"
    if name == "loose" and slip < 0.5:
        return f"(“{description}”, {json.dumps(source)})"
    return whole


def write_formula(name: str, seed: Any, formula: str) -> str:
    slip = draw("slip", name, seed)
    if name == "loose" and slip < 0.25:
        formula = formula.removesuffix(")")
    end = "" if name == "loose" and 0.25 <= slip < 0.5 else "}"
    return f'{{"formula": "{formula}", "description": "It is {formula}."{end}'


def forgets_form(name: str, text: str, seed: Any, enforced: bool) -> bool:
    """Whether a stand-in answers in prose instead of the form of an answer."""
    if name == "imitator":
        return draw("prose", seed) < (0.9 if "I think that" in text else 0.3)
    stated = max(text.rfind("def f(x)"), text.rfind('{"formula"'))
    last = max(
        (one.start() for one in re.finditer(r"^(Pair|World) ", text, re.MULTILINE)), default=0
    )
    return (
        name == "forgetful"
        and not enforced
        and draw("prose", seed) < (0.05 if stated > last else 0.4)
    )


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the assistant's message for a request."""
    name, seed = str(request["model"]), request.get("seed", 0)
    messages = request["messages"]
    text = conversation(messages)
    tried = [one for one in messages if one["role"] == "tool"]
    first = str(messages[0]["content"])
    logic = "S-expression" in first or "prefix form" in first
    told = any(mark in text for mark in FAILED)
    capable = name not in ("checker", "learner") or (name == "learner" and told)
    if forgets_form(name, text, seed, "response_format" in request):
        return {"content": "I think that the rule depends on the length."}
    tools = request.get("tools")
    tries = name == "checker" and tools and len(tried) < MOST_TRIED
    found = name == "checker" and tried and json.loads(tried[-1]["content"]).get("consistent")
    last = last_call(messages) if found else {}
    if logic:
        formula = last.get("formula") or guess_formula(text, seed, capable=capable)
        if tries and not found:
            return call("solve", {"formula": formula})
        return {"content": write_formula(name, seed, formula)}
    guess = describe(last["code"]) if found else guess_rule(text, seed, capable=capable)
    if tries and not found:
        return call("execute", {"code": guess[1]})
    return {"content": write_program(name, seed, guess)}


def guess_formula(text: str, seed: Any, *, capable: bool) -> str:
    """Return a formula of allowed predicates: one that is valid in every world if the guess is right."""
    allowed = set(re.findall(r"^alpha may use: (.*) and =", text, re.MULTILINE)[0].split(", "))
    able = [one for one in FORMULAS if set(re.findall("[A-Z]", one)) <= allowed]
    other = able[int(draw("rule", seed) * len(able))]
    return (
        f"(or {SOUND} {other})"
        if draw("right", seed) < (CAPABLE if capable else GUESSING)
        else other
    )


def last_call(messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the arguments of the last tool call in a conversation."""
    (asked, *_) = (one for one in reversed(messages) if one.get("tool_calls"))
    found: dict[str, str] = json.loads(asked["tool_calls"][-1]["function"]["arguments"])
    return found


def call(tool: str, arguments: Mapping[str, str]) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}


@contextmanager
def serve(reply: Callable[[Mapping[str, Any]], dict[str, Any]] = answer) -> Iterator[str]:
    """Yield the address of a chat endpoint whose model `NAME` is the stand-in of this name."""

    def counted(request: Request) -> Answer:
        message = reply(request)
        sizes = len(conversation(request["messages"])), len(str(message))
        return message, count_usage(*(size // CHARACTERS_PER_TOKEN for size in sizes))

    with serve_chat(counted) as url:
        yield url

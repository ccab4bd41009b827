"""Stand-in language models for bench/agent.py: five strengths, over the OpenAI chat protocol and real HTTP.

A stand-in is told the true rules of the problems. From a prompt it reads which problem it is asked
about, the earlier hypotheses and the results of its tool calls. What it then writes is drawn from
`STRENGTHS` by a digest of the prompt and the seed, so that the same request has the same answer in any
order. Kinds of answers:

right: the true rule; if the prompt lists it already, a rule that agrees on what is shown and differs
    beyond (of formulas and sentences, another way to write it).
near: the true rule with a small change: another number, operator, quantifier, value or branch.
wrong: the true rule of another problem.
form: a near or right answer that is not quite in the form asked for: a fence, a trailing comma, a
    missing bracket, prose around it, and with tools a tool call written as text.
malformed: prose without a rule, or half of an answer.
again: a hypothesis that the prompt lists already.

A stand-in knows the rule of a share of the problems only (`knows`). It does not write down an answer
that it notices to be wrong (`care`). Before an answer it may try candidates with the tool (`tries`; the
three strongest try two in one turn), and answers with one that the tool calls consistent.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from stand_in_server import Request

KINDS = ("right", "near", "wrong", "form", "malformed", "again")


@dataclass(frozen=True)
class Strength:
    """How a stand-in answers.

    Args:
        shares: The shares of the kinds of answers, in the order of KINDS; their sum is 1.
        knows: The share of problems whose rule it knows.
        care: How often it notices that its answer is wrong, and draws again.
        tries: How often it tries candidates with a tool before it answers.
        candidates: The number of candidates in one turn.
    """

    shares: tuple[float, ...]
    knows: float
    care: float
    tries: float
    candidates: int = 1


STRENGTHS: Mapping[str, Strength] = {
    "weakest": Strength((0.06, 0.16, 0.32, 0.20, 0.14, 0.12), 0.30, 0.0, 0.1),
    "weak": Strength((0.14, 0.22, 0.26, 0.18, 0.09, 0.11), 0.45, 0.1, 0.3),
    "middle": Strength((0.26, 0.24, 0.20, 0.14, 0.05, 0.11), 0.60, 0.3, 0.5, 2),
    "strong": Strength((0.42, 0.24, 0.12, 0.10, 0.03, 0.09), 0.75, 0.5, 0.7, 2),
    "strongest": Strength((0.60, 0.20, 0.07, 0.06, 0.01, 0.06), 0.90, 0.8, 0.8, 2),
}


def draw(*parts: Any) -> float:
    """A number from 0 to 1 that depends only on `parts`."""
    text = json.dumps(parts, sort_keys=True)
    return int(hashlib.sha256(text.encode()).hexdigest()[:13], 16) / 2**52


def pick(items: Sequence[Any], *parts: Any) -> Any:
    """One of the items, by a digest of `parts`."""
    return items[min(int(draw(*parts) * len(items)), len(items) - 1)]


# --- Problems, by family.


@dataclass(frozen=True)
class KnownProblem:
    """A problem whose rule the stand-ins may know.

    Args:
        name: The id of the problem.
        rule: Source, formula or sentence.
        about: What the rule says, in words.
        facts: What a prompt may show of the problem, by which it is recognised.
        columns: For labelled text: the values of each column, and the labels under "label".
    """

    name: str
    rule: str
    about: str
    facts: frozenset[str]
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)


def normalise(text: str) -> str:
    return re.sub(r"[^\w.,:=-]", "", text)


PAIR = re.compile(r"^Pair \d+: (.*)$", re.MULTILINE)
WORLD = re.compile(r"^  true (\w+): (.*)$", re.MULTILINE)
ROW = re.compile(r"^(?:\d+\. )?(.*)\n   label: (.*)$", re.MULTILINE)


def programs_problem(record: Mapping[str, Any]) -> KnownProblem:
    """From a line of a generated file of list functions."""
    pairs = [*record["train"], *record["test"]]
    facts = (normalise(f"{one['input']}, {one['output']}") for one in pairs)
    secret = record["secret"]
    return KnownProblem(record["idx"], secret["rule"], secret["description"], frozenset(facts))


def rules_problem(record: Mapping[str, Any]) -> KnownProblem:
    """From a line of a generated file of exception rules."""
    facts = {
        normalise(f"{name}:{' '.join(format_atom(atom) for atom in atoms)}")
        for world in record["worlds"]
        for name, atoms in world["true"].items()
    }
    return KnownProblem(record["id"], record["reference"], "the rule", frozenset(facts))


def format_atom(atom: Sequence[str]) -> str:
    return atom[0] if len(atom) == 1 else f"({', '.join(atom)})"


def text_problem(
    name: str, about: Mapping[str, Any], rows: Mapping[str, Sequence[Any]]
) -> KnownProblem:
    """From the metadata and the training rows of a generated set of labelled records."""
    columns = [column for column in rows if column != "label"]
    facts = {
        row_fact([f"{column}: {rows[column][n]}" for column in columns], rows["label"][n])
        for n in range(len(rows["label"]))
    }
    values = {column: sorted(set(rows[column]), key=str) for column in rows}
    (rule,) = about["ground_truth_hypotheses"]
    return KnownProblem(name, rule, rule, frozenset(facts), values)


def row_fact(cells: Sequence[str], label: str) -> str:
    """Return a row in a form that does not depend on the order of its columns."""
    return normalise("; ".join(sorted(cells)) + label)


def facts_in(prompt: str) -> set[str]:
    """What a prompt shows of its problem."""
    found = {normalise(text.strip()[1:-1]) for text in PAIR.findall(prompt)}
    found |= {normalise(f"{name}:{atoms}") for name, atoms in WORLD.findall(prompt)}
    return found | {row_fact(row.split("; "), label) for row, label in ROW.findall(prompt)}


# --- Rules that are nearly right.


class Change(ast.NodeTransformer):
    """Changes the node with a number in the order of visits; `count` says how many could be."""

    COMPARISONS: ClassVar[dict[type, type]] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
                   ast.NotEq: ast.Eq}  # fmt: skip
    OPERATORS: ClassVar[dict[type, type]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mod,
                 ast.Mod: ast.FloorDiv}  # fmt: skip

    def __init__(self, number: int = -1, step: int = 1) -> None:
        self.number, self.step, self.count = number, step, 0

    def _is_chosen(self) -> bool:
        self.count += 1
        return self.count - 1 == self.number

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            return ast.Constant(not node.value) if self._is_chosen() else node
        if isinstance(node.value, int) and self._is_chosen():
            return ast.Constant(node.value + self.step)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        other = self.COMPARISONS.get(type(node.ops[0]))
        if other is not None and self._is_chosen():
            node.ops[0] = other()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        other = self.OPERATORS.get(type(node.op))
        if other is not None and self._is_chosen():
            node.op = other()
        return node


def change_program(source: str, number: float) -> str:
    """Return a program with one changed constant, comparison or operator, or with a cut result."""
    counted = Change()
    counted.visit(ast.parse(source))
    if not counted.count:
        return wrap_program(source, "return result[1:]")
    chosen = int(number * counted.count * 2)
    tree = Change(chosen // 2, 1 if chosen % 2 else -1).visit(ast.parse(source))
    return ast.unparse(ast.fix_missing_locations(tree))


def wrap_program(source: str, *lines: str) -> str:
    """Return a program that goes on with the result of `source`, a function `f` of `x`."""
    tree = ast.parse(source)
    body = ast.get_source_segment(source, tree.body[0]) or source
    inner = re.sub(r"^def f\(", "def first(", body)
    indented = "\n".join(f"    {line}" for line in inner.splitlines())
    rest = "\n".join(f"    {line}" for line in ("result = first(list(x))", *lines))
    return f"def f(x):\n{indented}\n{rest}"


def vary_program(source: str, prompt: str, number: float) -> str:
    """Return a program that agrees with `source` on lists up to the longest one shown."""
    longest = max(
        (text.split("], [")[0].count(",") + 1 for text in PAIR.findall(prompt)), default=9
    )
    other = pick(("result[::-1]", "result[1:]", "result + [len(x)]", "sorted(result)", "x"), number)
    return wrap_program(source, f"return result if len(x) <= {longest} else {other}")


SWAPS = (("exists", "forall"), ("forall", "exists"), ("and", "or"), ("or", "and"), ("P", "Q"), ("Q", "P"),
         ("R", "S"), ("S", "R"))  # fmt: skip


def change_formula(formula: str, number: float, allowed: str = "PRS") -> str:
    """Return a formula with another quantifier, connective or predicate in one place."""
    places = [
        (match.span(1), new)
        for old, new in SWAPS
        if len(new) > 1 or new in allowed
        for match in re.finditer(rf"\(({old})(?= )", formula)
    ]
    if not places:
        return f"(not {formula})"
    (start, end), new = pick(places, formula, number)
    return formula[:start] + new + formula[end:]


def vary_formula(formula: str, number: float) -> str:
    """Return a formula that says the same in other words, or a little more."""
    return pick((f"(and {formula} (= x x))", f"(not (not {formula}))", f"(or {formula} (P x))",
                 f"(or {formula} (exists y (R x y)))"), formula, number)  # fmt: skip


def change_sentence(sentence: str, problem: KnownProblem, number: float) -> str:
    """Return a sentence with another value, bound or label."""
    values = [
        (match.span(1), str(value))
        for match in re.finditer(r'is "([^"]+)"', sentence)
        for column in problem.columns.values()
        if match[1] in column
        for value in column
        if value != match[1]
    ]
    bounds = [(match.span(1), str(int(match[1]) + step))
              for match in re.finditer(r"(?:than|most|least) (\d+)", sentence) for step in (1, 2)]  # fmt: skip
    (start, end), new = pick([*values, *bounds], sentence, number)
    return sentence[:start] + new + sentence[end:]


def vary_sentence(sentence: str, problem: KnownProblem, number: float) -> str:
    """Return a sentence about one value of a column."""
    column = pick([name for name in problem.columns if name != "label"], sentence, number)
    value = pick(problem.columns[column], sentence, number, 1)
    label = pick(problem.columns["label"], sentence, number, 2)
    if isinstance(value, int | float):
        return f'If {column} is at least {value}, the label is "{label}".'
    return f'If {column} is "{value}", the label is "{label}".'


# --- What a stand-in says.

HISTORY = re.compile(r"^(?:Hypotheses|Rules|Sentences)[^\n]*(?:so far|answers|these):\n((?:.|\n)*?)\n\n", re.MULTILINE)  # fmt: skip
TOOLS = {"execute": "code", "solve": "formula", "judge": "sentence"}


class StandIn:
    """The stand-ins of one family: "programs", "rules" or "texts"."""

    def __init__(self, family: str, problems: Sequence[KnownProblem]) -> None:
        self.family, self.problems = family, problems
        self._said: dict[str, str] = {}  # rule by what the prompt shows of it

    def recognise(self, prompt: str) -> KnownProblem:
        """Return the problem that a prompt is about."""
        shown = facts_in(prompt)
        return max(self.problems, key=lambda one: (len(shown & one.facts), one.name))

    def answer(self, request: Request) -> dict[str, Any]:
        """Return the message that answers a request."""
        messages, name = request["messages"], request["model"]
        prompt, strength = messages[0]["content"], STRENGTHS[name]
        if prompt.startswith("You apply a hypothesis"):
            return {"content": f"Final answer: {self._label(request)}"}
        key = [name, messages, request.get("seed")]
        problem = self.recognise(prompt)
        results = [one for one in messages if one["role"] == "tool"]
        if results:
            return self._after_tools(messages, key, strength, problem)
        if request.get("tools") and draw(key, "tries") < strength.tries:
            return self._try(key, strength, problem, prompt)
        return {"content": self._write(key, strength, problem, prompt)}

    def _label(self, request: Request) -> str:
        about = self.problems[0].columns["label"]
        return str(pick(about, request["messages"][-1]["content"], request.get("seed")))

    def _kind(self, key: Any, strength: Strength, problem: KnownProblem) -> str:
        for attempt in range(2):
            number, kind = draw(key, attempt), "again"
            for one, share in zip(KINDS, strength.shares, strict=True):
                if number < share:
                    kind = one
                    break
                number -= share
            if kind == "right" and draw(key[0], problem.name, "knows") >= strength.knows:
                kind = "near"
            if kind not in ("near", "wrong") or draw(key, attempt, "care") >= strength.care:
                break
        return kind

    def _rule(self, kind: str, key: Any, problem: KnownProblem, prompt: str) -> tuple[str, str]:
        """Return (description, rule) for a kind of answer."""
        number = draw(key, "rule")
        earlier = self._earlier(prompt)
        if kind == "again" and earlier:
            return pick(earlier, key)  # type: ignore[no-any-return]
        if kind == "wrong":
            others = [one for one in self.problems if one.name != problem.name]
            other = pick(others, key) if others else problem
            if self.family != "texts":
                return self._name(other.about, other.rule)
            return self._name("", vary_sentence(problem.rule, problem, number))
        if kind == "right" and all(rule != problem.rule for _, rule in earlier):
            return self._name(problem.about, problem.rule)
        if kind == "right":
            return self._vary(problem, prompt, number)
        if self.family == "programs":
            changed = change_program(problem.rule, number)
        elif self.family == "rules":
            changed = change_formula(problem.rule, number)
        else:
            changed = change_sentence(problem.rule, problem, number)
        return self._name(f"{problem.about} Nearly.", changed)

    def _vary(self, problem: KnownProblem, prompt: str, number: float) -> tuple[str, str]:
        if self.family == "programs":
            varied = vary_program(problem.rule, prompt, number)
        elif self.family == "rules":
            varied = vary_formula(problem.rule, number)
        else:
            varied = vary_sentence(problem.rule, problem, number)
        return self._name(f"{problem.about} Otherwise for others.", varied)

    def _name(self, about: str, rule: str) -> tuple[str, str]:
        """Give a rule a description of its own, by which it is found in a later prompt."""
        about = f"{about} [{hashlib.sha256(rule.encode()).hexdigest()[:6]}]".strip()
        shown = about if self.family == "programs" else rule
        self._said[shown] = rule
        return about, rule

    def _earlier(self, prompt: str) -> list[tuple[str, str]]:
        """Return (description, rule) of the listed hypotheses that this stand-in said."""
        return [
            (shown if self.family == "programs" else "as before", rule)
            for shown, rule in sorted(self._said.items())
            if f". {shown}\n" in prompt or f" {shown}\n" in prompt
        ]

    def _try(
        self, key: Any, strength: Strength, problem: KnownProblem, prompt: str
    ) -> dict[str, Any]:
        name = {"programs": "execute", "rules": "solve", "texts": "judge"}[self.family]
        calls = []
        for n in range(strength.candidates):
            kind = self._kind([*key, n], strength, problem)
            kind = "near" if kind in ("form", "malformed", "again") else kind
            _, rule = self._rule(kind, [*key, n], problem, prompt)
            calls.append({"name": name, "arguments": {TOOLS[name]: rule}})
        if draw(key, "written") < strength.shares[KINDS.index("form")]:
            text = "\n".join(f"<tool_call>{json.dumps(one)}</tool_call>" for one in calls)
            return {"content": text}
        made = [
            {"id": f"call_{n}", "type": "function",
             "function": {"name": one["name"], "arguments": json.dumps(one["arguments"])}}
            for n, one in enumerate(calls)
        ]  # fmt: skip
        return {"content": None, "tool_calls": made}

    def _after_tools(
        self, messages: Sequence[Mapping[str, Any]], key: Any, strength: Strength,
        problem: KnownProblem,
    ) -> dict[str, Any]:  # fmt: skip
        """Answer with the first candidate that the tool called consistent, else with another draw."""
        tried = {
            call["id"]: json.loads(call["function"]["arguments"])
            for one in messages for call in one.get("tool_calls") or ()
        }  # fmt: skip
        for one in messages:
            if one["role"] == "tool" and '"consistent":true' in one["content"].replace(" ", ""):
                (rule,) = tried[one["tool_call_id"]].values()
                return {"content": self._form(*self._name("as tried", rule))}
        return {"content": self._write(key, strength, problem, messages[0]["content"])}

    def _write(self, key: Any, strength: Strength, problem: KnownProblem, prompt: str) -> str:
        kind = self._kind(key, strength, problem)
        if kind == "malformed" and draw(key, "half") < 0.5:
            return (
                "I think that the rule has to do with the order of the values. Let me look again."
            )
        inner = kind
        if kind in ("form", "malformed"):
            knows = draw(key[0], problem.name, "knows") < strength.knows
            inner = "right" if knows and draw(key, "inner") < 0.5 else "near"
        whole = self._form(*self._rule(inner, key, problem, prompt))
        if kind == "malformed":
            return whole[: len(whole) // 2]
        return self._spoil(whole, key) if kind == "form" else whole

    def _form(self, about: str, rule: str) -> str:
        """Return an answer in the form that the prompt asks for."""
        if self.family == "programs":
            return repr((about, rule.strip()))
        if self.family == "rules":
            return json.dumps({"formula": rule, "description": about})
        return f"1. {rule}"

    def _spoil(self, whole: str, key: Any) -> str:
        fence = f"Here it is:\n```\n{whole}\n```"
        if self.family == "texts":
            return pick((fence, f"**Hypothesis:** {whole[3:]}", f"- {whole[3:]}"), key, "spoil")  # type: ignore[no-any-return]
        cut = whole[:-1]
        return pick((fence, f"{cut},{whole[-1]}", cut, f"The rule is {whole} I am fairly sure."),
                    key, "spoil")  # type: ignore[no-any-return]  # fmt: skip

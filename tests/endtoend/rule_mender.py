"""A chat model for rules that knows nothing but what it is told: it begins with a rule that covers
nothing, and adds to its rule the first feature of an element that the last message says is broken
and not covered. And who repairs, from a script."""

from __future__ import annotations

import json
import re

from peirce.records import Reply

NOTHING = "(and (P x) (not (P x)))"
NAMED = re.compile(r"World (\S+): (?:if [^:]*: )?(\w+)[\w, ]* (?:breaks the default|is broken)")


def answer(formula: str) -> str:
    return json.dumps({"formula": formula, "description": "a rule"})


def features(world, element, allowed):
    """Formulas over `allowed` that hold of the element by what is known to be true."""
    true = world["true"]
    for name in sorted(allowed):
        atoms = true.get(name, [])
        if [element] in atoms:
            yield f"({name} x)"
        elif any(len(atom) == 2 and atom[0] == element for atom in atoms):
            yield f"(exists y ({name} x y))"
    yield "(= x x)"


class RuleMender:
    def __init__(self, most=20):
        self.most, self.asked, self.named = most, [], []

    def settings(self):
        return {"model": "rule-mender"}

    async def propose(self, view, messages, tools, seed, schema=None):
        self.asked.append(([tool.name for tool in tools], messages[-1]["content"]))
        if view.own_answer_count >= self.most:
            return Reply(finish="exhausted")
        if not view.past_answers:
            return Reply(answer(NOTHING))
        rule = view.past_answers[-1].hypotheses[0].text
        named, element = NAMED.findall(messages[-1]["content"])[-1]
        self.named.append((named, element))
        (world,) = [one.input for one in view.shown if one.input["id"] == named]
        allowed = view.public["theory"]["allowed"]
        feature = next(
            one for one in features(world, element, allowed) if one not in rule or one == "(= x x)"
        )
        return Reply(answer(feature if rule == NOTHING else f"(or {rule} {feature})"))

    async def close(self):
        return None


class ByHand:
    """Repairs with `replies` in turn, then with nothing."""

    def __init__(self, *replies):
        self.replies, self.told = list(replies), []

    def settings(self):
        return {"model": "by-hand"}

    async def repair(self, view, text):
        place = sum(1 for one in view.past_answers if one.author)
        self.told.append((text, str(view.past_answers[-1].verdict), view.past_answers[-1].feedback))
        done = place >= len(self.replies)
        return Reply(finish="exhausted") if done else Reply(answer(self.replies[place]))

    async def close(self):
        return None

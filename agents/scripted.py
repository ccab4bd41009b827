"""Proposers with scripted answers, for tests, examples and trials without a model.

`scripted:FILE` reads a JSON file of one of two forms. The first form maps each problem id, or "*"
for all other problems, to a list of answers. An answer is a text, a tool call {"tool": NAME,
"arguments": {...}}, or a list: the turns of one answer, with the tool calls first and the text
last.

The second form consists of rules, for models whose answer depends on the prompt, such as judges:
{"rules": [{"when": REGEX, "say": TEXT}, …], "otherwise": TEXT} (see `RuleProposer`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ..records import (
    DataError,
    Json,
    Message,
    Proposer,
    Reply,
    ToolCall,
    ToolSpec,
    Unavailable,
    UsageError,
    View,
    digest_of,
)
from ..tasks.io.files import identify_file, locate, read_json
from .model_settings import ModelKind, ModelSettings

ScriptedTurn: TypeAlias = str | Reply | Unavailable
ScriptedAnswer: TypeAlias = ScriptedTurn | Sequence[ScriptedTurn]


class ScriptedProposer:
    """A proposer that gives `replies[n]` as answer number n of a problem, and is then exhausted.

    An answer is a text, a Reply, an Unavailable (which is raised), or a sequence of these: the
    turns of one answer. Turn k is given after k rounds of tool calls. If the model is offered no
    tools, only the last turn is given.

    Args:
        replies: One list of answers for every problem, or a mapping from problem id (or "*" for all
            other problems) to a list of answers.
        file: {"name", "sha256"} of the file that contains the replies; None if there is no file.
    """

    def __init__(
        self,
        replies: Sequence[ScriptedAnswer] | Mapping[str, Sequence[ScriptedAnswer]],
        file: Json = None,
    ) -> None:
        self._replies = replies if isinstance(replies, Mapping) else {"*": replies}
        self._file = file

    def settings(self) -> Json:
        """Return the settings to record: a digest of the replies, and the file that contains
        them.
        """
        plain = {key: [_plain(item) for item in items] for key, items in self._replies.items()}
        told = {"scheme": "scripted", "digest": digest_of(plain)}
        return told | ({} if self._file is None else {"answers_from": self._file})

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Return the next scripted reply of the problem.

        Raises:
            Unavailable: The script contains an Unavailable as this reply.
        """
        replies = self._replies.get(view.problem, self._replies.get("*", ()))
        if view.own_answer_count >= len(replies):
            return Reply(finish="exhausted", meta={"reason": "the script says no more of it"})
        item = replies[view.own_answer_count]
        turns = [item] if isinstance(item, str | Reply | Unavailable) else list(item)
        turn = count_tool_rounds(messages)
        said = turns[min(turn, len(turns) - 1)] if tools or turn else turns[-1]
        if isinstance(said, Unavailable):
            raise said
        return Reply(said) if isinstance(said, str) else said

    async def close(self) -> None:
        """Close the proposer; scripted answers need no cleanup."""
        return None


class FunctionProposer:
    """A proposer that answers every request with the text `function(messages)`.

    Args:
        function: Function that returns the text of an answer.
        name: The name that identifies the function in recorded settings; "" for the function's own
            name.
    """

    def __init__(self, function: Callable[[Sequence[Message]], str], name: str = "") -> None:
        self._function = function
        self._name = name or getattr(function, "__qualname__", type(function).__name__)

    def settings(self) -> Json:
        """Return the settings to record: a digest of the function's name."""
        return {"scheme": "scripted", "digest": digest_of(["Answering", self._name])}

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Call the function with the messages, and return its text as the reply."""
        return Reply(self._function(messages))

    async def close(self) -> None:
        """Close the proposer; a function needs no cleanup."""
        return None


class RuleProposer:
    r"""A proposer that answers with the text of the first rule whose pattern occurs in the prompt.

    The prompt consists of the contents of all messages, separated by empty lines. Patterns are
    regular expressions of `re`; start a pattern with (?i), (?s) or (?m) to set flags. In the text
    of a rule, \1 to \9 and \g<name> are replaced by the matched groups ("" for a group without a
    match), and \\ by one backslash.

    Args:
        rules: Pairs (pattern, text).
        otherwise: The text if no pattern occurs in the prompt; None to be exhausted in this case.
        file: {"name", "sha256"} of the file that contains the rules; None if there is no file.

    Raises:
        UsageError: A pattern is invalid, or a text names a group that its pattern lacks.
    """

    def __init__(
        self, rules: Sequence[tuple[str, str]], otherwise: str | None = None, file: Json = None
    ) -> None:
        self._plain = [[when, say] for when, say in rules]
        self._rules = [(_pattern(when, say), say) for when, say in rules]
        self._otherwise = otherwise
        self._file = file

    def settings(self) -> Json:
        """Return the settings to record: a digest of the rules, and the file that contains them."""
        digest = digest_of(["Matching", self._plain, self._otherwise])
        told = {"scheme": "scripted", "digest": digest}
        return told | ({} if self._file is None else {"answers_from": self._file})

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Return the text of the first rule whose pattern occurs in the prompt."""
        prompt = prompt_text(messages)
        for pattern, say in self._rules:
            if found := pattern.search(prompt):
                return Reply(_expanded(say, found))
        if self._otherwise is None:
            return Reply(finish="exhausted", meta={"reason": "no rule of the script fits"})
        return Reply(self._otherwise)

    async def close(self) -> None:
        """Close the proposer; rules need no cleanup."""
        return None


_GROUP = re.compile(r"\\(?:([1-9])|g<(\w+)>|(\\))")


def _pattern(when: str, say: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(when)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"rule {when!r:.60}: no regular expression: {error}") from None
    for named in _GROUP.finditer(say):
        number, name = named.group(1), named.group(2)
        if name and name not in pattern.groupindex and not name.isdecimal():
            raise UsageError(
                f"rule {when!r:.60}: the text names a group {name!r} that is not there"
            )
        digits = number or name
        if digits and digits.isdecimal() and int(digits) > pattern.groups:
            raise UsageError(
                f"rule {when!r:.60}: the text names group {digits} of {pattern.groups}"
            )
    return pattern


def _expanded(say: str, found: re.Match[str]) -> str:
    def group(named: re.Match[str]) -> str:
        number, name, backslash = named.groups()
        if backslash:
            return "\\"
        asked = number or name
        return found.group(int(asked) if asked.isdecimal() else asked) or ""

    return _GROUP.sub(group, say)


def prompt_text(messages: Sequence[Message]) -> str:
    """Return the contents of all messages, separated by empty lines."""
    return "\n\n".join(str(message.get("content") or "") for message in messages)


class RepairingProposer:
    """A simulated chat model that corrects a wrong program after a tool shows that it fails.

    If `tool` is offered, the model first calls the tool with the source code `wrong`. If the tool
    reports failing observations, the model answers with `mended`, otherwise with `wrong`. If the
    tool is not offered, the model answers with `wrong`. The model gives one answer per problem.

    Args:
        wrong: The source code of the wrong program.
        mended: The source code of the corrected program, or a function that returns this source
            code from the failing observations.
        tool: The name of the tool that tests programs.
        argument: The name of the tool's argument that takes the source code.
        answer: Function that formats source code as an answer; by default in the format "tuple".
    """

    def __init__(
        self,
        wrong: str,
        mended: str | Callable[[Sequence[Json]], str],
        *,
        tool: str = "execute",
        argument: str = "code",
        answer: Callable[[str], str] | None = None,
    ) -> None:
        self._wrong = wrong
        self._mended = mended
        self._tool = tool
        self._argument = argument
        self._answer = answer or format_tuple_answer

    def settings(self) -> Json:
        """Return the settings to record: a digest of the wrong and the corrected program."""
        mended = self._mended if isinstance(self._mended, str) else "a function of what failed"
        return {"scheme": "scripted", "digest": digest_of(["Mender", self._wrong, mended])}

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Test the wrong program with the tool. If the program fails, answer with the corrected
        program.
        """
        if view.past_answers:
            return Reply(finish="exhausted")
        if count_tool_rounds(messages) == 0:
            if not any(tool.name == self._tool for tool in tools):
                return Reply(self._answer(self._wrong))
            call = ToolCall("call_0", self._tool, {self._argument: self._wrong})
            return Reply(tool_calls=(call,), finish="tool_calls")
        failing = self._failing(messages)
        if not failing:
            return Reply(self._answer(self._wrong))
        mended = self._mended if isinstance(self._mended, str) else self._mended(failing)
        return Reply(self._answer(mended))

    async def close(self) -> None:
        """Close the proposer; this proposer needs no cleanup."""
        return None

    def _failing(self, messages: Sequence[Message]) -> list[Json]:
        """Return the failing observations in the last tool result."""
        results = [m["content"] for m in messages if m["role"] == "tool"]
        try:
            result = json.loads(results[-1])
        except ValueError:  # A tool that fails returns a message instead of JSON.
            return []
        return list(result.get("failing", [])) if isinstance(result, dict) else []


def count_tool_rounds(messages: Sequence[Message]) -> int:
    """Return the number of assistant turns in `messages` that call tools."""
    return sum(1 for m in messages if m["role"] == "assistant" and m.get("tool_calls"))


def format_tuple_answer(source: str, description: str = "") -> str:
    """Return an answer in the format "tuple": a description and the source code of a program."""
    return f"({description or 'A rule from a script'!r}, {source!r})"


async def open_model(settings: ModelSettings) -> Proposer:
    """Open the script file that the model string names.

    Raises:
        UsageError: The model string names no file, or the file does not exist.
        DataError: The file has the wrong format.
    """
    path = settings.model.partition(":")[2]
    if not path:
        raise UsageError(f"model {settings.model!r} names no file: write scripted:FILE")
    place = locate(path, ("answers.json",))
    data = read_json(place)
    if not isinstance(data, dict):
        raise DataError(f'{path}: must be one object, {{"ID or *": [answers]}}')
    if _has_rules(data):
        return _matching(path, data, identify_file(place))
    replies = {key: _items(path, key, value) for key, value in data.items()}
    return ScriptedProposer(replies, identify_file(place))


def _has_rules(data: Mapping[str, Json]) -> bool:
    """Return whether a script holds rules, and not answers to a problem called "rules"."""
    rules = data.get("rules")
    if rules == [] and isinstance(data.get("otherwise"), str):
        return True  # The answers to a problem would be a list.
    first = rules[0] if isinstance(rules, list) and rules else None
    return isinstance(first, dict) and not first.keys().isdisjoint(("when", "say"))


def _matching(path: str, data: Mapping[str, Json], file: Json) -> RuleProposer:
    if other := set(data) - {"rules", "otherwise"}:
        raise DataError(f"{path}: field {min(other)!r}: next to rules, only otherwise is allowed")
    otherwise = data.get("otherwise")
    if not isinstance(otherwise, str | None):
        raise DataError(f"{path}: field 'otherwise': {otherwise!r:.60} is not a string")
    rules = [_rule(path, n, rule) for n, rule in enumerate(data["rules"])]
    try:
        return RuleProposer(rules, otherwise, file)
    except UsageError as error:
        raise DataError(f"{path}: {error}") from None


def _rule(path: str, n: int, rule: Json) -> tuple[str, str]:
    if isinstance(rule, dict) and set(rule) == {"when", "say"}:
        when, say = rule["when"], rule["say"]
        if isinstance(when, str) and isinstance(say, str):
            return when, say
    raise DataError(f'{path}: rule {n}: {rule!r:.60} is no {{"when": REGEX, "say": TEXT}}')


def _items(path: str, key: str, value: Json) -> list[ScriptedAnswer]:
    if not isinstance(value, list):
        raise DataError(f"{path}: field {key!r}: {value!r:.60} is not a list of answers")
    items: list[ScriptedAnswer] = []
    for n, entry in enumerate(value):
        at = f"{path}: field {key!r}, answer {n}"
        if isinstance(entry, list) and entry:
            items.append([_parse_turn(at, part, turn) for turn, part in enumerate(entry)])
        else:
            items.append(_parse_turn(at, entry, 0))
    return items


def _parse_turn(at: str, entry: Json, turn: int) -> ScriptedTurn:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, dict) and isinstance(entry.get("tool"), str):
        call = ToolCall(f"call_{turn}", entry["tool"], entry.get("arguments", {}))
        return Reply(tool_calls=(call,), finish="tool_calls")
    raise DataError(f"{at}: {entry!r:.60} is neither a text nor a tool call")


def _plain(item: ScriptedAnswer) -> Json:
    if isinstance(item, str):
        return item
    if isinstance(item, Reply):
        calls = [[call.name, call.arguments] for call in item.tool_calls]
        return [item.text, calls, item.finish, dict(item.meta)]
    if isinstance(item, Unavailable):
        return ["unavailable", str(item)]
    return [_plain(said) for said in item]


SCRIPTED = ModelKind("scripted:FILE", ModelSettings, open_model)

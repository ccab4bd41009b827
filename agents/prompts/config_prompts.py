"""Prompts from a published data set: the `prompt_templates` of its config.yaml.

A template is a text, a mapping from speaker (system, user, assistant) to text, or a block that is
repeated for each item of a list: {"multi_content": TEXT, "prefix": TEXT, "suffix": TEXT}. In a
block, `${idx}` is the number of the item, starting at 1. An empty list of items gives "". `${name}`
(or `$name`) is replaced by a value of the role (the kind of request), by a column of the row, or by
another template, in this order of precedence. A template that is inserted in this way cannot insert
further templates. Values are inserted literally, so data may contain `$`.

Departures from the released code: a role without a template uses the prompt of `DEFAULT_PROMPTS`.
Undefined names are an error before any request. Empty messages are left out. In prompts that show
papers, the instructions of `DEFAULT_PROMPTS` on sources and quotes are appended, because each
hypothesis has to name its source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import Template
from typing import NamedTuple

from ...records import DataError, Digest, Json, Message, Observation, View, digest_of
from .text import DEFAULT_PROMPTS, TextPrompts, text_prompt_hash
from .text_parts import (
    SOURCE_FORM,
    SOURCE_INSTRUCTION,
    Findings,
    PaperText,
    Pattern,
    WrongRow,
    number_lines,
)

_SPEAKERS = ("system", "user", "assistant")
_PARTS = ("multi_content", "prefix", "suffix")
_HYPOTHESES = ("hypotheses", "num_hypotheses")
# Blocks, with the values of an item in addition to its columns.
_BLOCKS: Mapping[str, tuple[str, ...]] = {
    "observations": ("idx", "label"),
    "relevant_papers": ("idx", "title", "summary"),
    "adaptive_info_prompt": ("idx", "hypothesis_text", "observations"),
}
ROLES: Mapping[str, tuple[str, ...]] = {  # The templates of requests, with the values of each.
    "initialize_zero_shot": ("num_hypotheses",),
    "batched_generation": ("num_hypotheses", "observations"),
    "initialize_hypotheses_only_paper": ("num_hypotheses", "relevant_papers"),
    "batched_generation_with_paper": ("num_hypotheses", "observations", "relevant_papers"),
    "refine_with_data": (*_HYPOTHESES, "observations"),
    "refine_with_literature": (*_HYPOTHESES, "relevant_papers"),
    "IO_refine_with_feedback": ("num_hypotheses", "hypothesis_text", "observations"),
    "inference": ("hypothesis",),
    "multiple_hypotheses_inference": ("hypotheses", "num_hypotheses"),
    "is_relevant": ("hypothesis",),
    "adaptive_inference": ("adaptive_info_prompt",),
    "adaptive_selection": ("adaptive_info_prompt",),
    "few_shot_baseline": ("observations",),
    "summarize_paper": ("title", "paper_text"),
    "check_hypothesis_pair_repetition": ("hypotheses",),
}
_OF_A_ROW = {
    "inference",
    "multiple_hypotheses_inference",
    "is_relevant",
    "adaptive_inference",
    "adaptive_selection",
    "few_shot_baseline",
}


class _Item(NamedTuple):
    """The values for one repetition of a block; `rows` are the items of a block inside it."""

    values: Mapping[str, str]
    rows: Sequence[_Item] = ()


class ConfigPrompts:
    """The prompts about labelled text from the config.yaml of a data set.

    If the config has no template for a kind of request, the prompt of `DEFAULT_PROMPTS` is used.

    Args:
        templates: The `prompt_templates` of the config.yaml.

    Raises:
        DataError: A template is malformed.
    """

    def __init__(self, templates: Mapping[str, Json]) -> None:
        for name, template in templates.items():
            _check(str(name), template)
        self._templates = templates

    @staticmethod
    def for_problem(public: Mapping[str, Json]) -> TextPrompts:
        """Return the prompts in the config.yaml of a problem's data set, or `DEFAULT_PROMPTS`.

        `DEFAULT_PROMPTS` are returned if the config contains no templates.

        Args:
            public: The public data of the problem (`View.public`).

        Raises:
            DataError: A template cannot be filled with this problem's columns.
        """
        templates = public.get("templates")
        if not templates:
            return DEFAULT_PROMPTS
        prompts = ConfigPrompts(templates)
        prompts.check_names(public)
        return prompts

    def has_role(self, role: str) -> bool:
        """Return whether the config has a template for this kind of request, one of `ROLES`."""
        template = self._templates.get(role) or ""
        spoken = [template] if isinstance(template, str) else template.values()
        return any((text or "").strip() for text in spoken)

    def digest(self) -> Digest:
        """Return a digest of the templates and of the prompts in `DEFAULT_PROMPTS`."""
        return digest_of([dict(self._templates), text_prompt_hash()])

    def check_names(self, public: Mapping[str, Json]) -> None:
        """Check that every name in the templates is defined.

        Args:
            public: The public data of the problem (`View.public`).

        Raises:
            DataError: A name is not a column, a value of the kind of request, or a template.
        """
        columns = {*public.get("columns", {})}
        label = str(public.get("label_name", "label"))
        for role in ROLES:
            if not self.has_role(role):
                continue
            known = {*ROLES[role], *(columns if role in _OF_A_ROW else ())}
            for name in sorted(_names(self._templates[role])):
                if name in _BLOCKS:
                    self._snippet(role, name)
                    told = {*_BLOCKS[name], label, *columns}
                    _resolved(name, self._templates[name], told)
                elif name not in known:
                    _resolved(name, self._snippet(role, name), known - _BLOCKS.keys())

    def _snippet(self, role: str, name: str) -> str:
        """Return the template that another one names; "" for a block, which is checked separately.

        Raises:
            DataError: There is no such template, or it is a list of messages.
        """
        template = self._templates.get(name)
        given = ROLES.get(role) or _BLOCKS.get(role, ())
        if template is None or (name in _BLOCKS and name not in given):
            raise DataError(
                f"prompt template {role!r} names ${{{name}}}, which is not a column, a value of"
                " this role or another template"
            )
        if name not in _BLOCKS and not isinstance(template, str):
            raise DataError(f"prompt template {role!r} names {name!r}, which is not a string")
        return template if isinstance(template, str) else ""

    def propose(self, view: View, count: int, papers: Sequence[Findings] = ()) -> list[Message]:
        """Return the prompt that asks for `count` hypotheses."""
        role = {
            (True, False): "batched_generation",
            (False, True): "initialize_hypotheses_only_paper",
            (True, True): "batched_generation_with_paper",
            (False, False): "initialize_zero_shot",
        }[bool(view.shown), bool(papers)]
        if not self.has_role(role):
            return DEFAULT_PROMPTS.propose(view, count, papers)
        asked = self._fill_messages(
            role,
            {"num_hypotheses": str(count)},
            {"observations": _rows(view, view.shown), "relevant_papers": _papers(papers)},
        )
        return _sourced(asked) if papers else asked

    def refine_with_data(self, view: View, hypotheses: Sequence[str], count: int) -> list[Message]:
        """Return the prompt that asks to rewrite hypotheses in view of the rows in `view.shown`."""
        if not self.has_role("refine_with_data"):
            return DEFAULT_PROMPTS.refine_with_data(view, hypotheses, count)
        return self._fill_messages(
            "refine_with_data",
            {"num_hypotheses": str(count), "hypotheses": number_lines(hypotheses)},
            {"observations": _rows(view, view.shown)},
        )

    def refine_with_papers(
        self, view: View, hypotheses: Sequence[str], papers: Sequence[Findings], count: int
    ) -> list[Message]:
        """Return the prompt that asks to rewrite hypotheses in view of the findings of papers."""
        if not self.has_role("refine_with_literature"):
            return DEFAULT_PROMPTS.refine_with_papers(view, hypotheses, papers, count)
        asked = self._fill_messages(
            "refine_with_literature",
            {"num_hypotheses": str(count), "hypotheses": number_lines(hypotheses)},
            {"relevant_papers": _papers(papers)},
        )
        return _sourced(asked)

    def refine_with_feedback(
        self, view: View, hypothesis: str, wrong: Sequence[WrongRow], count: int
    ) -> list[Message]:
        """Return the prompt that asks to improve a hypothesis in view of rows that it labels
        wrongly.

        As in the published prompts, the wrongly predicted labels are not shown.
        """
        if not self.has_role("IO_refine_with_feedback"):
            return DEFAULT_PROMPTS.refine_with_feedback(view, hypothesis, wrong, count)
        return self._fill_messages(
            "IO_refine_with_feedback",
            {"num_hypotheses": str(count), "hypothesis_text": hypothesis},
            {"observations": _rows(view, [row for row, _ in wrong])},
        )

    def infer(self, view: View, hypothesis: str, input: Mapping[str, Json]) -> list[Message]:
        """Return the prompt that asks for the label of a row according to one hypothesis."""
        if not self.has_role("inference"):
            return DEFAULT_PROMPTS.infer(view, hypothesis, input)
        return self._fill_messages("inference", {**_columns(input), "hypothesis": hypothesis})

    def infer_many(
        self, view: View, hypotheses: Sequence[str], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks for the label of a row according to several hypotheses."""
        if not self.has_role("multiple_hypotheses_inference"):
            return DEFAULT_PROMPTS.infer_many(view, hypotheses, input)
        told = {"hypotheses": number_lines(hypotheses), "num_hypotheses": str(len(hypotheses))}
        return self._fill_messages("multiple_hypotheses_inference", {**_columns(input), **told})

    def judge_relevance(
        self, view: View, hypothesis: str, input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks whether a hypothesis applies to a row."""
        if not self.has_role("is_relevant"):
            return DEFAULT_PROMPTS.judge_relevance(view, hypothesis, input)
        return self._fill_messages("is_relevant", {**_columns(input), "hypothesis": hypothesis})

    def infer_adaptively(
        self, view: View, patterns: Sequence[Pattern], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks to choose the best pattern for a row and to label the row by
        it.
        """
        if not self.has_role("adaptive_inference"):
            return DEFAULT_PROMPTS.infer_adaptively(view, patterns, input)
        told = {"adaptive_info_prompt": _patterns(view, patterns)}
        return self._fill_messages("adaptive_inference", _columns(input), told)

    def select_pattern(
        self, view: View, patterns: Sequence[Pattern], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks which pattern fits a row best."""
        if not self.has_role("adaptive_selection"):
            return DEFAULT_PROMPTS.select_pattern(view, patterns, input)
        told = {"adaptive_info_prompt": _patterns(view, patterns)}
        return self._fill_messages("adaptive_selection", _columns(input), told)

    def label_directly(
        self, view: View, rows: Sequence[Observation], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks to label a row from labelled example rows, without a
        hypothesis.
        """
        if not self.has_role("few_shot_baseline"):
            return DEFAULT_PROMPTS.label_directly(view, rows, input)
        told = {"observations": _rows(view, rows)}
        return self._fill_messages("few_shot_baseline", _columns(input), told)

    def summarise(self, view: View, paper: PaperText) -> list[Message]:
        """Return the prompt that asks for a list of the findings of a paper."""
        if not self.has_role("summarize_paper"):
            return DEFAULT_PROMPTS.summarise(view, paper)
        return self._fill_messages(
            "summarize_paper", {"title": paper.title, "paper_text": paper.text}
        )

    def compare_hypotheses(self, view: View, first: str, second: str) -> list[Message]:
        """Return the prompt that asks whether two hypotheses mean the same."""
        role = "check_hypothesis_pair_repetition"
        if not self.has_role(role):
            return DEFAULT_PROMPTS.compare_hypotheses(view, first, second)
        return self._fill_messages(role, {"hypotheses": number_lines([first, second])})

    def _fill_messages(
        self,
        role: str,
        values: Mapping[str, str],
        blocks: Mapping[str, Sequence[_Item]] | None = None,
    ) -> list[Message]:
        """Return the filled messages of a role. Raises DataError for an undefined name."""
        template = self._templates[role]
        told = dict(values)
        for name in sorted(_names(template) - told.keys()):
            snippet = self._snippet(role, name)
            items = (blocks or {}).get(name)
            if items is None:
                told[name] = _filled(name, snippet, values)
            else:
                told[name] = self._repeated(self._templates[name], items, name)
        spoken = {"user": template} if isinstance(template, str) else template
        written = {who: _filled(role, text or "", told) for who, text in spoken.items()}
        return [{"role": who, "content": text} for who, text in written.items() if text.strip()]

    def _repeated(self, block: Json, items: Sequence[_Item], name: str) -> str:
        """Return the block repeated for each of `items`; "" for none."""
        if not items:
            return ""
        told = {"multi_content": block} if isinstance(block, str) else block
        inner = told["multi_content"]
        parts = [told.get("prefix") or ""]
        for n, item in enumerate(items, start=1):
            values = {"idx": str(n), **item.values}
            if not isinstance(inner, str):  # a block for the item's own rows
                parts.append(_filled(name, inner.get("prefix") or "", values))
                parts.append(self._repeated(inner["multi_content"], item.rows, name))
                parts.append(_filled(name, inner.get("suffix") or "", values))
                continue
            if name == "adaptive_info_prompt" and "observations" in _names(inner):
                self._snippet(name, "observations")
                rows = self._templates["observations"]
                values["observations"] = self._repeated(rows, item.rows, "observations")
            parts.append(_filled(name, inner, values))
        return "".join([*parts, told.get("suffix") or ""])


def _resolved(name: str, template: Json, known: set[str]) -> None:
    if missing := sorted(_names(template) - known):
        raise DataError(
            f"prompt template {name!r} names ${{{missing[0]}}}, which is none of: "
            f"{', '.join(sorted(known))}"
        )


def _check(name: str, template: Json) -> None:
    """Raise DataError unless the template is a text, messages or a block."""
    if isinstance(template, str):
        return
    if not isinstance(template, Mapping):
        raise DataError(
            f"prompt template {name!r} is neither a text nor a mapping: {template!r:.60}"
        )
    block = "multi_content" in template
    if name in ROLES and block:
        raise DataError(f"prompt template {name!r} is a block, but messages are required")
    if name in _BLOCKS and not block:
        raise DataError(
            f"prompt template {name!r} has no multi_content, which is repeated for each item"
        )
    known = _PARTS if block else _SPEAKERS
    for key, value in template.items():
        if key not in known:
            raise DataError(f"prompt template {name!r}: {key!r} is none of {', '.join(known)}")
        if key == "multi_content" and isinstance(value, Mapping):
            _check(f"{name}.{key}", {"multi_content": None, **value})
        elif not isinstance(value, str) and (value is not None or key == "multi_content"):
            raise DataError(f"prompt template {name!r}: {key} is not a string: {value!r:.60}")


def _names(template: Json) -> set[str]:
    """Return the names that occur as `${name}` or `$name` in a template."""
    if isinstance(template, str):
        return {
            found["named"] or found["braced"]
            for found in Template.pattern.finditer(template)
            if found["named"] or found["braced"]
        }
    inner: Iterable[Json] = template.values() if isinstance(template, Mapping) else ()
    return set().union(*map(_names, inner))


def _filled(name: str, template: str, values: Mapping[str, str]) -> str:
    """Fill a template. A `$` that starts no name stays, as in `$5`."""
    _resolved(name, template, set(values))
    return Template(template).safe_substitute(values)


def _columns(row: Mapping[str, Json]) -> dict[str, str]:
    return {name: str(value) for name, value in row.items()}


def _rows(view: View, rows: Sequence[Observation]) -> list[_Item]:
    label = str(view.public.get("label_name", "label"))
    return [
        _Item({"label": str(row.output), **_columns(row.input), label: str(row.output)})
        for row in rows
    ]


def _papers(papers: Sequence[Findings]) -> list[_Item]:
    return [_Item({"title": paper.title, "summary": paper.summary}) for paper in papers]


def _patterns(view: View, patterns: Sequence[Pattern]) -> list[_Item]:
    return [_Item({"hypothesis_text": text}, _rows(view, rows)) for text, rows in patterns]


def _sourced(asked: list[Message]) -> list[Message]:
    """Append to the last message the instruction to name the source of each hypothesis."""
    last = asked[-1]
    added = f"{SOURCE_INSTRUCTION} Their form: {SOURCE_FORM}. The papers above count from 1."
    return [*asked[:-1], {**last, "content": f"{last['content'].rstrip()}\n\n{added}"}]

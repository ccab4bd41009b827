"""Parse the labels, types, phrases, templates and forms that a model writes for a topic.

A parser returns the valid items in order. For each invalid item, it returns a sentence that
describes the error, and the model receives this sentence in the next request. No function here
raises an exception, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ....tools.sentence_rules.conditions import Not, mentions
from ....tools.sentence_rules.rules import ConditionClause, Rule
from ....tools.sentence_rules.sentence_compiler import compile_sentence
from ....tools.sentence_rules.terms import Term, straighten_quotes, tokenize
from ...io.messages import shorten
from ..columns import Columns
from ..label_names import normalize_label
from ..list_items import Item, parse_items, tidy_sentence
from .planted import public_facts
from .topic_draft import Definition, Draft, Template, WrittenPhrase

T = TypeVar("T")

MOST_ITEMS = (
    100  # of an answer, or four times as many as were asked for; each is compared with others
)

MAX_LABEL_WORDS, MAX_TYPE_WORDS = 5, 4
MAX_PHRASE_WORDS, MAX_CORE_WORDS, MAX_LOOSE_WORDS = (
    14,
    8,
    4,
)  # maxima: in a phrase, in its core, outside it
MAX_ADDED_WORDS = 4  # maximum that a form may add to its phrase
MIN_TEMPLATE_WORDS, MAX_TEMPLATE_CHARACTERS = 8, 1_500  # minimum outside the slots; maximum
_LABEL = re.compile(r"[^\W_][\w '&/+-]*")
_TYPE = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_CORE = re.compile(r"[^\W_][\w '&%$-]*")
_SLOT = re.compile(r"\[([^\[\]]*)\]")
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
_TERM = re.compile(r"\s*(?::|\s[-–—]\s|[–—])\s*")  # between a name and its description
_MARK = re.compile(r"\s+[-–—:]+>?\s+|[:–—→]\s*|\s+(?=\()")  # between a phrase and its label
_ALIKE = str.maketrans("–—‐‑", "----")  # models mix different dashes
_DENIALS = frozenset(("no", "not", "never", "without", "nor", "neither", "hardly"))
_COLUMNS = Columns({"text": {"kind": "text", "about": ""}}, "text", ())


@dataclass(frozen=True)
class ParsedItems(Generic[T]):
    """The valid items in a model's answer, and the errors in all other items.

    Attributes:
        valid: The items that meet the requirements.
        faults: A sentence for each item that does not meet the requirements.
    """

    valid: tuple[T, ...]
    faults: tuple[str, ...] = ()


def _items(said: str, count: int) -> list[Item]:
    return parse_items(said, count)[: max(MOST_ITEMS, 4 * count)]


def _bare(item: str) -> str:
    """Return an item on one line, with straight quotes and without escaped brackets."""
    return " ".join(straighten_quotes(item).replace("\\[", "[").replace("\\]", "]").split())


def contains_tokens(part: Sequence[str], tokens: Sequence[str]) -> bool:
    """Return whether `part` occurs in `tokens` as a consecutive sequence, as the judge compares
    texts.
    """
    size = len(part)
    return any(list(tokens[at : at + size]) == list(part) for at in range(len(tokens) - size + 1))


# --- labels and types -----------------------------------------------------------------


def parse_labels(answer: str, draft: Draft, count: int) -> ParsedItems[Definition]:
    """Parse labels from lines of the form `NAME: description`. Labels that the draft has are
    skipped.
    """
    good: list[Definition] = []
    wrong: list[str] = []
    taken = {normalize_label(name) for name in draft.label_names}
    for item in _items(answer, count):
        one = _named(item.sentence)
        why = find_label_fault(one.name) or (
            "there is such a label already" if normalize_label(one.name) in taken else ""
        )
        if why:
            wrong.append(f'"{shorten(one.name, 60)}": {why}')
            continue
        taken.add(normalize_label(one.name))
        good.append(one)
    return ParsedItems(tuple(good), tuple(wrong))


def find_label_fault(name: str) -> str:
    """Return the reason why a text cannot be a label, or "" if it can."""
    if not _LABEL.fullmatch(name):
        return "a label has letters, digits, blanks and hyphens alone"
    if len(name.split()) > MAX_LABEL_WORDS or len(name) > 60:
        return f"a label has at most {MAX_LABEL_WORDS} words"
    other = "another one"
    some, labels = mentions((Term("word"),)), (name, other)
    for rule in (
        Rule((ConditionClause(some, name),), other),
        Rule((ConditionClause(Not(some), name),)),
    ):
        if not _reads(rule, labels):
            return "it cannot be told apart from the words of a rule"
    return ""


def parse_types(answer: str, draft: Draft, count: int) -> ParsedItems[Definition]:
    """Parse types of phrases from lines of the form `name: description`.

    Blanks and hyphens in a name become `_`.
    """
    good: list[Definition] = []
    wrong: list[str] = []
    taken = {*draft.kinds, *(normalize_type_name(name) for name in draft.label_names)}
    for item in _items(answer, count):
        one = _named(item.sentence.strip("[]"))
        name = normalize_type_name(one.name.strip("[] "))
        why = ""
        if not _TYPE.fullmatch(name) or name.count("_") >= MAX_TYPE_WORDS:
            why = f"the name of a type is at most {MAX_TYPE_WORDS} words of plain letters"
        elif name in taken:
            why = "there is a type or label of this name"
        elif name in ("template", "text", "label"):
            why = "this word is taken"
        if why:
            wrong.append(f'"{shorten(one.name, 60)}": {why}')
            continue
        taken.add(name)
        good.append(Definition(name, one.about))
    return ParsedItems(tuple(good), tuple(wrong))


def normalize_type_name(text: str) -> str:
    """Return a name in lower case with `_` for blanks and hyphens."""
    return "_".join(re.split(r"[\s_-]+", text.strip().lower()))


def _named(item: str) -> Definition:
    """Split an item into a name and its description at a colon or a dash."""
    name, *about = _TERM.split(item, maxsplit=1)
    return Definition(tidy_sentence(name).strip(" .;*"), " ".join(about).strip(" *")[:300])


def _reads(rule: Rule, labels: Sequence[str]) -> bool:
    got = compile_sentence(rule.to_text(), public_facts(_COLUMNS, labels))
    return isinstance(got, Rule) and got.to_text() == rule.to_text()


# --- phrases --------------------------------------------------------------------------


def parse_phrases(answer: str, draft: Draft, kind: int, count: int) -> ParsedItems[WrittenPhrase]:
    """Parse phrases of a type from lines of the form `verb [words that stay] | LABEL`.

    A phrase must differ from all phrases in the draft. Together, the phrases of a type must suggest
    every label, so the last phrases must suggest the labels that are still missing.

    Args:
        answer: The model's answer.
        draft: The topic so far.
        kind: The index of the type.
        count: The number of phrases that the prompt asked for.
    """
    good: list[WrittenPhrase] = []
    wrong: list[str] = []
    before = [one for some in draft.phrases for one in some]
    labels = {normalize_label(name): place for place, name in enumerate(draft.label_names)}
    unheard = set(range(len(labels))) - {one.expected_label for one in draft.phrases[kind]}
    for item in _items(answer, count):
        phrase, label = _parted(_bare(item.sentence), labels)
        said_so = tidy_sentence(_BRACKETS.sub(r"\1", phrase)).strip(" .;")
        leaning = labels.get(normalize_label(label))
        core = _core(phrase, said_so)
        why = _phrase_fault(said_so, core, [*before, *good], draft)
        if not why and leaning is None:
            named = f'"{shorten(label.strip(), 40)}" is no label' if label.strip() else "no label"
            why = f"after | stands the label that it suggests, and {named} stands there"
        if not why and leaning not in unheard and len(unheard) >= count - len(good):
            lacking = ", ".join(draft.label_names[one] for one in sorted(unheard))
            why = f"what is still to be given has to suggest {lacking}"
        if why or leaning is None:
            wrong.append(f'"{shorten(said_so, 80)}": {why}')
            continue
        unheard.discard(leaning)
        good.append(WrittenPhrase(said_so, core, leaning))
    return ParsedItems(tuple(good), tuple(wrong))


def _parted(item: str, labels: Collection[str]) -> tuple[str, str]:
    """Split an item into a phrase and its label at `|`, or at another mark before a label."""
    phrase, bar, label = item.rpartition("|")
    if bar:
        return phrase, label
    *_, last = [None, *_MARK.finditer(item)]
    if last is not None and normalize_label(item[last.end() :]) in labels:
        return item[: last.start()], item[last.end() :]
    return item, ""


def _core(phrase: str, bare: str) -> str:
    """Return the words in brackets, or all words but the first, which may be a verb."""
    if found := _BRACKETS.findall(phrase):
        return " ".join(found[0].split()) if len(found) == 1 else ""
    words = bare.split()
    return " ".join(words[1:] or words)


def _phrase_fault(said: str, core: str, others: Iterable[WrittenPhrase], draft: Draft) -> str:
    own, kept = tokenize(said), tokenize(core)
    words = len(said.split())
    if not kept:
        return "it needs one pair of square brackets around the words that stay the same"
    if not _CORE.fullmatch(straighten_quotes(core)):
        return "the words in brackets are letters, digits, blanks, hyphens and apostrophes alone"
    if not all(c.isprintable() for c in said) or set(said) & set('{}[]|".!?;\n'):
        return "a phrase is a part of a sentence, without brackets, quotes and full stops"
    if words > MAX_PHRASE_WORDS or len(core.split()) > MAX_CORE_WORDS:
        return (
            f"a phrase has at most {MAX_PHRASE_WORDS} words, {MAX_CORE_WORDS} of them in brackets"
        )
    if words - len(core.split()) > MAX_LOOSE_WORDS:
        return f"at most {MAX_LOOSE_WORDS} words stand outside the brackets"
    for one in others:
        theirs = tokenize(one.core)
        if contains_tokens(kept, tokenize(one.text)) or contains_tokens(theirs, own):
            return f'"{one.text}" and it share the words in brackets, so they cannot be told apart'
    for name in draft.kinds:
        if contains_tokens(kept, tokenize(name)):
            return f'the words in brackets are the name of the type "{name}"'
    if not _reads(Rule((ConditionClause(mentions((Term(core),)), "yes"),)), ("yes", "no")):
        return "the words in brackets cannot be looked for"
    return ""


# --- templates ------------------------------------------------------------------------


def parse_templates(answer: str, draft: Draft, count: int) -> ParsedItems[Template]:
    """Parse templates, one per line. Each needs one slot `[type]` for each type of phrase."""
    good: list[Template] = []
    wrong: list[str] = []
    taken = {_frame(one) for one in draft.templates}
    for item in _items(answer, count):
        text = _bare(item.sentence)
        one, why = _template(text, draft)
        if one is not None and _frame(one) in taken:
            one, why = None, "there is such a text already"
        if one is None:
            wrong.append(f'"{shorten(text, 120)}": {why}')
            continue
        taken.add(_frame(one))
        good.append(one)
    return ParsedItems(tuple(good), tuple(wrong))


def _frame(one: Template) -> tuple[str, ...]:
    return tuple(word for piece in one.pieces for word in tokenize(piece) if word.isalnum())


def _template(text: str, draft: Draft) -> tuple[Template | None, str]:
    kinds = draft.kinds
    parts = _SLOT.split(text)
    pieces, slots = parts[::2], [normalize_type_name(one) for one in parts[1::2]]
    if other := [one for one in slots if one not in kinds]:
        return None, f"[{other[0]}] is no type: the slots are {_slots(kinds)}"
    if lacking := [one for one in kinds if one not in slots]:
        return None, f"it lacks {_slots(lacking)}"
    if len(slots) > len(kinds):
        twice = next(one for one in slots if slots.count(one) > 1)
        return None, f"[{twice}] stands in it more than once"
    if any(set(piece) & set("[]") for piece in pieces):
        return None, "square brackets stand around slots alone"
    if not all(tokenize(piece) for piece in pieces[1:-1]):
        return None, "a word has to stand between two slots"
    frame = [tokenize(piece) for piece in pieces]
    words = [word for piece in frame for word in piece if any(c.isalnum() for c in word)]
    if len(words) < MIN_TEMPLATE_WORDS or len(text) > MAX_TEMPLATE_CHARACTERS:
        return None, (
            f"a text has at least {MIN_TEMPLATE_WORDS} words beside the slots, and at most"
            f" {MAX_TEMPLATE_CHARACTERS:,} characters"
        )
    for one in (one for some in draft.phrases for one in some):
        if any(contains_tokens(tokenize(one.core), piece) for piece in frame):
            return None, f'it holds "{one.core}", which is for a slot'
    return Template(tuple(pieces), tuple(kinds.index(one) for one in slots)), ""


def _slots(kinds: Sequence[str]) -> str:
    return ", ".join(f"[{one}]" for one in kinds)


# --- forms ----------------------------------------------------------------------------


def parse_forms(
    answer: str, draft: Draft, number: int, kind: int, count: int
) -> ParsedItems[tuple[int, str]]:
    """Parse the forms of phrases that fit into a slot of a template.

    Each line of the answer is the text of the template with a phrase in the slot.

    Args:
        answer: The model's answer.
        draft: The topic so far.
        number: The index of the template.
        kind: The index of the type of phrase, which determines the slot.
        count: The number of forms that the prompt asked for.

    Returns:
        Pairs (index of the phrase within its type, text in the slot).
    """
    before, after = (
        " ".join(one.split()) for one in draft.templates[number].split_at_slot(kind, draft.kinds)
    )
    phrases = draft.phrases[kind]
    good: dict[int, str] = {}
    wrong: list[str] = []
    for item in _items(answer, count):
        text = _bare(item.sentence)
        form = _slot(text, before, after)
        if form is None:
            wrong.append(f'"{shorten(text, 160)}": the text around the slot is not as it was given')
            continue
        mine = [
            n
            for n, one in enumerate(phrases)
            if contains_tokens(tokenize(one.core), tokenize(form))
        ]
        if len(mine) != 1:
            named = ", ".join(f'"{one.core}"' for one in phrases)
            wrong.append(
                f'"{shorten(form, 80)}": exactly one of {named} has to stand in it, word for word'
            )
            continue
        form = _begun(form, before)
        if why := _form_fault(form, phrases[mine[0]], draft, (before, after)):
            wrong.append(f'"{shorten(form, 80)}": {why}')
        else:
            good.setdefault(mine[0], form)
    return ParsedItems(tuple(sorted(good.items())), tuple(wrong))


def _slot(text: str, before: str, after: str) -> str | None:
    """Return the text between `before` and `after` without brackets, or None if they differ."""
    told = text.translate(_ALIKE)
    if not (told.startswith(before.translate(_ALIKE)) and told.endswith(after.translate(_ALIKE))):
        return None
    inner = text[len(before) : len(text) - len(after)]
    if len(before) + len(after) > len(text) or not inner.strip():
        return None
    inner = inner.strip()
    return inner[1:-1].strip() if inner[0] == "[" and inner[-1] == "]" else inner


def _begun(form: str, before: str) -> str:
    """Capitalise a form that begins a sentence."""
    begins = not before or before[-1] in ".!?"
    return form[0].upper() + form[1:] if begins else form


def _form_fault(form: str, phrase: WrittenPhrase, draft: Draft, around: tuple[str, str]) -> str:
    words, own = tokenize(form), tokenize(phrase.text)
    if not form or set(form) & set("[]{}|\n") or any(c in ".!?;" for c in form):
        return "in the slot stands a part of a sentence, without brackets and full stops"
    if len(form.split()) > len(phrase.text.split()) + MAX_ADDED_WORDS:
        return f'it adds more than {MAX_ADDED_WORDS} words to "{phrase.text}"'
    if added := (_denials(words) - _denials(own)) | (_denials(own) - _denials(words)):
        return f'with "{min(added)}" it says the contrary of "{phrase.text}"'
    whole = tokenize(f"{_SLOT.sub('|', around[0])} {form} {_SLOT.sub('|', around[1])}")
    for one in (one for some in draft.phrases for one in some):
        if one is not phrase and contains_tokens(tokenize(one.core), whole):
            return f'in the text it makes "{one.core}", which is another phrase'
    return ""


def _denials(words: Iterable[str]) -> set[str]:
    return {one for one in words if one in _DENIALS or one.endswith("n't")}

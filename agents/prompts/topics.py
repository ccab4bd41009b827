"""Prompts that ask a model to write the building blocks of generated texts about a topic.

The texts follow HypoBench, section 2 and appendix A.1. Each function returns the messages of one
request, which asks one question: for class labels, for types of phrase, for phrases of a type, for
sentence templates, or for the grammatical form of a phrase in a template. Beyond the published
prompts, each phrase marks the words that stay the same in every sentence, and names the label that
it suggests. Each prompt states the rules for the answer. If an item breaks a rule, it is requested
again, and the prompt names the fault. The prompts are written for this project. Each prompt is one
user message, because some chat templates have no system role.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Digest, Message, digest_of
from ...tasks.io.compact_values import join_lines

TOPIC_PROMPT_VERSION = 1

_LABELS = """\
Texts on a subject are going to be sorted into classes. Name the classes.

The subject: {about}
{taken}
Give {count} labels that differ clearly from each other and together cover what such texts may be, among them one that is not the first to come to mind. Each is 1 to {words} plain words, without commas, quotes or brackets.

Answer with a numbered list alone, a label a line, a colon after it and in a few words what it stands for:
1. LABEL: what it stands for"""

_TYPES = """\
Texts are going to be put together from parts. Which kinds of part tell the classes of texts apart?

The subject: {about}

The classes:
{labels}

Give {count} types of phrase that any such text may have, each about something else, such that some phrases of a type suggest one class and some another. Each phrase will fill a slot in a sentence. As an example of another subject: in "Since [weather_report] I am [travel_plan]" the types are weather_report and travel_plan. The name of a type is 1 to {words} lower-case words joined by underscores.

Answer with a numbered list alone, a type a line, a colon after it and in a few words what its phrases say:
1. type_name: what its phrases say"""

_PHRASES = """\
Texts are going to be put together from phrases. Write phrases of one type.

The subject: {about}

The classes:
{labels}

The type: {kind}
{taken}
Give {count} phrases of this type. They differ clearly from each other, and suggest different classes, each class at least once where there are enough of them.
- Write each as it would follow "somebody who" or "something that", mostly a verb and what it is about, {phrase_words} words at most, without quotes and full stops.
- Put in square brackets the words that stay the same in whatever sentence the phrase stands, 1 to {core_words} of them; outside stand only words that grammar may change, such as the verb, at most {loose_words}. As an example of another subject: cancels [the sailing trip]
- The words in brackets stand in no other phrase, and have letters, digits, hyphens and apostrophes alone.
- After a | stands the label of the class that the phrase suggests, one of: {names}

Answer with a numbered list alone, a phrase a line:
1. verb [words that stay] | LABEL"""

_TEMPLATES = """\
Texts are going to be made by filling slots. Write the texts with their slots.

The subject: {about}

The classes, any of which the author of a text may be in, so that a text by itself favors none of them:
{labels}

The slots, and what may stand in each:
{slots}

Give {count} texts of two or three sentences, as people write about the subject, each in other words and in another order than the others.
- Each text has each slot exactly once, written in square brackets: {marks}
- Words stand between any two slots. No other square brackets, and none of the phrases themselves.
- A text has to read well whichever phrases fill its slots.

Answer with a numbered list alone, a text on one line each."""

_FORMS = """\
Phrases are put into a slot of a text as they are. Mend the grammar of each phrase, so that the sentence reads well. The text itself stays as it is, letter for letter.

The subject: {about}

The text: {template}

The slot: [{kind}]

With each phrase put in:
{filled}

Write each of these texts again, whole, on one line. Between the square brackets around the phrase you may change the form of its verb (ending, "to", "who", "those who") and drop or add small words, at most {added}. What you may not change:
- the text outside of these brackets, and the other slots, which stay in their own brackets;
- of each phrase these words, which stay word for word: {kept};
- what the phrase says: nothing is denied that it affirms, and it stays a part of one sentence.

Answer with a numbered list alone, the whole text a line, the mended phrase in square brackets."""

_AGAIN = """\
{faults}{kept}Give {count} more, as a numbered list in the same form and by the same rules. {which}"""


def labels_prompt(about: str, count: int, words: int, taken: Sequence[str] = ()) -> list[Message]:
    """Return the prompt that asks for `count` class labels of a subject.

    Args:
        about: The subject.
        count: The number of labels.
        words: The maximum number of words in a label.
        taken: Existing labels that must not be repeated.
    """
    told = _taken("Labels that are there already", taken)
    return _user(_LABELS.format(about=join_lines(about), count=count, words=words, taken=told))


def types_prompt(about: str, named: Sequence[str], count: int, words: int) -> list[Message]:
    """Return the prompt that asks for `count` types of phrase.

    Args:
        about: The subject of the texts.
        named: The labels with their meanings.
        count: The number of types.
        words: The maximum number of words in the name of a type.
    """
    told = _bullets(named)
    return _user(_TYPES.format(about=join_lines(about), labels=told, count=count, words=words))


def phrases_prompt(
    about: str,
    named: Sequence[str],
    names: Sequence[str],
    kind: str,
    others: Sequence[str],
    count: int,
    most: tuple[int, int, int],
) -> list[Message]:
    """Return the prompt that asks for `count` phrases of one type.

    Args:
        about: The subject of the texts.
        named: The labels with their meanings.
        names: The labels alone.
        kind: The type of phrase.
        others: Phrases of other types, whose words must not be repeated.
        count: The number of phrases.
        most: The maximum numbers of words in a phrase, in its bracketed part, and outside the
            brackets.
    """
    return _user(
        _PHRASES.format(
            about=join_lines(about), labels=_bullets(named), kind=join_lines(kind), count=count,
            taken=_taken("Phrases of other types, whose words are taken", others),
            names=", ".join(names), phrase_words=most[0], core_words=most[1], loose_words=most[2],
        )
    )  # fmt: skip


def templates_prompt(
    about: str, named: Sequence[str], slots: Sequence[tuple[str, Sequence[str]]], count: int
) -> list[Message]:
    """Return the prompt that asks for `count` text templates with slots for phrases.

    Args:
        about: The subject of the texts.
        named: The labels with their meanings.
        slots: Pairs (type of phrase, phrases of this type), one for each slot.
        count: The number of templates.
    """
    told = [f"[{kind}]: {'; '.join(map(join_lines, some))}" for kind, some in slots]
    return _user(
        _TEMPLATES.format(
            about=join_lines(about), labels=_bullets(named), slots=_bullets(told), count=count,
            marks=", ".join(f"[{kind}]" for kind, _ in slots),
        )
    )  # fmt: skip


def forms_prompt(
    about: str, template: str, kind: str, filled: Sequence[str], kept: Sequence[str], added: int
) -> list[Message]:
    """Return the prompt that asks the model to correct the grammar of phrases in a text template.

    Args:
        about: The subject of the texts.
        template: The text with slots.
        kind: The type of phrase whose slot is filled.
        filled: The text with each phrase inserted, in brackets.
        kept: The words of each phrase that must not change.
        added: The maximum number of words that may be added to a phrase.
    """
    numbered = "\n".join(f"{n}. {one}" for n, one in enumerate(filled, 1))
    return _user(
        _FORMS.format(
            about=join_lines(about), template=template, kind=kind, filled=numbered,
            kept=", ".join(f'"{one}"' for one in kept), added=added,
        )
    )  # fmt: skip


def retry_prompt(
    messages: Sequence[Message],
    answer: str,
    wrong: Sequence[str],
    good: Sequence[str],
    lacking: int,
    which: str = "",
) -> list[Message]:
    """Return the prompt that asks a model to replace items which broke a rule.

    The prompt repeats the first request and the last answer, then lists the faults and the accepted
    items.

    Args:
        messages: The messages of the first request.
        answer: The last answer of the model.
        wrong: The rejected items with their faults.
        good: The accepted items, which must not be repeated.
        lacking: The number of items that are still missing.
        which: A sentence that says which items are missing.
    """
    faults = f"These break a rule:\n{_bullets(wrong)}\n\n" if wrong else ""
    kept = f"Kept, and not to be given again:\n{_bullets(good)}\n\n" if good else ""
    told = _AGAIN.format(faults=faults, kept=kept, count=lacking, which=which).strip()
    return [
        *messages,
        {"role": "assistant", "content": answer or "(no answer)"},
        {"role": "user", "content": told},
    ]


def topic_prompt_hash() -> Digest:
    """Return a digest of the prompt texts.

    Topics that were generated with different prompt texts are not comparable.
    """
    return digest_of([TOPIC_PROMPT_VERSION, _LABELS, _TYPES, _PHRASES, _TEMPLATES, _FORMS, _AGAIN])


def _taken(what: str, some: Sequence[str]) -> str:
    return f"\n{what}:\n{_bullets(some)}\n" if some else ""


def _bullets(some: Sequence[str]) -> str:
    return "\n".join(f"- {join_lines(one)}" for one in some)


def _user(text: str) -> list[Message]:
    return [{"role": "user", "content": text}]

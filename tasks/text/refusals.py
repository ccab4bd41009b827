"""Recognise sentences in which a model says that it has no hypothesis.

The rule is small and keeps a sentence when in doubt. An item of an answer is a refusal if it names
no label and each of its sentences has, from beginning to end, one of the forms below. These forms
are statements about the writer or the task ("I cannot find a pattern", "N/A", "not enough
information"). A sentence that says that texts contain such words has another form ("Reviews that
say 'I do not know' are fake", "'I cannot' occurs in fakes").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_FINDING = r"(?:pattern|hypothes[ie]s|rule|answer|conclusion)s?"
_FACTS = r"(?:information|data|context|evidence|examples)"
_FOUND = (
    r"(?:found|identified|determined|drawn|detected|discerned|derived|inferred|generated|formed|made"
    r"|given|provided|known|answered|said|concluded)"
)
_KIND = (
    r"(?:(?:clear|obvious|consistent|apparent|valid|single|new|further|other|meaningful|discernible|evident"
    r"|identifiable|recogni[sz]able|distinct|definite|definitive|strong|reliable|particular|specific|real"
    r"|general|simple|useful|such) ){0,2}"
)
_SOURCE = (  # "from the given examples"
    r"(?: (?:from|in|with|within|based on|given|by) (?:(?:the|these|this|those|your|all|given|provided"
    rf"|available|shown) )*(?:{_FACTS}|data ?set|texts|observations|samples|inputs?|question))?"
)
_ABLE = (
    r"(?:(?: (?:must|have to))? (?:cannot|could not|will not|refuse to|decline to)"
    r"|(?: am|'m| are|'re| was| were)? (?:unable|not able) to)"
)
_ACT = (
    r"(?:know|tell|say|determine|find|identify|see|detect|discern|derive|infer|draw|conclude|generate"
    r"|provide|produce|propose|give|offer|formulate|form|create|come up|think of|help|assist|answer"
    r"|respond|comply|do|fulfil|complete)\b(?! but)"
)
_WRITER = (  # each after "I" or "we", and followed by anything that makes no claim
    rf"{_ABLE} {_ACT}.*",
    r" do not know(?: (?:it|this|yet|any|the|a|what|which|how|whether|if|why|enough)\b.*)?",
    rf" (?:do|did) not (?:have|see|find|notice|identify|detect|discern) (?:(?:any|a|an|enough|sufficient) )?"
    rf"(?:\w+ )?(?:{_FACTS}|{_FINDING}|idea)\b.*",
    rf" do not have access to (?:(?:the|this|your|that|any) )?(?:{_FACTS}|data ?set|texts?|files?|internet)",
    rf" have no (?:\w+ )?(?:{_FACTS}|{_FINDING}|idea)\b.*",
    rf" (?:would )?need (?:more|additional|further) {_FACTS}\b.*",
    r" (?:must |have to )?(?:refuse|decline)",
    r"(?: am|'m| are|'re) not (?:sure|certain)(?: (?:what|which|how|whether|if|about|of|why)\b.*)?",
)
_APOLOGY = (
    r"(?:(?:(?:i am|i'm|we are|we're) (?:(?:very|so) )?(?:sorry|afraid)|sorry|(?:i|we) apologi[sz]e"
    r"|(?:my )?apologies|unfortunately|as an? (?:ai|(?:ai |large )*language model)(?: model| assistant)?)"
    r"(?:[,;:.]? (?:but|that|however))?(?:[,;:.] ?| |$))"
)
_REFUSAL = re.compile(
    rf"{_APOLOGY}*(?:"
    + "|".join(
        (
            rf"(?:i|we)(?: simply| really| currently)?(?:{'|'.join(_WRITER)})",
            rf"(?:cannot|could not|unable to|not able to) {_ACT}(?: (?:(?:a|an|any|the) )?{_KIND}{_FINDING}{_SOURCE}"
            r"| (?:it|this|that|which|what|whether|if|how|why|with)\b.*)?",
            rf"there (?:is|are|seems to be) no {_KIND}{_FINDING}{_SOURCE}",
            rf"(?:there (?:is|are) )?(?:not enough|insufficient|too little) {_FACTS}{_SOURCE}(?: (?:to|for) .*)?",
            rf"(?:the |my )?(?:(?:given|provided|available) )?(?:{_FACTS}|knowledge) (?:is|are) (?:insufficient|not (?:sufficient"
            r"|enough))(?: (?:to|for) .*)?",
            rf"no {_KIND}{_FINDING}(?: (?:can be|could be|was|were|is|are))?(?: (?:\w+ly )?{_FOUND}| available| possible)?{_SOURCE}",
            rf"(?:(?:it|this|that) )?(?:cannot|could not) be {_FOUND}{_SOURCE}",
            r"it(?: is|'s) (?:not possible|impossible) to (?:say|tell|know|answer|determine)",
            rf"it(?: is|'s) (?:not possible|impossible) to \w+ (?:a|any|the) {_KIND}{_FINDING}{_SOURCE}",
            r"(?:n/?a|none|null|nil|nothing)(?: (?:found|available|given))?",
            r"unknown|undefined|undetermined|inconclusive|not (?:applicable|available|sure|found)|no idea",
            r"(?:it is |this is )?(?:unclear|not clear)|dunno|idk|tbd|to be determined",
            r"",  # an apology alone
        )
    )
    + ")(?:,? (?:sorry|unfortunately))?"
)
# Contractions, also those without their apostrophe, are read as two words.
_NOT = re.compile(r"\b(do|did|could|would|is|are|was|were)n'?t\b")
_CANNOT = re.compile(r"\b(?:can'?t|can not)\b")
# What may follow a refusal: "Please provide more examples."
_REMARK = re.compile(r"(?:please|could you|can you|if you|let me know|feel free)\b.*")
_CLAIM = re.compile(
    r"\b(?:appears?|occurs?|indicates?|suggests?|means|implies|points?|signals?|shows?|predicts?|marks?"
    r"|(?:is|are) (?:an?|the|more|less|most|often|mostly|usually|said|used|written|signs?)) "
)


def is_refusal(sentence: str, labels: Sequence[str]) -> bool:
    """Return whether a text only says that there is no hypothesis.

    Args:
        sentence: An item of a model's answer, on one line.
        labels: The labels of the data set. A text that names a label is never a refusal.
    """
    said = unicodedata.normalize("NFKC", sentence).casefold().replace("’", "'")
    said = " ".join(said.replace("`", "'").replace("won't", "will not").split())
    said = _CANNOT.sub("cannot", _NOT.sub(r"\1 not", said))
    if _CLAIM.search(said) or any(_in_words(label) in _in_words(said) for label in labels):
        return False
    parts = [part.rstrip(" .!?…") for part in re.split(r"(?<=[.!?…]) +", said)]
    return bool(_REFUSAL.fullmatch(parts[0])) and all(
        _REFUSAL.fullmatch(part) or _REMARK.fullmatch(part) for part in parts[1:]
    )


def _in_words(text: str) -> str:
    """Return the words of a text, each between blanks."""
    return " ".join(["", *re.findall(r"[^\W_]+", text.casefold()), ""])

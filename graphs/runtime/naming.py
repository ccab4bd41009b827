"""Ask the namer of a session, if it has one, for the names of themes.

A theme is a long list of terms in a sentence. The namer is asked once about all themes of an answer,
under the path

    step/<step>/name/<number of the answer>

A name is kept in the metadata of the hypothesis, beside the sentence, which stays as it is. Without a
name, a theme is called by its strongest words where it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...agents.prompts.theme_names import ask_for_names, parse_names
from ...records import THEME_NAME, Hypothesis, Malformed, SummarizesHypotheses, View
from ...tasks.io.messages import warn
from .queries import NAMER, query_model

if TYPE_CHECKING:
    from .case import Case


async def name_themes(
    case: Case, view: View, items: Sequence[Hypothesis | Malformed], path: str
) -> list[Hypothesis | Malformed]:
    """Return the parts of an answer with the namer's names of their themes.

    A theme keeps no name if the session has no namer, the namer cannot be reached, or its answer is
    no name. A namer that cannot be reached is reported in one line.

    Args:
        case: The working data of the problem.
        view: The problem as the model may see it.
        items: The parts of the answer.
        path: The path of the call in the journal.
    """
    found = list(items)
    if NAMER not in case.others or not isinstance(case.family, SummarizesHypotheses):
        return found
    themes = {}
    for place, item in enumerate(found):
        if isinstance(item, Hypothesis) and (terms := case.family.strongest_terms(item.text)):
            themes[place] = terms
    if not themes:
        return found
    prompt = ask_for_names(list(themes.values()))
    reply = await query_model(case, NAMER, path, view, prompt, is_optional=True)
    if reason := reply.meta.get("unavailable"):
        warn(f"themes are named by their strongest words: the namer gave no answer ({reason})")
    for place, name in zip(themes, parse_names(reply.text, len(themes)), strict=True):
        item = found[place]
        if name and isinstance(item, Hypothesis):
            found[place] = replace(item, meta={**item.meta, THEME_NAME: name})
    return found

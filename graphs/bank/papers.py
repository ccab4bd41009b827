"""Summarise each paper once, and parse hypotheses that cite papers.

The calls have paths such as

    paper/3/summary/0      the first piece of the fourth paper
"""

from __future__ import annotations

from ...records import Hypothesis, Json, Malformed, Reply, Summary
from ...tasks.text.answers import parse_sourced_hypotheses
from ...tasks.text.family import MAX_HYPOTHESES
from ...tasks.text.papers import MAX_PIECE_WORDS, Paper, contains_quote, split_text
from ..runtime.case import Case, Runtime
from ..runtime.judge_questions import make_bare_view
from ..runtime.queries import LITERATURE, gather_or_cancel, query_model
from ..runtime.steps import State

CUT_FINISH = "length"  # finish of a reply that was cut at the token limit
NO_SOURCE, NO_QUOTE, FALSE_QUOTE = "no_source", "no_quote", "quote_not_in_source"  # breaches


async def summarise(state: State, runtime: Runtime) -> dict[str, Json]:
    """Summarise all papers of the problem concurrently.

    The step records which papers have no summary.
    """
    case = runtime.context
    papers = get_papers(case)
    told = await gather_or_cancel([_summary(case, n, one) for n, one in enumerate(papers)])
    case.summaries = [
        Summary(paper.source, paper.title, text)
        for paper, text in zip(papers, told, strict=True)
        if text
    ]
    without = [paper.source for paper, text in zip(papers, told, strict=True) if not text]
    if papers:
        case.step_fields["papers"] = len(case.summaries)
    if without:
        case.step_fields["unsummarised"] = without
    return {}


def get_papers(case: Case) -> list[Paper]:
    """Return the papers of the problem."""
    return [Paper(**one) for one in case.problem.public.get("papers", ())]


async def _summary(case: Case, number: int, paper: Paper) -> str:
    view = make_bare_view(case)
    parts = split_text(paper.text, MAX_PIECE_WORDS)
    asks = [
        query_model(
            case, LITERATURE, f"paper/{number}/summary/{place}", view,
            case.prompts.summarise(view, Paper(paper.source, paper.title, part)),
        )
        for place, part in enumerate(parts)
    ]  # fmt: skip
    texts = [reply.text.strip() for reply in await gather_or_cancel(asks)]
    return "\n".join(text for text in texts if text and text.lower().strip(" .") != "none")


def parse_hypotheses(case: Case, reply: Reply) -> list[Hypothesis | Malformed]:
    """Return the hypotheses in a reply.

    If the reply was cut at the token limit, its last hypothesis is left out.
    """
    items = list(case.family.parse(case.make_view(), reply.text, case.answer_format))
    return items[:-1] if reply.finish == CUT_FINISH else items  # the last one is incomplete


def parse_cited_hypotheses(
    case: Case, reply: Reply, with_rows: bool
) -> list[Hypothesis | Malformed]:
    """Return the hypotheses in a reply to a prompt that showed papers.

    The metadata of each hypothesis contain "from" ("literature", or "both" with `with_rows`),
    "source" (the file of the cited paper) and "quote". A breach is recorded if the source or the
    quote is missing, or if the quote does not occur in the paper.

    Args:
        case: The working data of the problem.
        reply: The reply.
        with_rows: Whether the prompt also showed labelled rows.
    """
    texts = {paper.source: paper.text for paper in get_papers(case)}
    found: list[Hypothesis | Malformed] = []
    items = parse_sourced_hypotheses(reply.text, MAX_HYPOTHESES)
    for sentence, number, quote in items[:-1] if reply.finish == CUT_FINISH else items:
        read = case.family.parse_hypothesis(sentence, case.make_view())
        if isinstance(read, Malformed):
            found.append(read)
            continue
        known = number is not None and 1 <= number <= len(case.summaries)
        source = case.summaries[number - 1].source if known and number is not None else ""
        meta = {"from": "both" if with_rows else "literature", "source": source, "quote": quote}
        found.append(Hypothesis(read.text, "", meta, _breaches(source, quote, texts, with_rows)))
    return found[: case.text.hypotheses]


def _breaches(source: str, quote: str, texts: dict[str, str], with_rows: bool) -> tuple[str, ...]:
    if not source:
        return () if with_rows else (NO_SOURCE,)
    if not quote:
        return (NO_QUOTE,)
    return () if contains_quote(quote, texts[source]) else (FALSE_QUOTE,)

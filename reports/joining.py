"""Problems joined across sessions and models: all consistent hypotheses about one O_n together.

Two sessions worked on one thing where the data set, the problem's id, the pairs shown (as a set,
whatever their order), the other public parts, the hidden pairs and the sample space S are equal;
predictions over different S cannot be compared, so these stay apart. A hypothesis counts as often
as it was given. Hypotheses stand in the order of their digests, so that neither the order of the
sessions nor that of the answers changes a result.

Hidden pairs are a set: one that stands there twice counts once, one that is also shown is left out
(as in the published code), and so is one by which no hypothesis can be judged
(`tasks.judgeable`), unless all pairs are asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .. import tasks
from ..records import Json, Observation, Problem, canonical_json, digest_of
from ..tools.studies import Population, population

if TYPE_CHECKING:
    from ..store import Consistent, Store

TOGETHER = 32  # problems whose rows are read by one query
ORIGINAL = "original"


@dataclass(frozen=True)
class Joined:
    """A problem under one O_n. n: how many pairs were drawn to be shown, or "original".

    key: names it among all, a part of every seed. cluster: what is drawn as one in a bootstrap:
    the problem, under whatever O_n. unjudged: hypotheses left out, without marks on the hidden
    pairs or predictions over S.
    """

    data_set: str
    n: int | str
    problem: str
    key: str
    cluster: str
    population: Population
    unjudged: int


@dataclass
class Sources:
    """What was read. sessions: {session, task, method, model, problems, left_out} each, left_out:
    problems not done, by status. hidden: pairs left out of the joined problems, by why."""

    sessions: list[dict[str, Json]] = field(default_factory=list)
    hidden: dict[str, int] = field(default_factory=lambda: {"not_judgeable": 0, "repeated": 0})
    problems: int = 0


@dataclass
class _Group:
    data_set: str
    n: int | str
    problem: Problem
    names: list[str]  # of the hidden pairs that count, in their order
    space: str
    places: dict[str, list[int]] = field(default_factory=dict)  # by session: where they stand


def data_set(settings: Json) -> str:
    """What a table calls the data of a session: the task, and whether its generator made them."""
    made = settings.get("operational", {}).get("data") is None
    return f"{settings['task']} (generated)" if made else str(settings["task"])


def shown_setting(settings: Json, problem: Problem) -> int | str:
    """n of GEAR's settings: the number of pairs shown, where they were drawn or a file named
    them; else "original", the data's own split."""
    drawn = settings.get("operational", {}).get("observations")
    return ORIGINAL if drawn is None else len(problem.shown)


def joined(
    store: Store, sessions: Sequence[str], sources: Sources, *, all_pairs: bool = False
) -> Iterator[Joined]:
    """Every problem of the sessions that is done in one of them at least, in the order of data set,
    n and id; predictions of one problem at a time are in memory. `sources` is filled at once."""
    groups = _groups(store, sessions, sources, all_pairs)
    return _populated(store, groups)


def _groups(
    store: Store, sessions: Sequence[str], sources: Sources, all_pairs: bool
) -> dict[str, _Group]:
    groups: dict[str, _Group] = {}
    for session in dict.fromkeys(sessions):
        settings = store.session(session)["settings"]
        rows = store.problems(session)
        done = [row for row in rows if row.status == "done"]
        sources.sessions.append(
            {
                "session": session,
                **{name: settings.get(name) for name in ("task", "method", "model")},
                "problems": len(done),
                "left_out": dict(Counter(r.status for r in rows if r.status != "done")),
            }
        )
        for row in done:
            problem, names = row.problem, _hidden(row.problem, all_pairs)
            about = data_set(settings), shown_setting(settings, problem)
            shown = sorted(map(_name, problem.shown))
            public = dict(problem.public)
            key = digest_of(
                [*about, problem.id, shown, public, sorted(names), row.space,
                 settings.get("equality")]
            )  # fmt: skip
            if key not in groups:
                groups[key] = _Group(*about, problem, sorted(names), row.space)
                judged = len(_hidden(problem, True))
                sources.hidden["not_judgeable"] += judged - len(names)
                sources.hidden["repeated"] += len(problem.hidden) - judged
            groups[key].places[session] = [names[name] for name in groups[key].names]
    sources.problems = len(groups)
    order = sorted(groups, key=lambda key: _place(groups[key], key))
    return {key: groups[key] for key in order}


def _place(group: _Group, key: str) -> tuple[str, bool, int, str, str]:
    number = group.n if isinstance(group.n, int) else 0
    return group.data_set, group.n == ORIGINAL, number, group.problem.id, key


def _hidden(problem: Problem, all_pairs: bool) -> dict[str, int]:
    """The hidden pairs that count: the name of each and where it first stands."""
    shown = set(map(_name, problem.shown))
    marks = [True] * len(problem.hidden) if all_pairs else tasks.judgeable(problem)
    found: dict[str, int] = {}
    for i, pair in enumerate(problem.hidden):
        name = _name(pair)
        if marks[i] and name not in shown:
            found.setdefault(name, i)
    return found


def _name(pair: Observation) -> str:
    return canonical_json([pair.input, pair.output])


def _populated(store: Store, groups: dict[str, _Group]) -> Iterator[Joined]:
    weights: dict[str, tuple[float, ...] | None] = {}
    keys = list(groups)
    for start in range(0, len(keys), TOGETHER):
        part = keys[start : start + TOGETHER]
        by_session: dict[str, list[str]] = {}
        for key in part:
            for session in groups[key].places:
                by_session.setdefault(session, []).append(groups[key].problem.id)
        found = {session: store.consistent(session, ids) for session, ids in by_session.items()}
        for key in part:
            group = groups[key]
            if group.space not in weights:
                weights[group.space] = store.space(group.space).weights
            given = [
                (one, places)
                for session, places in group.places.items()
                for one in found[session][group.problem.id]
            ]
            pairs = len(group.problem.hidden)
            usable = [
                (one, places)
                for one, places in given
                if one.codes is not None and one.hidden is not None and len(one.hidden) == pairs
            ]
            usable.sort(key=lambda pair: pair[0].hypothesis)
            yield Joined(
                group.data_set,
                group.n,
                group.problem.id,
                key,
                canonical_json([group.data_set, group.problem.group or group.problem.id]),
                _population(store, usable, len(group.names), weights[group.space]),
                len(given) - len(usable),
            )


def _population(
    store: Store,
    given: Sequence[tuple[Consistent, list[int]]],
    pairs: int,
    weights: tuple[float, ...] | None,
) -> Population:
    """The codes of predictions that several hypotheses share are read once."""
    rows: dict[tuple[str | None, str | None], int] = {}
    behaviour = [rows.setdefault((one.codes, one.reasons), len(rows)) for one, _ in given]
    vectors = store.vectors(name for both in rows for name in both if name is not None)
    codes = [vectors[codes] for codes, _ in rows if codes is not None]
    defined = [np.equal(vectors[reasons], 0) for _, reasons in rows if reasons is not None]
    right = np.zeros((len(given), pairs), np.bool_)
    for i, (one, places) in enumerate(given):
        marks = one.hidden or ()
        right[i] = [marks[place] is True for place in places]
    if not rows:
        return population(np.zeros((0, 0), np.int64), np.zeros((0, 0), np.bool_), right)
    return population(np.stack(codes), np.stack(defined), right, behaviour, weights)

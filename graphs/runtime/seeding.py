"""Nodes in which the embedded search gives hypotheses before the first request to the proposer.

Each answer of the search is a step of its own. Prompts show its hypotheses as found by a search, and
a hypothesis of the proposer is novel only if it differs from them.

    seed/0                           the first answer of the search
    step/1/judge/0/0/shown/execute   its first hypothesis, on shown observations
"""

from __future__ import annotations

from ...records import IS_LAST, Json, JudgedHypothesis, Outcome, Unavailable
from .case import Case, Runtime
from .judging import digest_of_view, judge_of_search, reaches_target
from .queries import SEEDER, Role, check_reply, decode_outcome, reply_from_outcome, reply_to_json
from .steps import State


async def seed(state: State, runtime: Runtime) -> dict[str, Json]:
    """Ask the search for its next hypothesis, and judge it."""
    await _seed(state, runtime.context)
    return {}


async def seed_towards_target(state: State, runtime: Runtime) -> dict[str, Json]:
    """Ask the search as `seed` does, and end the problem if a hypothesis reaches the target."""
    case = runtime.context
    judged = await _seed(state, case)
    return {"stop": "target"} if any(reaches_target(case, one) for one in judged) else {}


async def _seed(state: State, case: Case) -> list[JudgedHypothesis]:
    number = state["step"] - 1  # seeds come first, and each is a step
    path, view = f"seed/{number}", case.make_view()
    player = case.others.get(SEEDER, Role({}))  # never the proposer
    request = {
        "role": SEEDER,
        "model": player.model_settings,
        "earlier": len(view.past_answers),
        "view": digest_of_view(view),
    }

    async def make() -> Outcome:
        if player.proposer is None:
            raise Unavailable("There is no search behind this session, only its journal.")
        reply = await player.proposer.propose(view, [], [], case.derive_seed(path))
        check_reply(reply, player.proposer)
        return Outcome(reply_to_json(reply), usage=reply.usage, retries=reply.retries)

    # the cache is for answers of endpoints
    outcome = await case.record_once(path, "model", request, make, cached=False)
    reply = decode_outcome(path, reply_from_outcome, outcome)
    if reply.finish == "exhausted":
        case.seeds_left = 0
        return []
    case.step_fields["seeder"] = "search"
    judged = await judge_of_search(
        case, state["step"], reply, path, "search", seeded=True, most=case.seeds_left
    )
    case.seeds_left = 0 if reply.meta.get(IS_LAST) else case.seeds_left - len(judged)
    return judged

"""Hypotheses that the embedded search gives before the first request: steps of their own, shown in
prompts, never answers of the model; a session that failed after them goes on to the same record."""

from __future__ import annotations

import peirce
import pytest
from peirce.records import Reply, Unavailable, UsageError
from peirce.store import Store

PAIRS = [[[4, 2, 7], [2]], [[3, 9], [9]], [[8, 1, 5, 6], [1]], [[2, 6, 6], [6]], [[5, 0, 3], [0]]]
FIRST = '("The first element.", "def f(x):\\n    return x[:1]")'
HEADING = "A search found this:"


class Answers:
    """Gives the first element as its only answer, after `failures` requests without an answer."""

    def __init__(self, failures=0):
        self.failures, self.prompts = failures, []

    def settings(self):
        return {"model": "mine"}

    async def propose(self, view, messages, tools, seed, schema=None):
        self.prompts.append([dict(message) for message in messages])
        if self.failures:
            self.failures -= 1
            raise Unavailable("it is down")
        return Reply(finish="exhausted") if view.own_answer_count else Reply(FIRST)

    async def close(self):
        return None


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(f'{{"input": {i}, "output": {o}}}\n' for i, o in PAIRS), "utf-8")
    return path


def start(pairs, store, model, **options):
    return peirce.run("examples", data=str(pairs), model=model, store=str(store), **options)


def steps_of(path, session):
    store = Store.open(path, write=False)
    try:
        (row,) = store.problems(session)
        return list(store.steps(session, row.problem.id)), store.digest(session), row.cause
    finally:
        store.close()


def test_seeds_are_steps_that_the_prompt_shows_and_that_are_no_answers(pairs, tmp_path):
    model = Answers()
    done = start(pairs, tmp_path / "s", model, seed_hypotheses=2)
    steps, _, cause = steps_of(tmp_path / "s", done.session)
    paths = [answer.path for step in steps for answer in step.answers]
    assert paths[0] == "seed/0" and paths[-1].startswith(f"step/{len(paths)}/propose/")
    seeds = [step for step in steps if step.answers[0].path.startswith("seed/")]
    assert 1 <= len(seeds) <= 2 and all(one.fields["seeder"] == "search" for one in seeds)
    assert not any(one.bad for step in seeds for one in step.answers[0].judged)
    assert str(seeds[0].answers[0].judged[0].verdict) == "accepted"
    assert model.prompts[0][-1]["content"].count(HEADING) == len(seeds)
    assert cause == "exhausted"
    assert peirce.replay(done.session, store=str(tmp_path / "s")).differences == []


def test_a_session_that_fails_after_its_seeds_goes_on_to_the_same_record(pairs, tmp_path):
    whole = start(pairs, tmp_path / "a", Answers(), seed_hypotheses=2)
    broken = start(pairs, tmp_path / "b", Answers(failures=1), seed_hypotheses=2)
    assert broken.status == "failed"
    again = Answers()
    store = str(tmp_path / "b")
    gone_on = peirce.resume(broken.session, model=again, retry_failed=True, store=store)
    assert gone_on.status == "done"
    first, digest, _ = steps_of(tmp_path / "a", whole.session)
    second, other, _ = steps_of(tmp_path / "b", broken.session)
    texts = [[[a.path, a.text] for a in one.answers] for one in first]
    assert texts == [[[a.path, a.text] for a in one.answers] for one in second]
    assert digest == other


def test_a_chat_shows_seeds_in_its_first_turn(pairs, tmp_path):
    model = Answers()
    start(pairs, tmp_path / "s", model, seed_hypotheses=1, history="chat")
    (turn,) = model.prompts[0]
    assert turn["role"] == "user" and HEADING in turn["content"]
    assert [one["role"] for one in model.prompts[1]] == ["user", "assistant", "user"]


def test_refine_ends_at_a_seed_that_reaches_the_target(pairs, tmp_path):
    model = Answers()
    done = start(pairs, tmp_path / "s", model, method="refine", seed_hypotheses=3)
    steps, _, cause = steps_of(tmp_path / "s", done.session)
    assert (len(steps), cause, model.prompts) == (1, "target", [])


def test_a_session_without_seeds_does_not_record_the_setting(pairs, tmp_path):
    done = start(pairs, tmp_path / "s", Answers())
    store = Store.open(tmp_path / "s", write=False)
    try:
        assert "seed_hypotheses" not in store.settings(done.session)
    finally:
        store.close()


def test_the_search_cannot_seed_itself(pairs, tmp_path):
    with pytest.raises(UsageError, match="which is the search itself"):
        start(pairs, tmp_path / "s", "search", seed_hypotheses=1)

"""A session of drawn problems: recorded, counted alike by a dry run, resumed and replayed."""

from __future__ import annotations

import json

import peirce

TAIL = repr(("all but the first", "def f(x):\n    return x[1:]"))


def many(setting) -> str:
    path = setting.folder / "many.jsonl"
    pairs = [{"problem": f"p{k}", "input": [k, 1], "output": [1]} for k in range(9)]
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    return str(path)


def test_a_session_records_the_draw_and_every_verb_agrees_on_it(setting):
    options = {
        "data": many(setting),
        "space": setting.space,
        "sample": 4,
        "seed": 5,
        "model": setting.answers(**{f"p{k}": [TAIL] for k in range(9)}),
    }
    session = setting.run(**options)
    trace = peirce.load(session.session, store=setting.store)
    drawn = [problem.id for problem in trace.problems]
    assert len(drawn) == 4 and drawn == sorted(drawn) != ["p0", "p1", "p2", "p3"]
    (listed,) = peirce.sessions(store=setting.store)
    assert listed["settings"]["operational"]["sample"] == 4
    chosen = {"data": options["data"], "sample": 4, "seed": 5}
    assert [row["id"] for row in peirce.tasks_show("examples", **chosen)] == drawn
    assert peirce.plan("examples", **{**options, "workers": 1})["problems"] == 4
    assert peirce.resume(session.session, store=setting.store).digest == session.digest
    assert peirce.replay(session.session, store=setting.store)["differences"] == []
    assert setting.run(**options).digest == session.digest
    (setting.folder / "mine.jsonl").write_text(
        "".join(json.dumps({"problem": f"p{k}", "answer": TAIL}) + "\n" for k in range(9))
    )
    answers = setting.folder / "mine.jsonl"
    told = list(peirce.check("examples", answers, **chosen, space=setting.space, workers=1))
    assert [row["problem"] for row in told if row["verdict"] != "error"] == drawn

"""A session on a small data set whose truths are known, and a scripted rater of it."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import peirce
from peirce.agents.scripted import FunctionProposer

TRUE = ["If math is A, the label is in.", "If papers is at least 3, the label is in."]
BANK = ["If math is one of A, B, the label is in.", "If math is not A, the label is out.",
        "If nothing is said, the label is out of the ordinary."]  # fmt: skip
FINDINGS = ["Grades foretell success."]


def write(folder: Path, truths: Sequence[str] = (), findings: Sequence[str] = ()) -> Path:
    place = folder / "school"
    place.mkdir(parents=True)
    for split, size in (("train", 60), ("val", 30), ("test", 30)):
        rows = [("ABCDF"[n % 5], n // 5 % 5) for n in range(size)]
        told = {"math": [m for m, _ in rows], "papers": [p for _, p in rows]}
        label = ["in" if m == "A" or p > 2 else "out" for m, p in rows]
        (place / f"{split}.json").write_text(json.dumps(told | {"label": label}))
    (place / "config.yaml").write_text(
        "task_name: school\n"
        + "".join(f"{s}_data_path: ./{s}.json\n" for s in ("train", "val", "test"))
    )
    known = {"ground_truth_hypotheses": list(truths), "known_hypotheses": list(findings)}
    (place / "metadata.json").write_text(json.dumps({"task_description": "School.", **known}))
    return place


def session_on(data: Path, store: Path) -> Any:
    said = "\n".join(f"{n}. {one}" for n, one in enumerate(BANK, 1))
    return peirce.run(
        "labels", data=data, method="zero-shot-gen", model=FunctionProposer(lambda _: said, said),
        judge="exact", store=store, hypotheses=3,
    )  # fmt: skip


@functools.cache
def _first_session(truths: tuple[str, ...], findings: tuple[str, ...]) -> tuple[Any, bytes]:
    """A session on this data set, and the bytes of its store."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "s.duckdb"
        session = session_on(write(Path(folder), truths, findings), store)
        return session, store.read_bytes()


def stored_session(
    store: Path, truths: Sequence[str] = (), findings: Sequence[str] = ()
) -> tuple[str, Path]:
    """A session and `store`, a copy of the one that it was run in when first asked for."""
    session, content = _first_session(tuple(truths), tuple(findings))
    store.write_bytes(content)
    return session.session, store


class Rater:
    """The first two of the bank match the first truth alone, with .5 and .75."""

    def __init__(self, **said: str) -> None:
        self.said = said
        self.asked: list[str] = []

    def __call__(self, messages: Sequence[Any]) -> str:
        text = str(messages[0]["content"])
        self.asked.append(text)
        for part, answer in self.said.items():
            if part.replace("_", " ") in text:
                return answer
        of_math = "math is" in text.split("B:")[-1]
        if "Two hypotheses" in text:
            return "Yes." if TRUE[0] in text and of_math else "no"
        if "this input variable" in text:
            return "yes" if "Variable: math" in text and BANK[2] not in text else "No"
        if "How much" in text:
            return "Score: 0.5" if BANK[0] in text else "0.75"
        return "Score: 4\nReasoning: so it is"


def rated(session: str, store: Path, rater: Rater, **options: Any) -> list[dict[str, Any]]:
    return list(
        peirce.rate(session, store=store, scorer_model=FunctionProposer(rater, "rater"), **options)
    )

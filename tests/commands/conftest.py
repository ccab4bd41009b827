"""`setting`: two small problems, their sample space and a scripted model, as files of a user. What reads
a finished session takes `setting.finished()`, a copy of one that is run once."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import peirce
import pytest

for room in ("training", "agents", "commands"):  # tests import what lies beside them and there
    sys.path.insert(0, str(Path(__file__).parents[1] / room))

TAIL = repr(("all but the first", "def f(x):\n    return x[1:]"))
TAIL_AGAIN = repr(("drop the head", "def f(x):\n    return list(x)[1:]"))
HEAD = repr(("the first alone", "def f(x):\n    return x[:1]"))
PROSE = "I think that it drops the first element."
SPACE = [[], [1], [2], [1, 2], [2, 1], [3, 1, 2], [4, 4], [5, 6, 7, 8]]


@dataclass(frozen=True)
class Setting:
    folder: Path
    data: str
    space: str
    model: str
    store: str
    first: Callable[..., tuple[Any, Path]]

    def finished(self, **options: Any) -> Any:
        """The session that `run(**options)` comes to, in a copy of a store."""
        session, store = self.first(**options)
        shutil.copyfile(store, self.store)
        return dataclasses.replace(session, store=self.store)

    def run(self, **options: Any) -> Any:
        given = {
            "data": self.data, "space": self.space, "model": self.model, "store": self.store,
            "workers": 1, **options,
        }  # fmt: skip
        return peirce.run("examples", **given)

    def answers(self, **by_problem: list[str]) -> str:
        """A scripted model, as a file."""
        path = self.folder / f"script{len(list(self.folder.iterdir()))}.json"
        path.write_text(json.dumps(by_problem))
        return f"scripted:{path}"


def write_pairs(path: Path) -> Path:
    pairs = [
        {"problem": name, "input": given, "output": given[1:], "split": split}
        for name in ("one", "two")
        for given, split in (([3, 1, 2], "shown"), ([5, 6], "shown"), ([9, 9, 9], "hidden"))
    ]
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    return path


def setting_in(folder: Path, first: Callable[..., tuple[Any, Path]]) -> Setting:
    data = write_pairs(folder / "pairs.jsonl")
    space = folder / "space.jsonl"
    space.write_text("".join(json.dumps(one) + "\n" for one in SPACE))
    script = folder / "script.json"
    script.write_text(json.dumps({"one": [TAIL, TAIL_AGAIN, HEAD, PROSE], "two": [TAIL]}))
    store = folder / "store.duckdb"
    return Setting(folder, str(data), str(space), f"scripted:{script}", str(store), first)


@pytest.fixture(scope="session")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Any, Path]]:
    """first_run(**options) -> what `setting.run(**options)` gives, and its store; it is run when first
    asked for."""

    @cache
    def run(**options: Any) -> tuple[Any, Path]:
        setting = setting_in(tmp_path_factory.mktemp("first"), run)
        return setting.run(**options), Path(setting.store)

    return run


@pytest.fixture(scope="session")
def new_setting(first_run: Callable[..., tuple[Any, Path]]) -> Callable[[Path], Setting]:
    """new_setting(folder) -> its files, in a folder that lasts longer than a test."""
    return partial(setting_in, first=first_run)


@pytest.fixture
def setting(tmp_path: Path, first_run: Callable[..., tuple[Any, Path]]) -> Setting:
    return setting_in(tmp_path, first_run)


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., tuple[str, Path]]:
    """made(truths=…, findings=…) -> a session on a small labelled data set, and its store."""
    from rated_session import stored_session

    return partial(stored_session, tmp_path / "s.duckdb")

"""Commands on a store whose recorded settings lack keys or hold other types: one sentence each."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from peirce import cli
from scripted_run import RUN, put_files

Peirce = Callable[..., tuple[int, str, str]]
COMMANDS = {
    "sessions": ["sessions"],
    "replay": ["replay"],
    "resume": ["resume"],
    "export": ["export", "--format", "huggingface", "--out", "exported"],
    "report": ["report", "--out", "page.html"],
    "pairs": ["pairs"],
    "bank": ["bank"],
    "show": ["show", "last", "one"],
    "eval": ["eval"],
}
STORE = Path("peirce.duckdb")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of a finished session, and its settings."""
    place = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        put_files()
        with pytest.raises(SystemExit):
            cli.main([*RUN, "--quiet"])
    with duckdb.connect(str(place / STORE)) as raw:
        ((settings,),) = raw.execute("SELECT settings FROM session").fetchall()
    return place, json.loads(settings)


@pytest.fixture
def folder(folder: Path, recorded: tuple[Path, dict[str, Any]]) -> Path:
    shutil.copytree(recorded[0], folder, dirs_exist_ok=True)
    return folder


def alter(settings: Any) -> None:
    with duckdb.connect(str(STORE)) as raw:
        raw.execute("UPDATE session SET settings = ?", (json.dumps(settings),))


NOTHING = object()
ALTERATIONS: dict[str, tuple[str, Any]] = {
    "no operational": ("operational", NOTHING),
    "an empty operational": ("operational", {}),
    "operational is null": ("operational", None),
    "operational is a number": ("operational", 5),
    "no seed": ("seed", NOTHING),
    "no task": ("task", NOTHING),
    "no method": ("method", NOTHING),
    "no family": ("family", NOTHING),
    "no max_answers": ("max_answers", NOTHING),
    "no answer_format": ("answer_format", NOTHING),
    "answer_format is a number": ("answer_format", 5),
    "answer_format is unknown": ("answer_format", "x"),
    "config is a number": ("operational.config", 5),
    "data is a number": ("operational.data", 5),
    "layers is a number": ("operational.layers", 5),
    "model_options is a number": ("operational.model_options", 5),
    "players is a number": ("operational.players", 5),
}


def altered(settings: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    key, _, inner = place.partition(".")
    if inner:
        value = altered(settings[key], inner, value)
    return {name: one for name, one in {**settings, key: value}.items() if one is not NOTHING}


def ended_in_a_sentence(result: tuple[int, str, str]) -> bool:
    code, _, err = result
    return code == 0 or not err or err.strip().splitlines()[-1].startswith("peirce: ")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_on_settings_without_any_key_ends_in_one_sentence(
    peirce: Peirce, command: str
) -> None:
    alter({})
    result = peirce(*COMMANDS[command])
    assert ended_in_a_sentence(result), result


@pytest.mark.parametrize(
    "command",
    [
        "resume",
        *(pytest.param(one, marks=pytest.mark.soak) for one in ("replay", "pairs", "report")),
    ],
)
def test_damaged_settings_end_in_one_sentence(
    peirce: Peirce, recorded: tuple[Path, dict[str, Any]], command: str
) -> None:
    for name, (place, value) in ALTERATIONS.items():
        alter(altered(recorded[1], place, value))
        Path("page.html").unlink(missing_ok=True)
        try:
            result = peirce(*COMMANDS[command])
        except Exception as error:  # it would end in a traceback
            pytest.fail(f"{name}: {error!r}")
        assert ended_in_a_sentence(result), (name, result)


def test_a_missing_key_is_named(peirce: Peirce, recorded: tuple[Path, dict[str, Any]]) -> None:
    alter(altered(recorded[1], "operational", NOTHING))
    assert peirce("resume")[2] == (
        "peirce: the store is damaged: session.settings has no key 'operational'\n"
    )

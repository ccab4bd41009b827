"""What the recordings say must stay: their digests, what the reading verbs say of them, that they
replay and can be resumed, and that the same sessions run again come to the same findings. And that
the findings digest sees every finding and no setting. README.md says what each recording covers."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.records import UsageError
from peirce.store import Store

sys.path.insert(0, str(Path(__file__).parent))
from peirce.tests.cli.forked_command import run_command
from pinning import (
    PINNED,
    RECORDINGS,
    compressed,
    digests_of,
    pin_list,
    pin_session,
    pin_trainings,
    unpack,
)
from recorded_material import write_material
from recorded_sessions import (
    COMMAND,
    ENVIRONMENT,
    SESSIONS,
    STORES,
    run_store,
    spending_model,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ALL_PINS: dict[str, Any] = json.loads(PINNED.read_text())
PINS = {store: ALL_PINS[store]["sessions"] for store in RECORDINGS if store != "trainings"}
PINNED_SESSIONS = [(store, name) for store in PINS for name in PINS[store]]
PAIRED = ("lists_search", "lists_tools", "lists_imported")  # of the last pair set
MOST_BYTES = 2_000_000
SINCE = ("lenient",)  # settings that sessions record since the recordings were made
ABSOLUTE = re.compile(r"/(?:work|root|home|usr|opt|var|etc|tmp)\b/?[\w.-]*")


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every recording, to be read and not to be written."""
    folder = tmp_path_factory.mktemp("recordings")
    return {name: unpack(name, folder) for name in RECORDINGS}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the files that the sessions name."""
    write_material(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_boosting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pins leave out the baselines of labelled text; the one of `interpret` takes longer to train than
    all else."""
    monkeypatch.setitem(sys.modules, "interpret", None)  # as if it were not installed


@pytest.mark.parametrize(("store", "name"), PINNED_SESSIONS)
@pytest.mark.usefixtures("no_boosting")
def test_digests_and_what_the_verbs_say_are_as_pinned(
    stores: dict[str, str], store: str, name: str
) -> None:
    pinned = PINS[store][name]
    assert pin_session(stores[store], pinned["session"]) == pinned


@pytest.mark.parametrize("store", PINS)
def test_the_list_of_sessions_is_as_pinned(stores: dict[str, str], store: str) -> None:
    assert pin_list(stores[store]) == ALL_PINS[store]["list"]


@pytest.mark.parametrize(("store", "name"), PINNED_SESSIONS)
def test_a_recording_replays_without_a_difference(
    stores: dict[str, str], store: str, name: str
) -> None:
    replayed = peirce.replay(PINS[store][name]["session"], store=stores[store])
    assert replayed["differences"] == []


def test_pair_sets_and_trainings_are_as_pinned(stores: dict[str, str]) -> None:
    assert pin_trainings(stores["trainings"]) == ALL_PINS["trainings"]


def test_recorded_sessions_still_give_the_recorded_pairs(place: Path) -> None:
    store = unpack("programs", place)
    named = [PINS["programs"][one]["session"] for one in PAIRED]
    made = peirce.pairs(*named, fixed="splits.json", template="compact", store=store)
    assert made["digest"] == ALL_PINS["trainings"]["pair_sets"][-1]


def test_every_described_session_is_recorded() -> None:
    described = {(one.store, one.name) for one in SESSIONS}
    assert described == {(store, name) for store in STORES for name in PINS[store]}


def test_all_families_methods_and_answer_formats_are_recorded(stores: dict[str, str]) -> None:
    seen: dict[str, set[str]] = {"family": set(), "method": set(), "answer_format": set()}
    for store in STORES:
        for row in peirce.sessions(store=stores[store]):
            for key, values in seen.items():
                values.add(row["settings"][key])
    assert seen["family"] == {"programs", "logic", "text"}
    assert seen["method"] >= {
        "abduce", "direct", "hypogenic", "hyporefine", "imported", "infer", "io", "literature",
        "refine", "t3", "union", "zero-shot-gen",
    }  # fmt: skip
    assert seen["answer_format"] >= {"tuple", "json", "fenced_function", "list"}


def test_recordings_are_small_and_hold_no_path_of_a_machine(stores: dict[str, str]) -> None:
    files = list(compressed("killed").parent.iterdir())
    assert sum(file.stat().st_size for file in files) < MOST_BYTES
    for path in stores.values():
        with Store.open(path, write=False) as store:
            tables = [name for (name,) in store.query("SELECT table_name FROM duckdb_tables()")]
            for table in tables:
                held = str(store.query(f"SELECT * FROM {table}"))
                assert set(ABSOLUTE.findall(held)) <= {"/tmp/peirce-recordings"}, table


# --- going on ---------------------------------------------------------------------------------


def test_the_killed_session_resumes_to_the_findings_of_the_whole_one(place: Path) -> None:
    store = unpack("killed", place)
    before = digests_of(store, PINS["killed"]["lists_killed"]["session"])
    session = peirce.resume(store=store)
    after = digests_of(store, session.session)
    whole = PINS["programs"]["lists_whole"]
    assert session.status == "done" and before["findings"] != after["findings"]
    assert after["findings"] == whole["findings"]
    assert after == {key: PINS["resumed"]["lists_resumed"][key] for key in after}
    assert peirce.replay(session.session, store=store)["differences"] == []


def test_a_session_whose_budget_was_spent_goes_on_with_a_larger_one(place: Path) -> None:
    store, pinned = unpack("programs", place), PINS["programs"]["lists_budget"]
    assert peirce.load(pinned["session"], store=store).settings["operational"]["spending"]
    session = peirce.resume(
        pinned["session"], model=spending_model(), budget_tokens=10_000, store=store
    )
    assert (session.status, session.ends) == ("done", {"exhausted": 2})
    assert session.usage["cost_usd"] > 0


RESUMED = ("lists_search", "lists_tools", "own_task", "lists_imported", "abd_repair", "abd_tools",
           "text_hyporefine", "text_zero_shot", "text_search")  # fmt: skip


@pytest.mark.parametrize("store", STORES)
def test_a_recorded_session_opens_again_with_the_settings_that_it_recorded(
    place: Path, store: str
) -> None:
    """One that is done has nothing left to do; model, roles and repairer must be those it names."""
    path = unpack(store, place)
    for name in set(RESUMED) & PINS[store].keys():
        pinned = PINS[store][name]
        session = peirce.resume(pinned["session"], store=path, workers=1)
        assert session.status == "done"
        assert digests_of(path, session.session)["digest"] == pinned["digest"]


def test_the_command_line_the_environment_and_a_file_set_what_python_sets(place: Path) -> None:
    told = run_command(
        [*COMMAND, "--store", "cli.duckdb"],
        env={**os.environ, **ENVIRONMENT},
        cwd=place,
        check=True,
    )
    _forget_settings(place / "cli.duckdb", SINCE)
    pinned, session = PINS["programs"]["lists_whole"], json.loads(told.stdout)["session"]
    assert digests_of("cli.duckdb", session)["digest"] == pinned["digest"]


def _forget_settings(store: Path, names: Sequence[str]) -> None:
    """Remove settings from the sessions of a store."""
    import duckdb

    with duckdb.connect(str(store)) as connection:
        for session, text in connection.execute("SELECT session, settings FROM session").fetchall():
            kept = {key: one for key, one in json.loads(text).items() if key not in names}
            assert len(kept) == len(json.loads(text)) - len(names)
            changed = [json.dumps(kept), session]
            connection.execute("UPDATE session SET settings = ? WHERE session = ?", changed)


def test_another_script_is_another_model(place: Path) -> None:
    (place / "texts.json").write_text(json.dumps({"rules": [], "otherwise": "nothing"}))
    store = unpack("text", place)
    with pytest.raises(UsageError, match="was started with the model"):
        peirce.resume(PINS["text"]["text_zero_shot"]["session"], store=store)


@pytest.mark.parametrize("store", STORES)
def test_sessions_run_again_come_to_the_same_findings(place: Path, store: str) -> None:
    ids = run_store(store, "again.duckdb", workers=1)  # recorded with one a core
    found = {name: digests_of("again.duckdb", ids[name])["findings"] for name in ids}
    recorded = {name: pinned["findings"] for name, pinned in PINS[store].items()}
    assert found == recorded | ALL_PINS[store].get("findings_again", {})


# --- what the digests see -----------------------------------------------------------------------


FINDINGS = {
    "a verdict": "UPDATE verdict SET verdict = 'accepted' WHERE verdict = 'redundant'",
    "whether a verdict is bad": "UPDATE verdict SET bad = NOT bad",
    "a coverage": "UPDATE verdict SET coverage = coverage / 2 WHERE coverage > 0",
    "the kind of a reason": "UPDATE verdict SET reason = 'empty: ' || reason WHERE verdict = 'malformed'",
    "a mark": "UPDATE prediction SET marks = [NOT marks[1]] WHERE marks[1] IS NOT NULL",
    "what was predicted": "UPDATE prediction SET got = '[]' WHERE got IS NOT NULL",
    "an outcome": "UPDATE prediction SET outcome = 'memory'",
    "codes over the space": "UPDATE prediction SET codes = reasons WHERE codes IS NOT NULL",
    "the text of a hypothesis": "UPDATE hypothesis SET text = text || ' '",
    "the description of a hypothesis": "UPDATE hypothesis SET description = description || ' '",
    "a breach": """UPDATE hypothesis SET breaches = '["import"]'""",
    "a label of a row": "UPDATE step SET fields = replace(fields, 'warm', 'cold') WHERE fields LIKE '%warm%'",
    "a response": "UPDATE call SET response = '{}'",
    "the path of a call": "UPDATE call SET path = path || '/0'",
    "the kind of a call": "UPDATE call SET kind = 'tool' WHERE kind = 'model'",
    "an event of the bank": 'UPDATE bank_event SET "right" = NOT "right" WHERE "right" IS NOT NULL',
    "the time of an event": "UPDATE bank_event SET t = t + 1",
    "a problem": "UPDATE problem SET digest = space",
    "a space": "UPDATE problem SET space = digest",
    "an end": "UPDATE problem SET cause = 'cap' WHERE cause <> 'cap'",
    "a status": "UPDATE problem SET status = 'open'",
}
WORDS = {
    "a setting": "UPDATE session SET settings = replace(settings, '\"seed\":0', '\"seed\":1')",
    "the digest of a request": "UPDATE call SET request_digest = 'ab'",
    "the sentence of a reason": "UPDATE verdict SET reason = reason || ' indeed' WHERE reason LIKE '%_ of _ shown' OR reason LIKE '%: %'",
    "the text of an answer": "UPDATE answer SET text = text || ' '",
}
NEITHER = {
    "a request": "UPDATE call SET request = '{}'",
    "clocks": "UPDATE call SET seconds = 9, started = 9, retries = 9, tokens_in = 9",
    "what a session holds beside": "UPDATE session SET status = 'failed', fields = '{}', created = ''",
    "operational settings": 'UPDATE session SET settings = replace(settings, \'"solver":"fast"\', \'"solver":"z3"\')',
}


@pytest.fixture(scope="module")
def alterable(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, bool]]:
    """alterable(statement) -> which digests of a session it changes, in a copy of its store."""
    import duckdb

    folder = tmp_path_factory.mktemp("altered")
    kept = {name: Path(unpack(name, folder)) for name in ("resumed", "text")}

    def alter(statement: str) -> dict[str, bool]:
        store, name = (
            ("text", "text_direct") if "warm" in statement else ("resumed", "lists_resumed")
        )
        pinned, copy = PINS[store][name], folder / "copy.duckdb"
        copy.write_bytes(kept[store].read_bytes())
        with duckdb.connect(str(copy)) as connection:
            whose = "AND session = ?" if "WHERE" in statement else "WHERE session = ?"
            connection.execute(f"{statement} {whose}", [pinned["session"]])
            assert connection.fetchall()[0][0] > 0, "nothing was changed"
        found = digests_of(str(copy), pinned["session"])
        return {key: one != pinned[key] for key, one in found.items()}

    return alter


@pytest.mark.parametrize("what", FINDINGS)
def test_a_finding_counts_in_both_digests(alterable: Any, what: str) -> None:
    assert alterable(FINDINGS[what]) == {"findings": True, "digest": True}


@pytest.mark.parametrize("what", WORDS)
def test_settings_requests_and_sentences_count_in_the_full_digest_alone(
    alterable: Any, what: str
) -> None:
    assert alterable(WORDS[what]) == {"findings": False, "digest": True}


@pytest.mark.parametrize("what", NEITHER)
def test_how_a_session_ran_counts_in_neither(alterable: Any, what: str) -> None:
    assert alterable(NEITHER[what]) == {"findings": False, "digest": False}


def test_the_sentence_of_an_outage_is_no_finding(place: Path) -> None:
    import duckdb

    store, pinned = unpack("programs", place), PINS["programs"]["lists_failed"]
    with duckdb.connect(store) as connection:
        connection.execute("UPDATE problem SET cause = 'other words' WHERE status = 'failed'")
    found = digests_of(store, pinned["session"])
    assert found["findings"] == pinned["findings"] and found["digest"] != pinned["digest"]


def test_a_store_opened_for_writing_says_the_same(place: Path) -> None:
    store, pinned = unpack("logic", place), PINS["logic"]["abd_tools"]
    with Store.open(store, write=True) as opened:
        assert opened.findings_digest(pinned["session"]) == pinned["findings"]

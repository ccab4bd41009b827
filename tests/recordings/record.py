"""Make the recordings: `python tests/recordings/record.py`.

It writes stores and pins that are not there and never replaces one: whoever wants another recording
removes the old one first, and says why in the commit. It works in `WORK`, since trainings record the
folders that they use; sessions have relative paths only.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import peirce

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "agents"))
from peirce.records import StoreError
from peirce.store import Store
from pinning import PINNED, RECORDINGS, compress, compressed, pin_store, pin_trainings, unpack
from recorded_material import TAIL, pair, write_material
from recorded_sessions import COMMAND, ENVIRONMENT, LISTS, SESSIONS, STORES, TEXTS, run_store
from tiny_model import make_model

WORK = Path("/tmp/peirce-recordings")
TRAINED = {
    "batch": 2, "device_batch": 2, "probe_pairs": 2, "learning_rate": 1e-3, "full": True,
    "precompute": False, "max_length": 1024, "device": "cpu", "sample_answers": 0,
}  # fmt: skip


def record_store(name: str) -> None:
    path = WORK / f"{name}.duckdb"
    ids = run_store(name, path.name)
    compress(path, name)
    add_pins({name: pin_store(path.name, ids)})


def record_models() -> None:
    """Sessions of models that are not in this process, or not scripts: a chat endpoint over HTTP with
    every setting of a request, another one as judge, and a tiny local model."""
    from chat_server import ChatServer, completion

    path = WORK / "models.duckdb"
    answer = {"content": pair("All but the first.", TAIL)}
    judged = {"content": "So.\nFinal answer: warm"}
    with ChatServer([lambda request: completion(answer)]) as server:
        over_http = peirce.run(
            **LISTS, model=f"{server.url}#proposer", temperature=0.7, top_p=0.9, max_tokens=300,
            reasoning_effort="low", timeout_s=20.0, retries=1, model_arg={"presence_penalty": 0.5},
            price_in=1.0, price_out=2.0, price_cached=0.5, tool_calls=0, max_answers=2,
            store=path.name,
        )  # fmt: skip
    with ChatServer([lambda request: completion(judged)]) as server:
        judge = {"model": f"{server.url}#judge", "temperature": 0, "max_tokens": 50}
        judged_over_http = peirce.run(
            **TEXTS, method="zero-shot-gen", hypotheses=3, roles={"judge": judge}, split=["ind"],
            store=path.name,
        )  # fmt: skip
    make_model(WORK / "tiny", initializer_range=0.02)
    local = peirce.run(
        **LISTS, model="hf:tiny", problems=1, max_tokens=12, temperature=0.8, max_answers=2,
        tool_calls=0, model_arg={"device": "cpu", "batch": 2, "top_k": 20}, store=path.name,
    )  # fmt: skip
    compress(path, "models")
    named = {"lists_http": over_http, "text_http_judge": judged_over_http, "lists_local": local}
    ids = {name: one.session for name, one in named.items()}
    add_pins({"models": pin_store(path.name, ids)})


def record_killed() -> None:
    """Kill `peirce run` in the middle (SIGKILL), keep the store as the kill left it, resume a copy
    and keep that too."""
    killed, resumed = WORK / "killed.duckdb", WORK / "resumed.duckdb"
    while not killed_midway(killed):
        for place in (killed, Path(f"{killed}.wal")):
            place.unlink(missing_ok=True)
    compress(killed, "killed")
    for end in ("", ".wal"):
        if Path(f"{killed}{end}").exists():
            shutil.copyfile(f"{killed}{end}", f"{resumed}{end}")
    session = peirce.resume(store=resumed.name)
    compress(resumed, "resumed")
    add_pins(
        {
            "killed": pin_store(killed.name, {"lists_killed": session.session}),
            "resumed": pin_store(resumed.name, {"lists_resumed": session.session}),
        }
    )


def killed_midway(store: Path) -> bool:
    """Whether the kill met the session with steps behind it and steps to come."""
    command = [sys.executable, "-m", "peirce", *COMMAND, "--store", store.name]
    with subprocess.Popen(command, cwd=WORK, env={**os.environ, **ENVIRONMENT}) as process:
        while process.poll() is None and steps_in(store) < 3:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    return process.returncode == -signal.SIGKILL and 3 <= steps_in(store) <= 5


def steps_in(store: Path) -> int:
    if not store.exists():
        return 0
    try:
        with Store.open(store, write=False) as opened:
            return int(opened.query("SELECT count(*) FROM step")[0][0])
    except StoreError:  # it is being made
        return 0


def record_trainings() -> None:
    """Two sets of pairs from the programs, and two trainings of a tiny model on one of them."""
    path = WORK / "trainings.duckdb"
    unpack("programs", WORK)
    (WORK / "programs.duckdb").replace(path)
    pins = json.loads(PINNED.read_text())["programs"]["sessions"]
    lists = [pins[name]["session"] for name in ("lists_search", "lists_tools", "lists_imported")]
    examples = [pins[name]["session"] for name in ("pairs_json_chat", "pairs_fenced_compact")]
    peirce.pairs(
        *examples, fractions=(1, 0, 0), template="full", limit=2, contexts=(1, 2, 0), seed=1,
        store=path.name,
    )  # fmt: skip
    peirce.pairs(*lists, fixed="splits.json", template="compact", store=path.name)
    make_model(WORK / "tiny", initializer_range=0.02)
    for out, settings in (
        ("momentum", {"schedule": "momentum", "examples": 12, "period": 4}),
        ("fixed", {"schedule": "fixed", "examples": 8, "period": 4, "seed": 5}),
    ):
        peirce.train("tiny", out=out, store=path.name, **TRAINED, **settings)
    keep_trainings_alone(path)
    compress(path, "trainings")
    add_pins({"trainings": pin_trainings(path.name)})


def keep_trainings_alone(path: Path) -> None:
    """Take the sessions out: another recording has them."""
    import duckdb

    tables = ("session", "input_set", "problem", "call", "step", "answer", "hypothesis", "verdict",
              "prediction", "vector", "bank_event")  # fmt: skip
    with duckdb.connect(str(path)) as connection:
        for table in tables:
            connection.execute(f"DELETE FROM {table}")
        connection.execute("CHECKPOINT")


def add_pins(new: dict[str, Any]) -> None:
    """Add pins of what had none."""
    pinned = json.loads(PINNED.read_text()) if PINNED.exists() else {}
    if there := sorted(pinned.keys() & new.keys()):
        raise SystemExit(f"{PINNED} has pins of {', '.join(there)}: they are never replaced here")
    PINNED.write_text(json.dumps(pinned | new, indent=1, sort_keys=True) + "\n")


def main() -> None:
    missing = [name for name in RECORDINGS if not compressed(name).exists()]
    if not missing:
        print("every recording is there")
        return
    compressed("killed").parent.mkdir(exist_ok=True)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    os.chdir(WORK)
    write_material(WORK)
    for name in STORES:
        if name in missing:
            record_store(name)
    if "models" in missing:
        record_models()
    if "killed" in missing:
        record_killed()
    if "trainings" in missing:
        record_trainings()
    print(f"recorded {', '.join(missing)}; {len(SESSIONS)} sessions are described")


if __name__ == "__main__":
    main()

"""A key that is planted in the environment, and that the endpoint repeats wherever it can, stands
afterwards in nothing that Peirce said or wrote: stdout, stderr, the store's bytes, exports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import duckdb
import pytest
from peirce import cli

KEY = "planted-key-8c1f2a77d0e94b35"
SOURCE = "def f(x):\n    return x[1:]"
Said = tuple[int, dict[str, str], Any]  # status, headers, body


def error(status: int, **more: Any) -> Said:
    """An error that repeats the key in its body and in every header a client may read."""
    told = {"message": f"the key {KEY} is bad", "type": KEY, "code": KEY, "param": KEY, **more}
    headers = {"WWW-Authenticate": f"Bearer {KEY}", "x-request-id": KEY, "Retry-After": KEY}
    return status, headers, {"error": told, "detail": KEY}


def answer(**message: Any) -> Said:
    """An answer with the key in its text, its reasoning, its id and beside its choices."""
    whole = {"role": "assistant", "content": None, "reasoning_content": KEY, "refusal": None}
    choice = {"index": 0, "message": {**whole, **message}, "finish_reason": "stop", "note": KEY}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "note": KEY}
    body = {"id": KEY, "object": "chat.completion", "created": 1, "model": KEY,
            "system_fingerprint": KEY, "choices": [choice], "usage": usage}  # fmt: skip
    return 200, {"x-request-id": KEY}, body


def text_with_key(number: int) -> Said:
    return answer(content=repr((f"the tail, says {KEY}", f"{SOURCE}  # {KEY} {number}")))


def prose_with_key(number: int) -> Said:
    return answer(content=f"<think>{KEY}</think> My key is {KEY}.")


def tool_with_key(number: int) -> Said:
    if number % 2:
        return text_with_key(number)
    function = {"name": f"execute_{KEY}", "arguments": json.dumps({"code": KEY, KEY: [KEY]})}
    return answer(tool_calls=[{"id": KEY, "type": "function", "function": function}])


def wrong_arguments(number: int) -> Said:
    function = {"name": "execute", "arguments": f'{{"code": "{KEY}'}
    return answer(tool_calls=[{"id": KEY, "type": "function", "function": function}])


LEFT, RIGHT = KEY[:11], KEY[11:]


def program(body: str) -> Callable[[int], Said]:
    """An answer whose program ends so; the key stands in no string of it."""
    source = f"def f(x):\n    left, right = '{LEFT}', '{RIGHT}'\n    {body}"
    return lambda number: answer(content=repr((f"joins two words, {number}", source)))


def tool_that_joins(number: int) -> Said:
    if number % 2:
        return program("return [x[1:], left + right]")(number)
    code = f"def f(x):\n    return ['{LEFT}' + '{RIGHT}']"
    function = {"name": "execute", "arguments": json.dumps({"code": code})}
    return answer(tool_calls=[{"id": "a", "type": "function", "function": function}])


def escaped(description: str, code: str) -> Callable[[int], Said]:
    """An answer in JSON that holds the key (here KEY) once its escapes are read."""
    written = json.dumps({"description": description, "code": code})
    key = f"{LEFT}\\u00{ord(RIGHT[0]):x}{RIGHT[1:]}"
    return lambda number: answer(content=written.replace("KEY", key))


def redirect(number: int) -> Said:
    return 307, {"Location": f"http://{KEY}:{KEY}@127.0.0.1:9/{KEY}?k={KEY}"}, {}


BEHAVIOURS: dict[str, Callable[[int], Said]] = {
    "text": text_with_key,
    "prose": prose_with_key,
    "tool": tool_with_key,
    "arguments": wrong_arguments,
    "redirect": redirect,
    "joined value": program("return left + right"),
    "joined value within others": program("return {'a': [1, (left + right, x)]}"),
    "joined key of a value": program("return {left + right: left}"),
    "joined message": program("raise ValueError(left + right)"),
    "joined by a tool": tool_that_joins,
    "escaped description": escaped("KEY", SOURCE),
    "escaped program": escaped("the tail", f"{SOURCE}  # KEY"),
    "escaped in Python": lambda number: answer(
        content=f"('{LEFT}\\x{ord(RIGHT[0]):x}{RIGHT[1:]}', {SOURCE!r})"
    ),
    "joined literals": lambda number: answer(content=f"('{LEFT}' '{RIGHT}', {SOURCE!r})"),
    "no_json": lambda number: (200, {}, KEY.encode()),
    "no_choices": lambda number: (200, {}, {"choices": [], "note": KEY}),
    "error_200": lambda number: (200, {}, error(200)[2]),
    "spent": lambda number: error(429, code="insufficient_quota"),
    "nested": lambda number: (400, {}, {"error": {"message": {"detail": f"key {KEY}" * 99}}}),
    **{str(s): partial(lambda s, _: error(s), s) for s in (400, 401, 403, 404, 422, 429, 500)},
}


@contextmanager
def endpoint(behaviour: Callable[[int], Said]) -> Iterator[tuple[str, list[str]]]:
    """Its URL, and the Authorization headers that it was sent."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            seen.append(self.headers.get("Authorization", ""))
            status, headers, body = behaviour(len(seen) - 1)
            written = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status, f"No {KEY}" if status >= 300 else None)
            for name, value in {**headers, "Content-Length": str(len(written))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(written)

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1#NAME", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


ENVIRONMENT = {
    "PEIRCE_API_KEY": KEY, "OPENAI_API_KEY": KEY, "LAB_TOKEN": KEY, "PEIRCE_RETRIES": "1",
    "PEIRCE_PROPOSER_BACKOFF_S": "0", "OPENAI_BASE_URL": f"http://{KEY}@127.0.0.1:9/v1?key={KEY}",
}  # fmt: skip
RUN = [
    "run", "examples", "--data", "pairs.jsonl", "--space", "space.jsonl", "--workers", "1",
    "--max-answers", "2", "--model",
]  # fmt: skip


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("PEIRCE_")]:
        monkeypatch.delenv(name)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    pair = {"problem": "one", "input": [3, 1], "output": [1]}
    Path("pairs.jsonl").write_text(json.dumps(pair) + "\n")
    Path("space.jsonl").write_text("[]\n[1]\n[1, 2]\n")
    return tmp_path


@pytest.fixture
def peirce(user, capfd):
    """peirce(*arguments) -> (exit code, stdout, stderr); the key is in neither."""

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(list(arguments))
        said = capfd.readouterr()
        assert KEY not in said.out + said.err, arguments
        return ended.value.code, said.out, said.err

    return call


def assert_in_no_file(folder: Path) -> None:
    """Neither in a file's bytes, nor in the cells of what DuckDB and Parquet compress."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        assert KEY.encode() not in path.read_bytes() and KEY not in path.name, path
        if path.suffix == ".parquet":
            cells = duckdb.sql(f"SELECT * FROM read_parquet('{path}')").fetchall()
            assert KEY not in str(cells), path
    with duckdb.connect(str(folder / "peirce.duckdb"), read_only=True) as store:
        for (table,) in store.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            assert KEY not in str(store.execute(f'FROM "{table}"').fetchall()), table


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_key_that_an_endpoint_repeats_stands_nowhere(peirce, user, name):
    with endpoint(BEHAVIOURS[name]) as (model, seen):
        code, _, err = peirce(*RUN, model)
    assert seen and all(one == f"Bearer {KEY}" for one in seen)
    assert code in (0, 1), err
    peirce("show", "last", "one")
    peirce("export", "--out", "out", "--format", "jsonl")
    assert Path("peirce.duckdb").exists() and Path("out").read_text().count("\n") > 2
    assert_in_no_file(user)


@pytest.mark.parametrize("name", ["joined value", "joined by a tool"])
def test_a_value_that_holds_the_key_is_masked_and_the_session_replays(peirce, user, name):
    with endpoint(BEHAVIOURS[name]) as (model, _):
        code, _, err = peirce(*RUN, model)
    assert code == 0, err
    assert peirce("replay")[0] == 0
    with duckdb.connect("peirce.duckdb", read_only=True) as store:
        got = store.execute("SELECT got FROM prediction WHERE inputs = 'shown'").fetchall()
    assert any("***" in cell for (cell,) in got)
    assert_in_no_file(user)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("escaped in Python", "tuple"),
        ("joined literals", "tuple"),
        ("escaped description", "json"),
        ("escaped program", "json"),
    ],
)
def test_an_answer_that_comes_to_the_key_fails_its_problem_alone(peirce, user, name, form):
    with Path("pairs.jsonl").open("a") as file:
        file.write(json.dumps({"problem": "two", "input": [3, 1], "output": [1]}) + "\n")
    good = answer(
        content=repr(("tail", SOURCE))
        if form == "tuple"
        else json.dumps({"description": "tail", "code": SOURCE})
    )
    with endpoint(lambda number: good if number else BEHAVIOURS[name](0)) as (model, _):
        code, out, err = peirce(*RUN, model, "--concurrency", "1", "--answer-format", form)
    assert code == 0 and "holds the key in PEIRCE_API_KEY" in err and "1 accepted" in err, out + err
    assert_in_no_file(user)


def test_no_verb_tells_it(peirce, user):
    with endpoint(text_with_key) as (model, _):
        told = json.loads(peirce(*RUN, model, "--json")[1])
    assert told["verdicts"]["accepted"] == 1
    for words in (
        ["doctor"], ["doctor", "--json"], ["sessions", "--json"], ["show", "--json"],
        ["show", "last", "one", "--json"], ["bank", "--json"], ["eval", "--out", "tables"],
        ["replay"], ["export", "--out", "a", "--format", "parquet"],
        ["export", "--out", "b", "--format", "huggingface"],
    ):  # fmt: skip
        code, _, err = peirce(*words)
        assert code == 0, (words, err)
    assert "***" in peirce("show", "last", "one", "--json")[1]
    assert_in_no_file(user)


@pytest.mark.parametrize("name", ["text", "500"])
def test_neither_does_the_debug_log_of_the_client(user, name):
    with endpoint(BEHAVIOURS[name]) as (model, _):
        ended = subprocess.run(
            [sys.executable, "-m", "peirce", *RUN, model],
            env={**os.environ, "OPENAI_LOG": "debug"}, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    assert ended.returncode in (0, 1) and "request_id: ***" in ended.stderr
    assert KEY not in ended.stdout + ended.stderr
    assert_in_no_file(user)


@pytest.mark.parametrize(
    "flags",
    [
        ["--model-arg", f"api_key={KEY}"],
        ["--model-arg", f"user={KEY}"],
        ["--model-arg", f"api_key_env={KEY}"],
        ["--judge-model", f"http://{KEY}@127.0.0.1/v1#NAME"],
        ["--judge-model", f"http://127.0.0.1/v1#{KEY}"],
        ["--role", f"judge.model={KEY}"],
        ["--role", f"judge.api_key_env={KEY}"],
        ["--role", f"judge.{KEY}=1"],
        ["--role", f"{KEY}.temperature=1"],
        ["--role", f"judge.temperature={KEY}"],
        ["--model", f"http://{KEY}@127.0.0.1:9/v1#NAME"],
        ["--model", f"http://127.0.0.1:9/v1?key={KEY}#NAME"],
        ["--model", "openai:NAME"],
        ["--model-arg", KEY],
        ["--sandbox", KEY],
    ],
)
def test_a_key_given_as_a_setting_is_refused_unrepeated(peirce, user, flags):
    code, _, err = peirce(*RUN, "http://127.0.0.1:9/v1#NAME", *flags)
    assert code == 2 and err.count("\n") == 1, err
    assert not Path("peirce.duckdb").exists()

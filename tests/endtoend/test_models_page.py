"""Every `peirce run` of the guides on language models (use-a-language-model.md, spend-less.md) runs as it
stands there, but for what it reaches:
the test's endpoint in place of hosts, ports and local servers, a tiny model in place of a folder, fewer problems,
shorter pauses between looks at a batch.
Commands for endpoints are processes forked from one that has the package imported; those for models
in a folder run in this process, so that torch is imported once."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from peirce import cli
from peirce.records import PROVIDERS

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from batch_server import BatchServer
from faulty_server import FaultyServer
from peirce.tests.cli.forked_command import run_command
from tiny_model import make_adapter, make_model, require

GUIDES = Path(__file__).parents[2] / "docs/how-to"
PAGE = (GUIDES / "use-a-language-model.md").read_text("utf-8")
COSTS = (GUIDES / "spend-less.md").read_text("utf-8")
LINES = [*PAGE.splitlines(), *COSTS.splitlines()]
COMMANDS = [line.strip() for line in LINES if line.startswith("    peirce run")]
LESS = ("--problems", "2", "--max-answers", "2", "--workers", "1", "--quiet", "--json")


def test_the_page_has_a_command_for_each_kind_of_model():
    models = [re.search(r"--model (\S+)", command)[1] for command in COMMANDS]
    for begins in (
        "openai:",
        "vllm:",
        "ollama:",
        "llamacpp:",
        "http://localhost:8001/v1#",
        "hf:./",
    ):
        assert any(model.startswith(begins) for model in models)


def test_the_page_lists_every_provider_with_its_key_and_address():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.* \| `http.*`) \|$", PAGE, re.M))
    assert rows.keys() == PROVIDERS.keys()
    for name, one in PROVIDERS.items():
        keys, address = rows[name].split(" | ")
        assert address == f"`{one.url}`"
        assert re.findall(r"`(\w+)`", keys) == list(one.keys)
        assert one.local == (keys == "none" or keys.endswith("if the server wants one"))


def run(command, folder, **environment):
    arguments = [*shlex.split(command)[1:], *LESS]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "PEIRCE"))}
    done = run_command(arguments, cwd=folder, env={**clean, **environment})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("command", [c for c in COMMANDS if "hf:" not in c])
def test_a_command_for_an_endpoint_runs(command, tmp_path):
    batches = "--batch-files" in command
    with BatchServer() if batches else FaultyServer() as server, FaultyServer() as second:
        urls = iter((server.url, second.url))
        here = re.sub(r"\b(vllm|llamacpp):", f"{server.url}#", command)
        here = re.sub(r"http://(localhost|[ab]):\d+/v1", lambda _: next(urls), here)
        if batches:
            here += " --model-arg batch_wait_s=0.2 --model-arg batch_poll_s=0.1"
        told = run(
            here, tmp_path, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="a-key-for-tests",
            OLLAMA_HOST=server.url,
        )  # fmt: skip
        calls = told["usage"]["by_kind"]["model"]["calls"]
        asked = sum(server.paid.values()) if batches else server.requests
        assert asked + second.requests == calls > 2
        assert (second.requests > 0) == ("," in command)
    assert told["status"] == "done" and told["problems"] == 2


@pytest.mark.parametrize("command", [c for c in COMMANDS if "hf:" in c])
def test_a_command_for_a_model_in_a_folder_runs(command, tmp_path, monkeypatch, capsys):
    require(*(["bitsandbytes"] if "4bit" in command else []))
    make_adapter(tmp_path / "adapter", make_model(tmp_path / "model"))
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("OPENAI", "PEIRCE"))]:
        monkeypatch.delenv(name)
    fewer = command.replace("--max-tokens 512", "--max-tokens 24")
    with pytest.raises(SystemExit) as ended:
        cli.main([*shlex.split(fewer)[1:], *LESS])
    said = capsys.readouterr()
    assert not ended.value.code, said.err
    told = json.loads(said.out)
    assert told["status"] == "done" and told["verdicts"]["malformed"] == 4
    assert told["usage"]["tokens_out"] > 0

"""Vectors of terms from an endpoint or a local encoder, by which the search groups terms into themes.

Internals: an encoder is asked directly, so that each fault of an endpoint needs no session.
"""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import peirce
import pytest
from chat_server import Answer, ChatServer, raw, status
from peirce.agents.endpoint import embeddings
from peirce.agents.term_vectors import DIMENSIONS, open_encoder, reduce_vectors
from peirce.records import DataError, PeirceError, Unavailable, UsageError

SEA = ["wave", "boat", "harbour", "anchor", "tide", "sail", "gull", "reef"]
HOME = ["oven", "pan", "sofa", "lamp", "kettle", "spoon", "carpet", "shelf"]
OTHER = [a + b + c for a in "bdgkm" for b in ("al", "or", "un") for c in ("ta", "vi", "po", "qu")]


def write_rows(path: Path, count: int = 120) -> Path:
    """Texts with the label "good" in which words of the sea and of the home are more frequent, mostly."""
    drawn = random.Random(3)
    lines = ["text,label"]
    for number in range(count):
        good = number % 2 == 0
        words = drawn.sample(OTHER, 12) + drawn.sample(SEA + HOME, 4 if good else 1)
        drawn.shuffle(words)
        label = "good" if good == (drawn.random() < 0.85) else "bad"
        lines.append(f"{' '.join(words)},{label}")
    path.write_text("\n".join(lines) + "\n")
    return path


def by_topic(request: dict[str, Any]) -> Answer:
    """Vectors that are close for words of one topic."""
    return vectors([vector(one) for one in request["input"]])


def vector(text: str) -> list[float]:
    noise = random.Random(text)
    place = 0 if text in SEA else 1 if text in HOME else 2
    return [(n == place) + 0.01 * noise.random() for n in range(100)]


def vectors(listed: list[list[float]], **more: Any) -> Answer:
    data = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(listed)]
    return Answer(json.dumps({"object": "list", "data": data[::-1], **more}).encode())


def run(folder: Path, source: str, **more: Any) -> Any:
    return peirce.run(
        "labels", data=f"{write_rows(folder / 'rows.csv')}?label=label", store=folder / "s.duckdb",
        model="search", model_arg=[f"embeddings={source}"], workers=1, max_answers=1, **more,
    )  # fmt: skip


def embed(spec: str, texts: list[str]) -> np.ndarray:
    async def ask() -> np.ndarray:
        encoder = await open_encoder(spec)
        try:
            return await encoder.embed(texts)
        finally:
            await encoder.close()

    return asyncio.run(ask())


def test_a_session_asks_for_the_vectors_of_its_terms_and_replays_without_them(
    tmp_path: Path,
) -> None:
    with ChatServer([by_topic]) as server:
        session = run(tmp_path, f"{server.url}#words")
        asked = [one for one in server.requests if one["path"] == "/v1/embeddings"]
    assert session.status == "done" and session.best and len(asked) == len(server.requests)
    assert {one["model"] for one in asked} == {"words"}
    terms = [term for one in asked for term in one["input"]]
    assert {*SEA, *HOME} <= set(terms) and len(terms) == len(set(terms))
    (row,) = peirce.sessions(store=tmp_path / "s.duckdb")
    assert f"{server.url}#words" in json.dumps(row.settings["model_settings"])
    assert not peirce.replay(session.session, store=tmp_path / "s.duckdb").differences


def test_a_dead_endpoint_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "BACKOFF_S", 0.0)
    session = run(tmp_path, "http://127.0.0.1:9/v1#words")
    (sentence,) = session.failed.values()
    assert session.status == "failed"
    assert "model 'words' at http://127.0.0.1:9/v1 gave no embeddings: the connection" in sentence


def test_vectors_come_in_the_order_of_the_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEIRCE_API_KEY", "a-key-for-loopback")
    texts = [f"text {n}" for n in range(1_500)]
    with ChatServer(
        [lambda asked: vectors([[float(t.split()[1])] for t in asked["input"]])]
    ) as server:
        found = embed(f"{server.url}#m", texts)
    assert found.ravel().tolist() == list(range(1_500)) and len(server.requests) == 6
    assert server.requests[0]["headers"]["authorization"] == "Bearer a-key-for-loopback"


def test_an_endpoint_that_takes_few_texts_gets_few(monkeypatch: pytest.MonkeyPatch) -> None:
    def behave(asked: dict[str, Any]) -> Answer:
        if len(asked["input"]) > 32:
            return status(422, "batch size 256 > maximum allowed batch size 32")(asked)
        return vectors([[1.0, 2.0]] * len(asked["input"]))

    with ChatServer([behave]) as server:
        assert embed(f"{server.url}#m", ["a"] * 100).shape == (100, 2)


def test_a_busy_endpoint_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "BACKOFF_S", 0.0)
    with ChatServer([status(503), status(429), lambda asked: vectors([[1.0]])]) as server:
        assert embed(f"{server.url}#m", ["a"]).tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        (status(401, "no such key"), "HTTP 401: no such key"),
        (status(400, "no such model"), "HTTP 400: no such model"),
        (status(500, "broken"), "HTTP 500: broken"),
        (raw(b"<html>"), "its answer has no vectors"),
        (raw(b'{"data": []}'), "does not have one vector for each of 2 texts"),
        (lambda asked: vectors([[1.0], [float("nan")]]), "does not have one vector"),
        (lambda asked: vectors([[1.0], [1.0, 2.0]]), "no vectors"),
        (lambda asked: vectors([[1.0]] * 3), "does not have one vector"),
        (raw(b'{"data": [{"index": "0", "embedding": "x"}]}'), "its answer has no vectors"),
    ],
)
def test_a_bad_answer_is_one_sentence(behaviour, why, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "BACKOFF_S", 0.0)
    with (
        ChatServer([behaviour]) as server,
        pytest.raises(Unavailable, match="gave no embeddings") as told,
    ):
        embed(f"{server.url}#m", ["a", "b"])
    assert why in str(told.value)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("words", "embeddings is 'words': it must be URL#NAME"),
        ("search", "embeddings is 'search'"),
        ("http://127.0.0.1:9/v1", "names no model"),
        ("http://me:hush@127.0.0.1:9/v1#m", "URL without credentials"),
        ("hf:no/such folder", "no/such folder"),
    ],
)
def test_a_source_that_is_none_is_refused_before_the_session(tmp_path: Path, source, why) -> None:
    with pytest.raises(UsageError) as told:
        run(tmp_path, source)
    assert why in str(told.value) and "hush" not in str(told.value)
    assert not (tmp_path / "s.duckdb").exists()


def test_reduced_vectors_keep_their_angles() -> None:
    drawn = np.random.default_rng(0)
    table = drawn.normal(size=(40, 5)) @ drawn.normal(size=(5, 300))
    found = reduce_vectors({str(n): one.astype(np.float32) for n, one in enumerate(table)})
    reduced = np.array(list(found.values()))
    assert reduced.shape == (40, DIMENSIONS) and list(found) == [str(n) for n in range(40)]
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    assert np.abs(reduced @ reduced.T - unit @ unit.T).max() < 1e-3
    assert reduce_vectors({"a": np.array([3.0, 4.0], np.float32)}) == {"a": [0.6, 0.8]}


@pytest.fixture(scope="module")
def folder_of_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT that the test makes itself."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("encoder")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *SEA, *HOME]
    (folder / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        transformers.BertModel(config).save_pretrained(folder)
    return folder


def test_a_local_encoder_gives_the_mean_of_the_last_hidden_states(folder_of_encoder: Path) -> None:
    import torch
    import transformers

    texts = ["wave", "boat harbour tide", "oven"]
    found = embed(f"hf:{folder_of_encoder}", texts)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder_of_encoder)
    model = transformers.AutoModel.from_pretrained(folder_of_encoder).eval()
    for one, row in zip(texts, found, strict=True):  # alone, so that nothing is padded
        with torch.inference_mode():
            hidden = model(**tokenizer(one, return_tensors="pt")).last_hidden_state[0]
        assert np.allclose(row, hidden.mean(dim=0).numpy(), atol=1e-5)


def test_a_session_with_a_local_encoder_records_the_digest_of_its_files(
    tmp_path: Path, folder_of_encoder: Path
) -> None:
    session = run(tmp_path, f"hf:{folder_of_encoder}")
    assert session.status == "done" and session.best
    (row,) = peirce.sessions(store=tmp_path / "s.duckdb")
    told = row.settings["model_settings"]
    assert len((told.get("recorded") or told)["embeddings"]["digest"]) == 64


def test_a_damaged_encoder_is_one_sentence(tmp_path: Path, folder_of_encoder: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"x")
    with pytest.raises(DataError, match="cannot be loaded") as told:
        embed(f"hf:{tmp_path}", ["a"])
    assert isinstance(told.value, PeirceError) and "\n" not in str(told.value)

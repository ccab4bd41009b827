"""Sets of pairs as files and as tokens: what is written is what the set holds, in the forms that
data sets and TRL read; lengths are those of a training's own tokenisation.

Internals: a set of pairs is built from a store that the command would refuse as too small.
"""

from __future__ import annotations

import importlib.util
import json
import resource
from pathlib import Path

import peirce
import pytest
from peirce.records import DataError, UsageError, Verdict
from peirce.store import Store
from peirce.training import STAGES, PairTable
from peirce.training.pairs import ModelText, PairChoices, TokenLimit, export
from peirce.training.pairs.build_pairs import build_pairs
from sessions_of_pairs import answered, problem, space, write

COLUMNS = ["pair", "prompt", "chosen", "rejected", "stage", "task", "problem", "split", "context",
           "chosen_model", "rejected_model"]  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> PairTable:
    with Store.open(tmp_path_factory.mktemp("pairs") / "store.duckdb", write=True) as store:
        listed = [
            (problem(f"p{i}", offset=i),
             [answered(Verdict.ACCEPTED, "wide", [1, 1, 1]), answered(Verdict.ACCEPTED, "hälf\n'", [1, 1, None]),
              answered(Verdict.INCONSISTENT, "wrong", [1, 1, 1]), answered(Verdict.MALFORMED, "", [])])
            for i in range(12)
        ]  # fmt: skip
        session = write(store, listed, space(3))
        return build_pairs(store, [session], PairChoices()).table


def rows_of(place: Path) -> list[dict[str, object]]:
    import duckdb

    found = duckdb.execute(f"SELECT * FROM '{place}'")
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def test_a_parquet_file_holds_every_pair_as_messages(table: PairTable, tmp_path: Path) -> None:
    told = export(table, tmp_path / "out", "parquet")
    assert told["files"] == ["pairs.parquet"] and told["form"] == "conversational"
    rows = rows_of(tmp_path / "out" / "pairs.parquet")
    assert list(rows[0]) == COLUMNS and sum(told["rows"].values()) == len(rows) == len(table)
    for place, row in enumerate(rows):
        asked, chosen, rejected = table.texts(place)
        at = int(table.prompt[place])
        assert row == {
            "pair": place,
            "prompt": [dict(one) for one in asked],
            "chosen": [{"role": "assistant", "content": chosen}],
            "rejected": [{"role": "assistant", "content": rejected}],
            "stage": STAGES[table.stage[place]],
            "task": table.prompt_task[at], "problem": table.prompt_problem[at],
            "split": table.prompt_split[at].value, "context": table.prompt_context[at],
            "chosen_model": "a", "rejected_model": "a",
        }  # fmt: skip


def test_a_data_set_folder_has_a_file_a_split_and_loads(table: PairTable, tmp_path: Path) -> None:
    told = export(table, tmp_path / "out", "hf")
    files = ["README.md", *(f"data/{name}.parquet" for name in ("held_out", "train", "validation"))]
    assert told["files"] == files
    loaded = {split: rows_of(tmp_path / "out" / "data" / f"{split.replace('-', '_')}.parquet")
              for split in told["rows"]}  # fmt: skip
    assert {split: len(rows) for split, rows in loaded.items()} == told["rows"]
    assert sorted(row["pair"] for rows in loaded.values() for row in rows) == list(
        range(len(table))
    )
    assert all(row["split"] == split for split, rows in loaded.items() for row in rows)
    assert table.digest in (tmp_path / "out" / "README.md").read_text()
    if importlib.util.find_spec("datasets") is None:
        pytest.skip("NO DATASETS HERE: pip install 'peirce[train]'")
    import datasets

    whole = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert {name: len(one) for name, one in whole.items()} == {
        split.replace("-", "_"): count for split, count in told["rows"].items()
    }
    assert whole["train"].column_names == COLUMNS


def test_plain_pairs_are_texts(table: PairTable, tmp_path: Path) -> None:
    told = export(table, tmp_path / "out", "parquet", lambda asked: f"<{asked[0]['content']}>")
    assert told["form"] == "plain"
    for place, row in enumerate(rows_of(tmp_path / "out" / "pairs.parquet")):
        asked, chosen, rejected = table.texts(place)
        said = [row["prompt"], row["chosen"], row["rejected"]]
        assert said == [f"<{asked[0]['content']}>", chosen, rejected]


@pytest.mark.parametrize("format", ["parquet", "hf"])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(
    table: PairTable, tmp_path: Path, format: str
) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        with pytest.raises(DataError, match="cannot be written, is the disk full"):
            export(table, tmp_path / "out", format)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(table: PairTable, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match="already exists; choose another path or remove it first"):
        export(table, tmp_path / "out", "hf")
    with pytest.raises(UsageError, match="format 'csv' is unknown: it must be one of parquet, hf"):
        export(table, tmp_path / "other", "csv")
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


# --- tokens -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tiny_model import TEMPLATE, make_model, require

    require()
    return make_model(tmp_path_factory.mktemp("base") / "tiny", TEMPLATE)


def test_lengths_are_those_of_the_whole_text_up_to_the_end_token(
    table: PairTable, base: Path
) -> None:
    from transformers import AutoTokenizer

    text, tokenizer = ModelText(base), AutoTokenizer.from_pretrained(base)
    prompts, answers = (
        text.count_prompt_tokens(table.prompts),
        text.count_answer_tokens(table.answers),
    )
    for place in range(len(table)):
        asked, *both = table.texts(place)
        for said, at in zip(both, (table.chosen[place], table.rejected[place]), strict=True):
            turns = [*(dict(one) for one in asked), {"role": "assistant", "content": said}]
            whole = tokenizer.apply_chat_template(turns, tokenize=False)
            assert whole.endswith("<|im_end|>\n")  # the line feed is not trained
            count = len(tokenizer(whole[:-1], add_special_tokens=False)["input_ids"])
            assert count == prompts[table.prompt[place]] + answers[at]


def test_plain_prompts_go_through_the_chat_template(
    table: PairTable, base: Path, tmp_path: Path
) -> None:
    export(table, tmp_path / "out", "hf", ModelText(f"hf:{base}").render_prompt)
    row = rows_of(tmp_path / "out" / "data" / "train.parquet")[0]
    content = table.prompts[table.prompt[row["pair"]]][0]["content"]
    assert row["prompt"] == f"<|im_start|>user\n{content}<|im_end|>\n<|im_start|>assistant\n"
    assert row["chosen"] == table.texts(row["pair"])[1]


def test_a_length_names_its_tokenizer(base: Path) -> None:
    told = TokenLimit(ModelText(base), 64).settings()
    assert told["base"] == "tiny" and told["max_length"] == 64 and len(told["tokenizer"]) == 64
    with pytest.raises(UsageError, match="max-length 1: a prompt and an answer need at least 2"):
        TokenLimit(ModelText(base), 1)


def test_a_base_that_will_not_do_is_one_sentence(base: Path, tmp_path: Path) -> None:
    from tiny_model import make_model

    with pytest.raises(UsageError, match=r"base model folder '.*nowhere' does not exist"):
        ModelText(tmp_path / "nowhere")
    with pytest.raises(UsageError) as caught:  # in a sentence of our own, not the library's
        ModelText("nobody-knows")
    assert str(caught.value) == (
        "base model 'nobody-knows' is no folder here, and not in the hub's cache"
    )
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"base model '.*empty' holds no tokenizer"):
        ModelText(tmp_path / "empty")
    with pytest.raises(UsageError, match=r"the tokenizer of '.*bare' has no chat template"):
        ModelText(make_model(tmp_path / "bare", None))
    refusing = make_model(tmp_path / "strict", "{{ raise_exception('no user here') }}")
    with pytest.raises(DataError, match="'strict' refuses the conversation: no user here"):
        ModelText(refusing).render_prompt([{"role": "user", "content": "a"}])
    broken = make_model(tmp_path / "broken")
    (broken / "tokenizer.json").write_text(json.dumps({"version": "1.0"}))
    with pytest.raises(UsageError, match=r"base model '.*broken' holds no tokenizer"):
        ModelText(broken)


def test_a_base_that_would_do_nothing_is_refused(base: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="--base is only used for its tokenizer: also give --max-length or --plain"
    ):
        peirce.pairs(base=base, store=tmp_path / "none.duckdb")

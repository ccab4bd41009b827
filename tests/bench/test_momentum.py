"""The intervals and tables of bench/momentum.py. The test writes the cells, so nothing is trained."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("torch")


@pytest.fixture
def momentum():
    import momentum

    return momentum


def test_an_interval_of_equal_values_has_no_width(momentum):
    assert momentum.interval(np.full((3, 4), 0.25), np.array([0, 0, 1, 2])) == (0.25, 0.25, 0.25)


def test_an_interval_draws_seeds(momentum):
    values = np.repeat([[0.0], [0.3], [0.6]], 5, axis=1)
    mean, low, high = momentum.interval(values, np.arange(5))
    assert mean == pytest.approx(0.3) and low == 0 and high == pytest.approx(0.6)


def test_an_interval_draws_rules_with_all_their_problems(momentum):
    # One rule with 50 problems and one with 50: as wide as with two problems.
    rule = np.repeat([0, 1], 50)
    mean, low, high = momentum.interval(np.repeat([[0.0, 1.0]], 50, axis=1), rule)
    assert (mean, low, high) == (0.5, 0, 1)


def test_finished_cells_become_tables_and_others_are_left_out(momentum, tmp_path):
    import momentum_cells as cells

    (tmp_path / "cells").mkdir()
    (tmp_path / "problems").mkdir()
    lines = [json.dumps({"idx": f"p{n}", "secret": {"rule": f"r{n % 2}"}}) for n in range(4)]
    (tmp_path / "problems" / cells.HELD_OUT_FILE).write_text("\n".join(lines))
    equal = next(iter(cells.SCHEDULES))
    for schedule, seed, value in ((equal, 0, 0.2), (equal, 1, 0.4), ("momentum", 0, 0.3)):
        cell = cells.Cell("llama", schedule, seed)
        cells.write_json(cells.result_file(tmp_path, cell), {
            **cell._asdict(), "used": {stage: {"draws": 160} for stage in momentum.STAGES},
            "probes": {stage: {"probe_accuracy": 0.5 + seed / 10} for stage in momentum.STAGES},
            "held_out": {f"p{n}": dict.fromkeys(cells.METRICS, value) for n in range(4)},
        })  # fmt: skip
    assert len(cells.read_rows(tmp_path)) == 3
    results = momentum.Results(tmp_path)
    level, other = results.levels("llama")
    assert level[:5] == ("llama", equal, "2", "33.3 / 33.3 / 33.3", "0.550 (0.500 to 0.600)")
    assert level[-1] == "0.300" and other[1:3] == ("momentum", "1")
    (difference,) = results.differences("llama", equal)
    assert difference[1:4] == (f"momentum − {equal}", "1", "+0.100 [+0.100, +0.100]")
    assert not list(results.levels("gpt_neox"))
    text = momentum.experiment_section(tmp_path)
    assert "3 of 48 cells are done. There are 4 held-out problems with 2 rules" in text


def test_a_page_keeps_what_was_not_measured_and_what_a_person_wrote(
    momentum, tmp_path, monkeypatch
):
    page = tmp_path / "momentum.md"
    page.write_text(f"old\n\n{momentum.MEASURED}\n\nkept table\n\n{momentum.OWN}\n\nkept words\n")
    monkeypatch.setattr(momentum, "PAGE", page)
    table = momentum.Table(("a",), (("1",),))
    told = momentum.page((table, table, table), None)
    assert "old" not in told and "kept table" in told and told.endswith("kept words\n")
    page.write_text(told)
    assert momentum.page((table, table, table), None) == told

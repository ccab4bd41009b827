"""`peirce import` of ABD's prediction records and `peirce eval abd`, on small worlds of our own."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import peirce
import pytest
from peirce.cli import app
from peirce.records import Reply, UsageError
from peirce.reports import find_evaluation
from peirce.tools.solve import Solver
from typer.testing import CliRunner

SCHEMA = "abd_prediction_record_v1"
NAMES = tuple(metric.name for metric in find_evaluation("abd").metrics)


def world(**atoms):
    return {"domain": ["a0", "b0", "c0"], "true": {}, **atoms}


# T6: P(x) and not Ab(x) implies that x has an R.
OPEN = {
    "id": "open", "regime": "partial", "theory": "T6", "reference": "(P x)",
    "worlds": [world(true={"P": ["a0", "b0"], "Q": ["a0"]}, unknown={"R": [["b0", "c0"]]})],
    "holdouts": [world(true={"P": ["a0"]}, unknown={"R": [["a0", "a0"]]})],
}  # fmt: skip
FULL = {
    "id": "full", "regime": "full", "theory": "TH3", "reference": "(P x)",
    "worlds": [world(true={"P": ["a0", "b0"], "Q": ["a0"], "R": [["b0", "a0"]]})],
    "holdouts": [world(true={"P": ["a0", "c0"], "Q": ["a0"], "R": [["c0", "c0"]]})],
}  # fmt: skip


def said(formula):
    return json.dumps({"formula": formula, "description": ""})


class Silent:
    """Repairs nothing."""

    def settings(self):
        return {"model": "silent"}

    async def repair(self, view, text):
        return Reply(finish="exhausted")

    async def close(self):
        return None


IMPORTED = {}


@dataclass(frozen=True)
class Setting:
    data: str
    predictions: str
    store: str
    folder: object

    def imported(self, model):
        """The session of a model's predictions; what comes first into a store is imported once."""
        if model is None or os.path.exists(self.store):
            return self._import(model)
        known = model, Path(self.data).read_bytes()
        if known not in IMPORTED:
            session = self._import(model)
            IMPORTED[known] = session, Path(self.store).read_bytes()
        session, content = IMPORTED[known]
        Path(self.store).write_bytes(content)
        return dataclasses.replace(session, store=self.store)

    def _import(self, model):
        return peirce.import_recorded(
            self.predictions, data=self.data, of_model=model, store=self.store
        )


@pytest.fixture
def setting(tmp_path):
    data = tmp_path / "abd.jsonl"
    data.write_text("".join(json.dumps(one) + "\n" for one in (OPEN, FULL)))
    said = {"small": {"open": "(Q x)", "full": "(Q x)"},
            "large": {"open": "(P x)", "full": "(and (P x) (P x)"},
            "silent": {"open": "", "full": "(R x x)"}}  # fmt: skip
    rows = [
        {"schemaVersion": SCHEMA, "instanceId": name, "model": model, "extractedFormula": formula}
        for model, formulas in said.items()
        for name, formula in formulas.items()
    ]
    rows.append({**rows[0], "instanceId": "of another file"})
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Setting(str(data), str(predictions), str(tmp_path / "store.duckdb"), tmp_path)


def test_imported_predictions_are_judged_on_prompt_worlds_and_by_eval_on_holdouts(setting):
    session = setting.imported("small")
    assert (session.method, session.model, session.problems) == ("imported", "recorded:small", 2)
    assert session.evaluation == "abd" and session.metrics["prompt_validity"]["mean"] == 1.0
    assert session.metrics["holdout_validity"]["n"] == 0  # `eval` opens them
    result = peirce.evaluate(store=setting.store, by_problem=True)
    (one,) = result["sessions"]
    assert result["evaluator"] == one["evaluator"] == "exact"
    assert result["bootstrap"]["seed"] == 0 and result["bootstrap"]["strata"] == "regime"
    metrics = one["metrics"]
    # Open: R(b0, c0) repairs b0, R(a0, a0) the holdout; full: a0 alone breaks the default.
    assert metrics["prompt_validity"]["mean"] == 1.0 and metrics["holdout_validity"]["mean"] == 1.0
    assert metrics["gap"]["mean"] == 0.0 and metrics["gref"]["mean"] == -1.0
    assert metrics["beats_reference"]["mean"] == 1.0 and metrics["ast_size"]["mean"] == 2.0
    assert set(one["by_regime"]) == {"full", "partial"} and set(one["by_theory"]) == {"T6 / TH3"}
    assert one["failures"]["success"] == 2
    rows = {row["problem"]: row for row in one["by_problem"]}
    assert rows["open"]["formula"] == "(Q x)" and rows["open"]["prompt_cost"] == 1
    assert [name for name in NAMES if name not in rows["full"]] == []


def test_the_released_evaluator_reads_holdouts_as_closed(setting):
    setting.imported("small")
    (one,) = peirce.evaluate(store=setting.store, evaluator="released")["sessions"]
    assert one["by_regime"]["partial"]["holdout_validity"]["mean"] == 0.0
    assert one["by_regime"]["full"]["holdout_validity"]["mean"] == 1.0
    assert one["failures"]["brittle"] == 1


def test_z3_and_the_fast_path_give_the_same_scores(setting):
    setting.imported("large")
    fast, z3 = (peirce.evaluate(store=setting.store, solver=name) for name in ("fast", "z3"))
    assert fast == z3
    (one,) = fast["sessions"]
    assert one["metrics"]["prompt_validity"]["mean"] == 0.5  # one was repaired
    assert one["metrics"]["prompt_validity_repaired"]["mean"] == 1.0


def test_sessions_are_compared_and_written_with_every_table(setting):
    ids = [setting.imported(model).session for model in ("small", "large", "silent")]
    out = setting.folder / "tables"
    result = peirce.evaluate(*ids, name="abd", store=setting.store, out=out)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result
    assert all("by_problem" not in one for one in result["sessions"])
    assert {"table1a", "table2", "table6", "tableF1", "tableG4", "tableH2"} <= set(result["tables"])
    missing = {row["session"]: row["missing"] for row in result["tables"]["tableH1"]}
    assert missing["recorded:silent"] == 0.5 and missing["recorded:small"] == 0.0
    written = {path.name for path in out.iterdir()}
    assert {"abd.md", "abd.csv", "table2.csv", "table2.md", f"abd-{ids[0]}.csv"} <= written
    assert "Evaluator: exact." in (out / "table2.md").read_text()
    whole = out / "one.md"
    assert peirce.evaluate(ids[0], store=setting.store, out=whole)["files"] == [str(whole)]


def test_planted_rules_and_antecedents_stand_below_the_sessions_and_in_none(setting):
    sessions = [setting.imported(model).session for model in ("small", "large")]
    out = setting.folder / "tables"
    result = peirce.evaluate(*sessions, name="abd", store=setting.store, out=out)
    # Both planted rules are the antecedent, (P x).
    assert list(result["beside"]) == ["planted rule", "antecedent"]
    for told in result["beside"].values():
        assert told["problems"] == 2 and set(told["by_regime"]) == {"full", "partial"}
        metrics = told["metrics"]
        assert metrics["prompt_validity"]["mean"] == metrics["holdout_validity"]["mean"] == 1.0
        assert metrics["gap"]["mean"] == 1.0 and metrics["gref"]["mean"] == 0.0
    assert len(result["sessions"]) == 2
    for name in ("table2", "table4", "table5"):
        rows = [row["session"] for row in result["tables"][name]]
        told = rows[-2:] if name == "table4" else list(dict.fromkeys(rows))[-2:]
        assert told == ["planted rule", "antecedent"], name
        assert "\nexact,planted rule," in (out / f"{name}.csv").read_text()
    assert "planted rule" not in (out / "abd.csv").read_text()
    pooled = {row["session"] for row in result["tables"]["tableG7"]}
    assert "all 2 sessions" in pooled and "antecedent" not in pooled


def test_a_planted_rule_out_of_scope_is_judged_and_told_apart(setting):
    (setting.folder / "abd.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in (OPEN, {**FULL, "reference": "(R x x)"}))
    )
    session = setting.imported("small").session
    beside = peirce.evaluate(session, store=setting.store)["beside"]
    counts = {name: told["problems"] for name, told in beside.items()}
    assert counts == {"planted rule": 2, "planted rule in scope": 1, "antecedent": 2}
    assert beside["planted rule"]["by_regime"]["full"]["prompt_validity"]["mean"] == 0.0


def test_a_session_of_several_answers_is_scored_alike_at_its_end_and_by_eval(setting):
    script = setting.folder / "script.json"
    full = [said(one) for one in ("(not (P x))", "(and (P x) (Q x)", "(P x)", "(= x x)")]
    script.write_text(json.dumps({"full": full, "open": ["no rule at all", said("(S y)")]}))
    session = peirce.run(
        "abd", data=setting.data, model=f"scripted:{script}", store=setting.store, workers=1
    )
    (one,) = peirce.evaluate(store=setting.store, by_problem=True)["sessions"]
    of_holdouts = {name for name in NAMES if "holdout" in name or name == "delta_gap"}
    for name in set(NAMES) - of_holdouts:
        assert session.metrics[name] == one["metrics"][name], name
    rows = {row["problem"]: row for row in one["by_problem"]}
    assert rows["full"]["formula"] == "(and (P x) (Q x))" and rows["full"]["prompt_cost"] == 1
    assert (rows["open"]["failure"], rows["open"]["answers"]) == ("parse_error", 2)
    assert one["malformed"] == {"no_formula": 1, "unbound_variable": 1}
    assert one["metrics"]["gref"]["mean"] == -1.0


def test_a_theory_of_ones_own_is_scored_and_a_limit_of_the_solver_counted_apart(
    setting, monkeypatch
):
    birds = {
        "id": "birds", "regime": "partial", "reference": "(Polar x)",
        "theory": {
            "names": ["birds fly"], "allowed": ["Polar", "Child"],
            "axioms": ["(forall x (implies (Bird x) (or (Flies x) (Ab x))))"],
            "signature": {"Bird": 1, "Flies": 1, "Polar": 1, "Child": 2},
        },
        "worlds": [{"domain": ["tux", "pip"], "true": {"Bird": ["tux", "pip"], "Polar": ["tux"]},
                    "unknown": {"Flies": ["pip"], "Child": [["pip", "tux"], ["tux", "pip"]]}}],
    }  # fmt: skip
    data = setting.folder / "birds.json"
    data.write_text(json.dumps(birds))
    row = {"schemaVersion": SCHEMA, "instanceId": "birds",
           "extractedFormula": "(or (Polar x) (exists y (Child x y)))"}  # fmt: skip
    answers = setting.folder / "birds.jsonl"
    answers.write_text(json.dumps(row))
    peirce.import_recorded(str(answers), data=str(data), store=setting.store)
    (one,) = peirce.evaluate(store=setting.store)["sessions"]
    assert one["by_theory"].keys() == {"birds fly"} and one["failures"]["no_holdouts"] == 1
    # The loader does not ask a solver what the reference costs; `eval` does.
    assert one["metrics"]["gref"]["mean"] == 0.0 and one["metrics"]["gap"]["mean"] == 0.0
    assert one["metrics"]["holdout_validity"]["n"] == 0
    limited = functools.partial(Solver, resources=1)
    monkeypatch.setattr("peirce.tools.solve.Solver", limited)
    (one,) = peirce.evaluate(store=setting.store)["sessions"]
    assert one["failures"]["limit"] == 1 and one["metrics"]["limited"]["mean"] == 1.0
    for name in ("prompt_validity", "invalid", "gap", "gref"):
        assert one["metrics"][name]["n"] == 0, name


def test_a_file_of_several_models_is_an_error_that_names_them(setting):
    with pytest.raises(UsageError, match=r"3 models: .*\(small, large, silent\)"):
        setting.imported(None)


def test_what_cannot_be_is_said_before_anything_is_judged(setting):
    session = setting.imported("small").session
    with pytest.raises(UsageError, match="no evaluator 'published'; valid: exact, released"):
        peirce.evaluate(session, store=setting.store, evaluator="published")
    with pytest.raises(UsageError, match="no solver 'cvc5'"):
        peirce.evaluate(session, store=setting.store, solver="cvc5")
    with pytest.raises(UsageError, match="evaluation gear has no evaluator 'released'; abd does"):
        peirce.evaluate(session, name="gear", store=setting.store, evaluator="released")
    assert peirce.evaluate(session, name="gear", store=setting.store)["sessions"]


def test_the_command_names_the_evaluator_and_prints_the_same_object_as_json(setting):
    runner = CliRunner()
    brought = runner.invoke(
        app, ["import", setting.predictions, "--data", setting.data, "--of-model", "small",
              "--store", setting.store, "--quiet"]
    )  # fmt: skip
    assert brought.exit_code == 0, brought.output
    assert "prompt worlds only" in brought.stdout
    given = ["eval", "abd", "--store", setting.store, "--evaluator", "released"]
    told = runner.invoke(app, [*given, "--json"])
    assert json.loads(told.stdout) == peirce.evaluate(store=setting.store, evaluator="released")
    shown = runner.invoke(app, given).stdout
    assert "evaluator released; intervals: 2,000 resamples" in shown and "1 brittle" in shown
    assert "antecedent, 2 problems: prompt_validity 1.000, gap 1.000, ast_size 2.000," in shown


@pytest.mark.skipif(sys.platform == "win32", reason="a Unix tool")
def test_eval_does_not_import_what_a_model_needs(setting):
    """The scores come from the store and the solver."""
    session = setting.imported("small").session
    code = (
        "import sys, peirce; peirce.evaluate(sys.argv[1], store=sys.argv[2]);"
        "print([n for n in ('langchain_openai', 'openai', 'torch') if n in sys.modules])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, session, setting.store],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == "[]"


def test_of_a_refined_session_the_best_rule_counts_at_its_end_and_by_eval(setting):
    script = setting.folder / "script.json"
    script.write_text(json.dumps({"*": [said(one) for one in ("(= x x)", "(P x)", "(Q x)")]}))
    options = {"data": setting.data, "model": f"scripted:{script}", "store": setting.store}
    session = peirce.run("abd", method="refine", target_gap=0.5, **options)
    (one,) = peirce.evaluate(store=setting.store, by_problem=True)["sessions"]
    rows = {row["problem"]: row for row in one["by_problem"]}
    assert rows["full"]["formula"] == "(Q x)" and rows["full"]["answers"] == 3
    for name in ("prompt_validity", "gap", "ast_size"):
        assert session.metrics[name] == one["metrics"][name], name
    peirce.run("abd", method="abduce", **options)
    (one,) = peirce.evaluate(store=setting.store, by_problem=True)["sessions"]
    rows = {row["problem"]: row for row in one["by_problem"]}
    assert rows["full"]["formula"] == "(= x x)"  # the first that is valid


def test_rows_say_what_the_model_was_told_while_it_answered(setting):
    script = setting.folder / "script.json"
    script.write_text(json.dumps({"*": [said("(P x)")]}))
    options = {"data": setting.data, "model": f"scripted:{script}", "store": setting.store}
    ids = [
        peirce.run("abd", **{**options, **more}).session
        for more in (
            {"method": "io"},
            {"method": "io", "tool_calls": 2},
            {"method": "refine"},
            {"method": "refine", "tool_calls": 1, "repair": Silent()},
            {},
            {"tool_calls": 0},
            {"tool_calls": 0, "feedback": True},
        )
    ]
    ids.append(setting.imported("small").session)
    out = setting.folder / "tables"
    result = peirce.evaluate(*ids, name="abd", store=setting.store, by_problem=True, out=out)
    told = [one["feedback"] for one in result["sessions"]]
    expected = ["none", "tool", "solver", "solver+tool+silent", "tool", "none", "solver", "none"]
    assert told == expected
    for one in result["sessions"]:
        assert [row["feedback"] for row in one["by_problem"]] == [one["feedback"]] * 2
    names = {row["session"] for row in result["tables"]["table2"]}
    for label in set(expected) - {"none"}:
        assert any(name.endswith(f"feedback: {label}") or f"feedback: {label} ·" in name
                   for name in names), (label, names)  # fmt: skip
    names -= set(result["beside"])
    assert sum("feedback" not in name for name in names) == 3
    assert ",solver," in (out / f"abd-{ids[2]}.csv").read_text()

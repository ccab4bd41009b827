"""Public names are words of the field, and public things say what they are.

A public name is one without a leading underscore, of a module, class, function, method or parameter of
the package. `WORDS` could mean anything, so none of them is a name by itself.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import peirce
import pytest

PACKAGE = Path(peirce.__file__).parent
BESIDE = {"tests", "bench", "docs", "examples", "build"}
MODULES = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if not (parts := path.relative_to(PACKAGE).parts)[0].startswith(".") and parts[0] not in BESIDE
)
WORDS = frozenset(
    {
        *("apart", "asked", "beside", "came", "given", "made", "more", "of", "once", "rest"),
        *("said", "seen", "side_by_side", "some", "told", "what", "whole", "without"),
    }
)


def named(tree: ast.Module) -> Iterator[tuple[str, str, ast.AST]]:
    """(qualified name, last part, node) of each public class, function, method and parameter; not of
    functions inside functions."""

    def walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, str, ast.AST]]:
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.If):
                yield from walk(one, prefix)
            if not isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if one.name.startswith("_") or "overload" in map(ast.unparse, one.decorator_list):
                continue
            name = f"{prefix}{one.name}"
            yield name, one.name, one
            if isinstance(one, ast.ClassDef):
                yield from walk(one, f"{name}.")
            else:
                arguments = one.args
                for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                    yield f"{name}({each.arg})", each.arg, each

    return walk(tree, "")


def words_as_names(path: Path) -> set[str]:
    where = path.relative_to(PACKAGE).as_posix()
    found = {where} if path.stem in WORDS else set()
    tree = ast.parse(path.read_text("utf-8"))
    return found | {f"{where}: {name}" for name, last, _ in named(tree) if last in WORDS}


def test_no_public_name_is_a_word_that_could_mean_anything() -> None:
    assert not sorted({one for path in MODULES for one in words_as_names(path)} - LEFT)


def test_what_is_left_is_still_there() -> None:
    """An entry whose name is gone is an error, so the list only shrinks."""
    assert not sorted(LEFT - {one for path in MODULES for one in words_as_names(path)})


def test_a_word_as_a_name_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "def told(some): ...\nclass A:\n    def of(self): ...\n    def _said(self): ...\n"
    )
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    assert words_as_names(path) == {
        "module.py: told", "module.py: told(some)", "module.py: A.of"
    }  # fmt: skip


def undocumented(path: Path) -> Iterator[str]:
    """Modules, public classes, functions and methods without a docstring whose first line is a sentence.
    A method that a Protocol of ours declares is described there."""
    where = path.relative_to(PACKAGE).as_posix()
    tree = ast.parse(path.read_text("utf-8"))
    nodes = [("", tree), *((name, node) for name, _, node in named(tree))]
    for name, node in nodes:
        if isinstance(node, ast.arg):
            continue
        text = ast.get_docstring(node) or ""  # type: ignore[arg-type]
        first = text.partition("\n\n")[0].strip()
        if not first.endswith((".", "!", "?", ":")) or len(first.split()) < 2:
            yield f"{where}: {name}"


def test_every_public_thing_has_a_docstring_that_begins_with_a_sentence() -> None:
    found = sorted(one for path in MODULES for one in undocumented(path))
    assert not found, "\n".join(found)


# Names that are still to be replaced.
LEFT: frozenset[str] = frozenset(
    {
        "agents/endpoint/replies.py: without",
        "agents/model_settings.py: ModelSettings.given",
        "agents/model_settings.py: ModelSettings.of",
        "agents/prompts/config_prompts.py: ConfigPrompts.of",
        "agents/prompts/protocol.py: unread(said)",
        "agents/prompts/topics.py: again(asked)",
        "agents/prompts/topics.py: again(said)",
        "agents/search_model.py: SearchSettings.of",
        "cli/groups.py: print_of(told)",
        "cli/options.py: flag(of)",
        "cli/options.py: setting_field(of)",
        "cli/options.py: takes(of)",
        "cli/reading.py: evaluate(what)",
        "cli/reading.py: study(what)",
        "commands/data/topics.py: beside",
        "commands/data/topic_writer.py: Writer.ask(said)",
        "commands/results.py: rest",
        "commands/score/checking.py: Answers.once",
        "commands/score/judges.py: judged_by(asked)",
        "commands/score/rating.py: read(said)",
        "commands/score/ratings_file.py: beside",
        "commands/session/bank_files.py: StoredBank.of",
        "commands/session/settings.py: model_args_of(given)",
        "commands/train/labelled_training.py: settings_of(told)",
        "commands/train/training_folder.py: keep_asked(asked)",
        "graphs/forecast.py: in_one_prompt(of)",
        "graphs/forecast.py: one_by_one(of)",
        "graphs/forecast.py: through_rows(of)",
        "graphs/inference/weighted.py: Scale.of",
        "graphs/methods/direct.py: forecast(of)",
        "graphs/methods/hyporefine.py: forecast(of)",
        "graphs/methods/infer.py: forecast(of)",
        "graphs/methods/t3.py: forecast(of)",
        "graphs/methods/union.py: forecast(of)",
        "graphs/runtime/queries.py: asked",
        "graphs/runtime/queries.py: side_by_side",
        "graphs/runtime/budget.py: Budget.of",
        "graphs/runtime/budget.py: Budget.of(given)",
        "graphs/runtime/budget.py: Prices.of",
        "graphs/runtime/budget.py: priced(given)",
        "graphs/runtime/case.py: Case.once",
        "graphs/runtime/judge_calls.py: Judging.exactly(told)",
        "graphs/runtime/memory.py: MemoryJournal.once",
        "records/calls.py: Journal.once",
        "records/families.py: Measuring.said",
        "records/families.py: Measuring.seen",
        "records/families.py: Worded.told",
        "records/settings.py: Settings.given",
        "reports/metrics/grouping.py: Study.count(of)",
        "reports/metrics/grouping.py: Study.count(some)",
        "reports/metrics/grouping.py: Study.of",
        "reports/page/problem.py: Values.of",
        "reports/papers/abd/reference_rules.py",
        "reports/papers/abd/reference_rules.py: told",
        "reports/papers/abd/files.py: said",
        "reports/papers/abd/groups.py: paired_interval(some)",
        "reports/papers/abd/metrics.py: told",
        "reports/papers/gear/joined_problems.py: odds_ratio(whole)",
        "reports/papers/gear/joined_problems.py: share(whole)",
        "reports/papers/hypobench/baselines.py: beside",
        "reports/papers/hypobench/baselines.py: told",
        "reports/papers/hypobench/entries.py: average(of)",
        "reports/papers/hypobench/entries.py: average(some)",
        "reports/papers/hypobench/entries.py: methods(some)",
        "reports/papers/hypobench/figures.py: points(some)",
        "reports/papers/hypobench/metrics.py: told",
        "reports/papers/hypobench/tables.py: grids(some)",
        "reports/papers/t3/metrics.py: beside",
        "reports/screen/rating.py: print_audit(told)",
        "reports/screen/listings.py: pair_lines(given)",
        "reports/screen/listings.py: print_task(told)",
        "reports/screen/text.py: number_of(what)",
        "reports/screen/training.py: print_pretrained(made)",
        "search/novelty.py: Following.of",
        "search/novelty.py: Following.of(whole)",
        "search/grids/objects/features.py: seen",
        "search/grids/objects/rules.py: rules(seen)",
        "search/lists/entries.py: Integers.enter(made)",
        "search/lists/features.py: feature_text(whole)",
        "search/lists/fingerprints.py: Block.of",
        "search/lists/codegen.py: element(whole)",
        "search/lists/backward_search.py: told",
        "search/logic/features.py: Features.negations(some)",
        "search/logic/features.py: Features.of_neighbours(some)",
        "search/logic/features.py: Features.over(some)",
        "search/logic/features.py: Features.smallest(some)",
        "search/logic/lanes.py: Lanes.some",
        "search/logic/rules.py: narrowed(some)",
        "search/text/atoms.py: fewer(given)",
        "search/text/atoms.py: roundest(whole)",
        "search/text/atoms.py: telling(given)",
        "search/text/significance.py: beside",
        "search/text/covering.py: Covering.of",
        "search/text/covering.py: Covering.worth(some)",
        "search/text/volume.py: Evidence.apart",
        "search/text/volume.py: Evidence.apart(some)",
        "search/text/volume.py: Evidence.beside",
        "store/__init__.py: Store.given",
        "store/answer_summaries.py: given",
        "store/journal.py: SessionJournal.once",
        "tasks/custom/words.py: OwnWords.of",
        "tasks/io/yaml_file.py: Source.error(said)",
        "tasks/io/messages.py: nearest(given)",
        "tasks/io/spaces.py: as_set(said)",
        "tasks/logic/audit/checks.py: Checks.count(of)",
        "tasks/logic/family.py: Logic.said",
        "tasks/logic/family.py: Logic.seen",
        "tasks/logic/family.py: Logic.told",
        "tasks/logic/generation/candidates.py: Source.more",
        "tasks/logic/generation/filters.py: holdout_fault(of)",
        "tasks/logic/generation/filters.py: seen",
        "tasks/logic/generation/instances.py: template_for(made)",
        "tasks/logic/generation/instances.py: tried(made)",
        "tasks/logic/generation/set_files.py: save(some)",
        "tasks/logic/generation/templates.py: some",
        "tasks/logic/problems.py: list_at(said)",
        "tasks/logic/problems.py: object_at(said)",
        "tasks/logic/words.py: LogicWords.of",
        "tasks/programs/acre_scenes.py: some",
        "tasks/programs/acre_scenes.py: some(of)",
        "tasks/programs/family.py: Programs.told",
        "tasks/programs/grid_generator.py: Rule.without",
        "tasks/programs/grid_rules.py: said",
        "tasks/text/family.py: Text.told",
        "tasks/text/generation/admission.py: AdmissionSets.made",
        "tasks/text/generation/admission.py: AdmissionSets.more",
        "tasks/text/generation/admission_rules.py: of",
        "tasks/text/generation/admission_rules.py: whole",
        "tasks/text/generation/applicants.py: Field.told",
        "tasks/text/generation/citations.py: made",
        "tasks/text/generation/marine.py: Marine.made",
        "tasks/text/generation/marine.py: Marine.more",
        "tasks/text/generation/phrases.py: Topic.told",
        "tasks/text/generation/planted.py: Generator.made",
        "tasks/text/generation/planted.py: Generator.more",
        "tasks/text/generation/planted.py: planted(told)",
        "tasks/text/generation/posts.py: Posts.made",
        "tasks/text/generation/posts.py: Posts.more",
        "tasks/text/generation/shoe.py: ShoeSets.made",
        "tasks/text/generation/shoe.py: ShoeSets.more",
        "tasks/text/generation/tree.py: Trees.made",
        "tasks/text/generation/tree.py: Trees.more",
        "tasks/text/generation/topic_draft.py: Draft.told",
        "tasks/text/generation/topic_draft.py: Named.said",
        "tasks/text/generation/topic_draft.py: written_metadata(given)",
        "tasks/text/generation/topic_draft.py: written_metadata(more)",
        "tasks/text/generation/topic_parsers.py: read_forms(said)",
        "tasks/text/generation/topic_parsers.py: read_labels(said)",
        "tasks/text/generation/topic_parsers.py: read_phrases(said)",
        "tasks/text/generation/topic_parsers.py: read_templates(said)",
        "tasks/text/generation/topic_parsers.py: read_types(said)",
        "tasks/text/generation/topic_parsers.py: runs_in(whole)",
        "tasks/text/label_names.py: LabelNames.of",
        "tasks/text/problems.py: label_column(asked)",
        "tasks/text/words.py: TextWords.of",
        "tasks/text/data_set_files.py: save(some)",
        "tasks/text/data_set_files.py: told",
        "tools/discovery/identifiability.py: Pool.of",
        "tools/discovery/overlap.py: whole",
        "tools/gear/novelty.py: Coverage.of",
        "tools/gear/studies.py: context_scores(some)",
        "tools/gear/studies.py: distinct(some)",
        "tools/gear/studies.py: passes(some)",
        "tools/gear/studies.py: survival(some)",
        "tools/logic/completions.py: Completions.some",
        "tools/logic/completions.py: Kleene.some",
        "tools/logic/formula.py: Builder.formula(whole)",
        "tools/logic/z3_solver.py: Folding.some",
        "tools/logic/evaluation.py: Algebra.some",
        "tools/logic/evaluation.py: Truth.some",
        "tools/sentence_rules/cursor.py: Bound.of",
        "tools/sentence_rules/outcomes.py: Outcomes.by_side(said)",
        "tools/sentence_rules/outcomes.py: Outcomes.label(some)",
        "tools/sentence_rules/outcomes.py: Outcomes.split(said)",
        "tools/sentence_rules/outcomes.py: Outcomes.wins(some)",
        "tools/sentence_rules/outcomes.py: trimmed(some)",
        "tools/sentence_rules/prepared_rows.py: Prepared.once",
        "tools/sentence_rules/prepared_rows.py: Prepared.once(what)",
        "tools/sentence_rules/prepared_rows.py: Prepared.without",
        "tools/sentence_rules/prepared_rows.py: TextIndex.occurrences(some)",
        "tools/sentence_rules/quantities.py: some",
        "tools/sentence_rules/sentence_compiler.py: Sentence.rest",
        "tools/sentence_rules/subjects.py: side_of_pair(said)",
        "training/model_cards.py: classifier_card(told)",
        "training/classifier/fitting.py: check_packages(what)",
        "training/classifier/model.py: Course.run(told)",
        "training/classifier/tokens.py: lines(given)",
        "training/dpo/callback.py: Course.saved(told)",
        "training/dpo/callback.py: Guard.note(said)",
        "training/dpo/callback.py: Guard.said",
        "training/dpo/settings.py: TrainConfig.of",
        "training/dpo/trainer.py: make_trainer(told)",
        "training/external_libraries.py: trackers(told)",
        "training/pairs/build_pairs.py: Fits.prompts(asked)",
        "training/pairs/lengths.py: Length.prompts(asked)",
        "training/pairs/lengths.py: ModelText.prompts(asked)",
        "training/pairs/pooling.py: pools(asked)",
        "training/pretrain/measure.py: asked",
        "training/pretrain/measure.py: judged(said)",
        "training/pretrain/measure.py: judged(some)",
        "training/pretrain/measure.py: sampled(some)",
        "training/pretrain/packing.py: Rows.seen",
        "training/splits.py: Splits.of",
    }
)

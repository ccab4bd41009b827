"""Plan a session on labelled text: its settings, its judge, and the papers and banks that it reads.

Everything is checked before a model or the store is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...config import RunConfig, TextConfig, TextSettings
from ...records import (
    Digest,
    Family,
    HasSearch,
    InputSet,
    Json,
    LabelsRows,
    Problem,
    Proposer,
    UsageError,
    digest_of,
)
from ...records.settings import option_name, suggest_name
from ..problems import ChosenProblems
from .bank_files import read_bank
from .settings import (
    JUDGE,
    NAMER,
    SECOND_JUDGE,
    THEN,
    parse_key_values,
    plugin_settings,
    role_settings,
)

# kinds of models that cannot label texts
NON_JUDGE_MODELS = ("search", "cvc5", "pyoperon", "gplearn", "recorded")
REPEATS_OF_A_CASCADE = 3  # default of `repeats` with a second judge
FIRST_ROWS, GROWTH = 200, 4  # rows of the first session of a learning curve, and their growth
LISTED_ROWS = 200  # rows in the prompt of the embedded search, which reads the rows themselves
# fields of `config.TextConfig` that are no text settings
INPUT_OPTIONS = ("literature", "bank", "method_arg")


def add_judge(config: RunConfig, family: Family) -> RunConfig:
    """Return the configuration, with the second proposer as the judge if the first one cannot judge.

    Otherwise nobody could judge the second proposer's sentences, because the proposer is the judge
    by default. The judge has the second proposer's settings, and its own take precedence. The
    configuration is unchanged if it names a judge or `judge` is "exact", if there is no second
    proposer that can judge, and for other families than labelled text.

    Raises:
        UsageError: a role or a setting is invalid.
    """
    if not isinstance(family, LabelsRows):
        return config
    text = {**parse_key_values(config.text.method_arg), **config.text.explicit_values()}
    if text.get("judge") == "exact":
        return config
    roles = role_settings(config.roles)
    second = roles.get(THEN, {}).get("model")
    if _can_judge(config.model.model, roles) or not second or not is_language_model(second):
        return config
    own = roles.get(JUDGE, {})
    if own.get("model"):
        return config
    judge = {**roles[THEN], **own, "model": second}
    named = config.roles.model_copy(update={"roles": {**(config.roles.roles or {}), JUDGE: judge}})
    return config.model_copy(update={"roles": named})


def text_record(
    config: RunConfig, family: Family, problem: Problem, roles: Mapping[str, Mapping[str, Json]]
) -> dict[str, Json]:
    """Return the settings of labelled text that a session records, or {} for other families.

    Args:
        config: the configuration of the run.
        family: the family of the task.
        problem: the first problem.
        roles: settings of the roles, as `role_settings` returns them.

    Returns:
        {"text": settings, "text_prompt": a hash of the wording of the prompts}.

    Raises:
        UsageError: a setting is only for labelled text, or the method needs a model that labels
            texts.
    """
    from ... import graphs
    from ...agents.prompts.judge_batches import batch_prompt_hash
    from ...graphs.inference import STRATEGIES

    given = {
        name: one for name, one in config.text.explicit_values().items() if one not in ((), [], {})
    }
    if not isinstance(family, LabelsRows):
        if given:
            _refuse(*next(iter(given.items())), config.method.method, family)
        return {}
    model = config.model.model
    chosen = graphs.find_method(config.method.method, family.name)
    told = {name: value for name, value in given.items() if name not in INPUT_OPTIONS}
    if told.get("examples") == "all":
        told["examples"] = None
    arguments = parse_key_values(config.text.method_arg)
    judged = _can_judge(model, roles)
    whole = {**chosen.text, **_of_model(model, judged, chosen.text), **arguments, **told}
    if not judged:
        if whole.get("judge") == "model" or "judge" in chosen.reads:
            raise UsageError(
                f"method {chosen.name} asks a model about texts, but model {model} cannot answer"
                " such questions: choose a language model with --model or --judge-model"
            )
        whole["judge"] = "exact"
    if SECOND_JUDGE in roles:
        _check_second_judge(roles, whole, chosen.text.get("inference", ""), chosen.name)
        whole.setdefault("repeats", REPEATS_OF_A_CASCADE)
    settings = TextSettings(**whole)
    _check_batches(settings, problem)
    reading = settings.inference
    if reading is not None and reading not in (*STRATEGIES, "choose"):
        raise UsageError(
            f"inference is {reading!r}: it must be one of {', '.join((*STRATEGIES, 'choose'))}"
        )
    prompt = _prompt_hash(settings.prompts, problem)
    if settings.judge_batch > 1:
        prompt = digest_of([prompt, batch_prompt_hash()])
    return {"text": settings.to_dict(), "text_prompt": prompt}


def _check_second_judge(
    roles: Mapping[str, Mapping[str, Json]], text: Mapping[str, Json], reading: Json, method: str
) -> None:
    """Raise UsageError if a session cannot use its second judge.

    Args:
        roles: settings of the roles.
        text: settings of labelled text.
        reading: the inference that the method sets; None for a method that judges no sentences.
        method: name of the method.
    """
    second = roles[SECOND_JUDGE].get("model")
    if not second:
        raise UsageError(f"role {SECOND_JUDGE} has no model: choose one with --judge-then")
    if not is_language_model(second):
        raise UsageError(
            f"judge_then is {second!r}, which cannot label texts: choose a language model"
        )
    if reading is None:
        raise UsageError(
            f"judge_then is {second!r}: method {method} labels rows without sentences, so there is"
            " nothing to judge a second time"
        )
    if text.get("judge") == "exact":
        raise UsageError(
            f"judge_then is {second!r}, but no first judge labels texts: choose one with"
            " --judge-model, and omit --judge exact"
        )
    if (repeats := text.get("repeats")) is not None and repeats == 1:
        raise UsageError(
            f"judge_then needs repeats of at least 2, and repeats is {repeats!r}: the second judge"
            " is asked where the answers of the first one differ"
        )


def _check_batches(settings: TextSettings, problem: Problem) -> None:
    """Raise UsageError if the data set's own prompt about one text would be needed for a batch."""
    if settings.judge_batch > 1 and settings.prompts == "config":
        templates = problem.public.get("templates") or {}
        if templates.get("inference"):
            raise UsageError(
                f"judge_batch is {settings.judge_batch}: the data set's own prompt asks about one"
                " text at a time; omit --judge-batch, or use --prompts own"
            )


def _refuse(name: str, value: Json, method: str, family: Family) -> None:
    """Raise UsageError for a setting of labelled text on a task of another family."""
    from ...graphs import methods_taking

    able = methods_taking(name)
    if method in able:
        raise UsageError(
            f"{name} is {value} in the settings of labelled text, but for {method} it is a"
            " setting of the method"
        )
    if able:
        raise UsageError(
            f"{name} is {value}: method {method} does not take it; {', '.join(able)} and methods"
            " that pass through the rows of labelled text do"
        )
    if name == "method_arg" and (own := plugin_settings(method)):
        unknown = next(iter(parse_key_values(value, "--method-arg")))
        raise UsageError(f"method {method} has no setting {unknown!r}{suggest_name(unknown, own)}")
    option = option_name(name, TextConfig.model_fields[name]).replace("_", "-")
    raise UsageError(
        f"{option} is {value!r}: only tasks with labelled text take it, such as labels;"
        f" {family.name} tasks do not"
    )


def _prompt_hash(source: str, problem: Problem) -> Digest:
    """Return the hash of the default prompts, or of the data set's own prompts.

    Raises:
        DataError: a template of the data set cannot be filled.
    """
    from ...agents.prompts.config_prompts import ConfigPrompts
    from ...agents.prompts.text import text_prompt_hash

    prompts = ConfigPrompts.for_problem(problem.public) if source == "config" else None
    return prompts.digest() if isinstance(prompts, ConfigPrompts) else text_prompt_hash()


def _of_model(model: str | Proposer, judged: bool, own: Mapping[str, Json]) -> dict[str, Json]:
    """Return the defaults of the embedded search, which differ from those of language models.

    It reads every row of the sample at once, without a prompt, and answers with a full bank whose
    sentences are made for weighted inference. The default inference is left as it is where a model judges, because
    weighting would cost a call for each sentence and row, and where the method sets one itself.

    Args:
        model: the proposer.
        judged: whether a model can label texts.
        own: text settings of the method.
    """
    if not isinstance(model, str) or model.partition(":")[0] != "search":
        return {}
    reading = {} if judged or "inference" in own else {"inference": "weighted"}
    return {"examples": None, "hypotheses": 20, "listed_rows": LISTED_ROWS, **reading}


def default_observations(task: str, config: RunConfig) -> int | None:
    """Return how many observations of a problem a session shows; None for the number of the task.

    The embedded search sees more rows than a language model, unless the user sets a number of
    observations or of examples, or a language model plays a role of the session.

    Args:
        task: name of the task, or path of a task file.
        config: the configuration of the run.

    Raises:
        UsageError: there is no such task, or a role is invalid.
    """
    from ...tasks import load_family, load_task

    model, data = config.model.model, config.data
    if not isinstance(model, str) or model.partition(":")[0] != "search":
        return None
    if data.observations is not None:
        return None
    family = load_family(load_task(task).family)
    if not isinstance(family, HasSearch) or family.search_style.observations is None:
        return None
    roles = role_settings(config.roles)
    asks = any(
        is_language_model(one.get("model") or model) for role, one in roles.items() if role != NAMER
    )
    examples = config.text.explicit_values().get("examples")
    return None if asks or isinstance(examples, int) else family.search_style.observations


def _can_judge(model: str | Proposer, roles: Mapping[str, Mapping[str, Json]]) -> bool:
    return is_language_model(roles.get(JUDGE, {}).get("model") or model)


def is_language_model(spec: str | Proposer) -> bool:
    """Return whether a model can answer a question in prose."""
    return not isinstance(spec, str) or spec.partition(":")[0] not in NON_JUDGE_MODELS


def add_papers_and_banks(
    chosen: ChosenProblems, method: str, config: TextConfig, store: Path, skip_bad: bool
) -> tuple[ChosenProblems, dict[str, Json]]:
    """Return the problems with the papers and banks that the method reads.

    Args:
        chosen: the problems.
        method: name of the method.
        config: the settings that name the papers and banks.
        store: path of the store.
        skip_bad: whether to leave out papers that cannot be read.

    Returns:
        The problems, and the sources of the papers and banks as a session records them.

    Raises:
        UsageError: papers or banks are missing, or the method does not read them.
        DataError: a file is invalid.
        StoreError: the store cannot be read.
    """
    from ... import graphs
    from ...tasks import load_family

    if not isinstance(load_family(chosen.task.family), LabelsRows):
        return chosen, {}
    reads = graphs.find_method(method, chosen.task.family).reads
    literature, banks = config.literature, tuple(config.bank)
    if method == "union" and not literature and len(banks) < 2:
        raise UsageError(
            "method union needs two banks (--bank DATA --bank LITERATURE), or --literature DIR"
            " to build both itself"
        )
    _check(method, "literature", literature, reads, "--literature DIR")
    _check(method, "bank", banks, reads, "--bank SESSION or --bank FILE")
    beside: dict[str, Json] = {}
    public: dict[str, Json] = {}
    if literature:
        from ...tasks.io.bad_records import skip_bad_records
        from ...tasks.text.papers import data_identity, read_papers

        with skip_bad_records(skip_bad):
            papers = read_papers(literature)
        public["papers"] = [
            {"source": one.source, "title": one.title, "text": one.text} for one in papers
        ]
        beside["literature"] = data_identity(literature)
    if not banks:
        return _enlarged(chosen, public, {}), beside
    read = [read_bank(one, store) for one in banks]
    beside["bank"] = [one.source for one in read]
    by_problem = {
        problem.id: [one.find_rows(problem) for one in read] for problem in chosen.problems
    }
    return _enlarged(chosen, public, by_problem), beside


def _check(method: str, name: str, value: Any, reads: frozenset[str], how: str) -> None:
    from ... import graphs

    if value and name not in reads:
        able = [one.name for one in graphs.all_methods().values() if name in one.reads]
        raise UsageError(
            f"method {method} does not use --{name}: omit it, or use one of the methods"
            f" {', '.join(able)}"
        )
    if not value and name in reads and name not in graphs.get_method(method).optional:
        raise UsageError(f"method {method} needs {name}: use {how}")


def _enlarged(
    chosen: ChosenProblems, public: Mapping[str, Json], banks: Mapping[str, Sequence[Json]]
) -> ChosenProblems:
    def enlarged(problem: Problem) -> Problem:
        more = {**public, **({"banks": banks[problem.id]} if problem.id in banks else {})}
        return replace(problem, public={**problem.public, **more}) if more else problem

    pairs: list[tuple[Problem, InputSet]] = [(enlarged(one), space) for one, space in chosen.pairs]
    return replace(chosen, pairs=tuple(pairs))


# --- The learning curve of a session (learning_curve.py).


def curve_sizes(shown: int) -> list[int]:
    """Return the numbers of rows of the smaller sessions, such as 200, 800 and 3,200.

    The last one is at most two thirds of the shown rows.

    Args:
        shown: the number of shown rows.
    """
    sizes = []
    rows = FIRST_ROWS
    while 3 * rows <= 2 * shown:
        sizes.append(rows)
        rows *= GROWTH
    return sizes


def check_curve(family: Family, method: str, problems: Sequence[Problem]) -> None:
    """Raise UsageError if a session cannot have a learning curve."""
    if not isinstance(family, LabelsRows):
        raise UsageError(
            f"--learning-curve needs labelled rows, as task labels has them: {family.name} tasks have"
            " none"
        )
    if method == "imported":
        raise UsageError(
            "--learning-curve needs a method that asks a model: imported answers do not depend on the"
            " number of rows"
        )
    shown = min(len(one.shown) for one in problems)
    if not curve_sizes(shown):
        raise UsageError(
            f"--learning-curve needs at least {3 * FIRST_ROWS // 2} shown rows, and {shown:,} are shown:"
            " show more with --observations, if the data has more"
        )

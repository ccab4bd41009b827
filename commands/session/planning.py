"""Plan a run, and check the plan before a model, a sandbox or a store is opened.

`run` executes the plan. A dry run (`forecast`) counts the calls that the plan needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ...config import (
    MAX_CONCURRENCY,
    ClusterConfig,
    MethodSettings,
    ModelConfig,
    RepairSettings,
    RunConfig,
    SandboxConfig,
)
from ...records import (
    PRICES,
    Family,
    HasSearch,
    Json,
    Limits,
    MeasuresHypotheses,
    Proposer,
    Repairer,
    SetsMethodDefaults,
    UsageError,
    registry,
)
from ..outcome import store_path
from ..problems import ChosenProblems, choose_problems, has_labelled_text
from .protocols import check_protocol, chosen_method, describe_protocol, protocol_advice
from .settings import (
    NAMER,
    OPTIONAL_ROLES,
    SECOND_JUDGE,
    SEEDER,
    THEN,
    check_choice,
    describe_spending,
    model_options,
    parse_key_values,
    role_settings,
    version_record,
)
from .text_planning import (
    add_judge,
    add_papers_and_banks,
    check_curve,
    default_observations,
    is_language_model,
    text_record,
)

OnEvent: TypeAlias = Callable[[Mapping[str, Json]], None]

DEFAULT_CONCURRENCY = 8  # problems that run at the same time
REPAIRERS = ("search",)  # values of --repair, each also with a preset, as in search:PRESET
# The fields of `ModelConfig` that are settings of the model itself.
MODEL_SETTING_FIELDS = tuple(
    name for name in ModelConfig.model_fields if name not in ("model", "model_arg")
)


@dataclass(frozen=True)
class RunPlan:
    """Everything that a session needs before it starts: problems, method, models and settings.

    Args:
        chosen: the problems of the session.
        config: the requested configuration.
        settings: the settings that the session will record. The settings that the opened model,
            repairer and sandbox report are added later.
        operational: data that the session will record outside its digest.
    """

    chosen: ChosenProblems
    config: RunConfig
    settings: dict[str, Json]
    operational: dict[str, Json]

    @property
    def model(self) -> str | Proposer:
        """The model string or model object of the proposer."""
        return self.config.model.model

    @property
    def repair(self) -> str | Repairer | None:
        """The model string or object of the repairer; None if the session has no repairer."""
        return get_repairer(self.config.method)


def plan_run(
    task: str,
    config: RunConfig,
    chosen: ChosenProblems | None = None,
    on_event: OnEvent | None = None,
) -> RunPlan:
    """Return the plan of a run, and check it without opening anything.

    Args:
        task: name of a task, or path of a task file.
        config: the configuration of the session.
        chosen: the problems; None to load the problems that `config` selects.
        on_event: called with an event before and after labelled rows are read.

    Raises:
        UsageError: a setting is invalid or does not fit the task, the method or another setting.
        DataError: the data is invalid.
    """
    from ... import graphs
    from ...sandbox import check_backend
    from ...tasks import load_task, problem_family

    role_settings(config.roles)
    describe_spending(config)  # an error comes before anything is opened
    if config.protocol.protocol is not None:
        # Options of the protocol that do not fit the task would be refused in other words.
        check_protocol(config.protocol.protocol, load_task(task).family)
    chosen = chosen or _choose(task, config, on_event or (lambda event: None))
    problem = chosen.problems[0]
    family = problem_family(problem)
    config = add_judge(config, family)
    others = role_settings(config.roles)
    store = store_path(config.store.store)
    model, method = config.model.model, config.method.method
    opening = opening_settings(config.model)
    if opening and not isinstance(model, str):
        raise UsageError(f"a proposer object has its own settings: omit {', '.join(opening)}")
    if method == "imported" and isinstance(model, str) and not model.startswith("recorded:"):
        raise UsageError(
            f"method imported judges recorded answers: model must be recorded:FILE, not {model!r}"
        )
    if config.data.learning_curve:
        check_curve(family, method, chosen.problems)
    settings = {
        "task": chosen.task.name,
        "family": family.name,
        **method_record(config.method, family),
        **version_record(problem, family, config.method),
        "seed": config.data.seed,
        **text_record(config, family, problem, others),
        "limits": asdict(Limits()),
    }
    chosen, beside = add_papers_and_banks(chosen, method, config.text, store, config.data.skip_bad)
    if "text" in settings and graphs.get_method(method).asks:
        from .text_forecast import check_prompt

        check_prompt(chosen.problems, settings, opening)
    repair = get_repairer(config.method)
    _check_repair(repair, family)
    check_backend(config.sandbox.sandbox)
    if config.sandbox.solver != SandboxConfig().solver:
        from ...tools.solve import check_solver

        check_solver(config.sandbox.solver)
    operational: dict[str, Json] = {
        "config": config.to_record(),
        "model": model if isinstance(model, str) else None,
        "model_options": opening,
        "roles": others,
        "players": _players(settings, model, opening, others) | _seeder(config, family),
        "sandbox": config.sandbox.sandbox,
        "store": str(store),
        **_protocol_record(config),
        **chosen.sources,
        **beside,
    }
    _check_ask_human(settings, operational)
    return RunPlan(chosen, config, settings, operational)


def _check_ask_human(settings: Mapping[str, Json], operational: Mapping[str, Json]) -> None:
    """Raise UsageError if a session may ask a person, but no model of it would read the answer."""
    if settings.get("ask_human") and (why := describe_unread_hints(operational)):
        raise UsageError(f"ask_human is true: {why} Choose another model, or omit it")


def describe_unread_hints(operational: Mapping[str, Json]) -> str:
    """Return a sentence if no model that proposes hypotheses reads hints; otherwise "".

    Args:
        operational: what the session records outside its digest.
    """
    model = operational.get("model")
    second = ((operational.get("players") or {}).get(THEN) or [None])[0]
    if not isinstance(model, str) or is_language_model(model):
        return ""
    if second is not None and is_language_model(second):
        return ""
    name = "the embedded search" if model.partition(":")[0] == REPAIRERS[0] else model
    return f"Hypotheses come from {name}, which does not read hints."


def _protocol_record(config: RunConfig) -> dict[str, Json]:
    """Return {"protocol": what the session records about its protocol}; empty without a protocol."""
    described = describe_protocol(config)
    if described is None:
        return {}
    advice = protocol_advice(config)
    return {"protocol": described | ({"advice": advice} if advice else {})}


def _choose(task: str, config: RunConfig, emit: OnEvent) -> ChosenProblems:
    """Return the problems that `config` selects, with events about the reading of labelled rows."""
    default = default_observations(task, config)
    if not isinstance(config.data.data, str | Path) or not has_labelled_text(task):
        return choose_problems(task, config.data, default)
    emit({"type": "reading", "data": str(config.data.data)})
    start = time.monotonic()
    chosen = choose_problems(task, config.data, default)
    rows = sum(
        one.secret.get("training_rows", len(one.shown)) + len(one.hidden) for one in chosen.problems
    )
    emit({"type": "read", "rows": rows, "seconds": time.monotonic() - start})
    return chosen


def method_record(method: MethodSettings, family: Family) -> dict[str, Json]:
    """Return the settings of a method that a session on this family records.

    A setting that the user set takes precedence over the family's default, which takes precedence
    over the method's default.

    Raises:
        UsageError: a setting does not fit the method or the family.
    """
    from ... import graphs

    graphs.find_method(method.method, family.name)
    given = method.model_fields_set
    form = method.answer_format or family.answer_formats[0]
    check_choice("answer_format", form, family.answer_formats)
    record = method.model_dump(exclude={"repair"}) | {"answer_format": form}
    own = family.method_settings if isinstance(family, SetsMethodDefaults) else {}
    of_family = own.get(method.method, {})
    record |= {name: value for name, value in of_family.items() if name not in given}
    if method.template == "full":
        del record["template"]  # the default template is not recorded
    elif "tool_calls" not in given:
        record["tool_calls"] = 0  # the compact prompts do not mention tools
    if record["fit"] == type(method).model_fields["fit"].default:
        del record["fit"]
    if "history_limit" not in given and record["max_answers"] <= record["history_limit"]:
        del record["history_limit"]  # no prompt lists more answers
    if not record.get("ask_human"):
        record.pop("ask_human", None)
    if not record.get("seed_hypotheses"):  # sessions without seeds record what they did before
        record.pop("seed_hypotheses", None)
    if "target_gap" in record and not isinstance(family, MeasuresHypotheses):
        if "target_gap" in given:
            raise UsageError(
                f"target_gap is {record['target_gap']}: it only applies to rules about worlds;"
                f" {family.name} tasks end at the first hypothesis that is correct on all shown"
                " observations"
            )
        del record["target_gap"]
    return {name: value for name, value in record.items() if value is not None}


def check_method(task: str, method: object) -> None:
    """Raise UsageError if a method is unknown. The message names the methods that work on the task.

    If the method is known, the task is not checked.
    """
    if isinstance(method, str) and not registry.is_registered("methods", method):
        from ... import graphs
        from ...tasks import load_task as task_named

        graphs.find_method(method, task_named(task).family)


def drop_unsupported_options(
    options: Mapping[str, Any], inherited: Collection[str]
) -> dict[str, Any]:
    """Return `options` without inherited options that the method does not take.

    Options are inherited from the configuration file and the environment, where they may be meant
    for another method.

    Args:
        options: all options by name.
        inherited: names of the options that come from the configuration file or the environment.

    Raises:
        UsageError: the method is unknown.
    """
    from ... import graphs

    of_method = graphs.settings_of(chosen_method(None, options))
    parts = [part for part in RunConfig.part_classes().values() if part is not MethodSettings]
    taken = {name for part in (of_method, *parts) for name, _, _ in part.iter_options()}
    return {key: one for key, one in options.items() if key not in inherited or key in taken}


def get_repairer(method: MethodSettings) -> str | Repairer | None:
    """Return the model string or object that repairs answers, or None if the method does not
    repair.
    """
    return method.repair if isinstance(method, RepairSettings) else None


def _check_repair(repair: str | Repairer | None, family: Family) -> None:
    """Raise UsageError for an unknown repairer, and for a family that it cannot repair."""
    if not isinstance(repair, str):
        return
    if repair.partition(":")[0] not in REPAIRERS:
        raise UsageError(f"repair is {repair!r}: it must be one of {', '.join(REPAIRERS)}")
    if not (isinstance(family, HasSearch) and family.search_style.repairs):
        raise UsageError(
            f"repair is {repair!r}: the search repairs programs and the rules of abd, not the"
            f" hypotheses of {family.name}"
        )


def _seeder(config: RunConfig, family: Family) -> dict[str, Json]:
    """Return [model, its options] of the search that gives hypotheses before the first request.

    It is the search that `repair` names, if it names one.

    Raises:
        UsageError: there is no search for this family, or the model itself is the search.
    """
    method = config.method
    count = method.seed_hypotheses if isinstance(method, RepairSettings) else 0
    if not count:
        return {}
    if not isinstance(family, HasSearch):
        raise UsageError(f"seed_hypotheses is {count}: search knows no {family.name} tasks")
    model, repair = config.model.model, get_repairer(method)
    if isinstance(model, str) and model.partition(":")[0] in REPAIRERS:
        raise UsageError(
            f"seed_hypotheses is {count}, and model is {model!r}, which is the search itself: omit"
            " seed_hypotheses, or choose another model"
        )
    spec = repair if isinstance(repair, str) else REPAIRERS[0]
    return {SEEDER: [spec, worker_options(config.cluster)]}


def opening_settings(config: ModelConfig, cluster: ClusterConfig | None = None) -> dict[str, Json]:
    """Return the settings with which a model is opened.

    Args:
        config: the settings of the model.
        cluster: the settings of parallel work. The built-in search receives its number of workers.
    """
    own: dict[str, Any] = {name: getattr(config, name) for name in MODEL_SETTING_FIELDS}
    options = model_options(config.model, parse_key_values(config.model_arg), own)
    search = isinstance(config.model, str) and config.model.partition(":")[0] == "search"
    return options | (worker_options(cluster) if search and cluster is not None else {})


def worker_options(cluster: ClusterConfig) -> dict[str, Json]:
    """Return the option that sets the number of workers; empty if no number is set."""
    return {} if cluster.workers is None else {"workers": cluster.workers}


def default_concurrency(model_settings: Json) -> int:
    """Return the default number of problems that run at the same time.

    For a model in this process, the number is one and a half times the model's batch size, because
    some problems are being judged while others wait for the model. For a model on several servers,
    it is multiplied by their number. With batch files, all problems run.

    Args:
        model_settings: what the opened model reports about itself.
    """
    if not runs_in_process(model_settings):
        if waits_for_batches(model_settings):
            return MAX_CONCURRENCY  # every problem's request belongs into the same batch
        transport = (model_settings or {}).get("transport") or {}
        servers: int = transport.get("servers", 1)
        return min(MAX_CONCURRENCY, DEFAULT_CONCURRENCY * servers)
    batch: int = model_settings["transport"]["batch"]
    return max(DEFAULT_CONCURRENCY, batch + batch // 2)


def waits_for_batches(model_settings: Json) -> bool:
    """Return whether a model is asked by batch files, whose answers may take hours.

    Args:
        model_settings: what the opened model reports about itself.
    """
    told = model_settings if isinstance(model_settings, Mapping) else {}
    return bool((told.get("transport") or {}).get("batch_files"))


def runs_in_process(model_settings: Json) -> bool:
    """Return whether a model is a language model that runs in this process.

    Args:
        model_settings: what the opened model reports about itself (agents/local/proposer.py).
    """
    return isinstance(model_settings, Mapping) and model_settings.get("endpoint") == "local"


def _players(
    settings: Mapping[str, Json],
    model: str | Proposer,
    opening: Mapping[str, Json],
    others: Mapping[str, Mapping[str, Json]],
) -> dict[str, Json]:
    """Return [model, its options] for each role that is configured and that the method may call."""
    found: dict[str, Json] = {}
    of_text = ("judge", SECOND_JUDGE, "literature", NAMER)
    for role in (*of_text, THEN) if "text" in settings else (THEN,):
        prices = others.get(role, {}).keys() & set(PRICES)
        told = {key: one for key, one in others.get(role, {}).items() if key not in prices}
        if not told:
            if prices and role in OPTIONAL_ROLES:
                raise UsageError(
                    f"{role}.{min(prices)} is a price, but the session has no model in the role {role}"
                )
            continue
        spec = told.pop("model", None) or model
        if not isinstance(spec, str):
            raise UsageError(
                f"role {role}: choose its model explicitly, because the proposer is an object"
            )
        if role == NAMER and not is_language_model(spec):
            raise UsageError(
                f"namer-model is {spec!r}, which cannot name themes: choose a language model"
            )
        if role == THEN:
            _check_hands_over(settings["method"], spec)
        arguments = parse_key_values(told.pop("model_arg", None) or ())
        if spec == model:
            told = {**{k: v for k, v in opening.items() if k != "model_args"}, **told}
            arguments = {**opening.get("model_args", {}), **arguments}
        found[role] = [spec, model_options(spec, arguments, told)]
    return found


def _check_hands_over(method: str, spec: str) -> None:
    """Raise UsageError for a method whose problems no second proposer can continue."""
    from ... import graphs

    if not graphs.get_method(method).hands_over:
        able = [name for name, one in graphs.all_methods().items() if one.hands_over]
        raise UsageError(
            f"then is {spec!r}: method {method} takes no second proposer; {', '.join(able)} do"
        )

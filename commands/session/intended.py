"""What a run is asked to do, checked before a model, a sandbox or a store is opened: `run` goes on
from here, and a dry run (`forecast`) counts from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from ...records import Json, Limits, Proposer, Repairer, UsageError
from ..outcome import store_path
from ..problems import Chosen, choose
from .methods import check_repair, course_of
from .roles import PRICES, model_options, role_settings
from .settings import course, given, model_args_of, spending_of
from .text_course import text_course, with_reading

FULL = "full"  # the template that needs no word in a session's settings
CONCURRENCY = 8  # problems side by side
OF_METHOD = ("max_answers", "tool_calls", "feedback", "target_gap", "repair", "template",
             "rounds")  # fmt: skip
OF_MODEL = ("temperature", "top_p", "max_tokens", "reasoning_effort", "timeout_s", "retries",
            "budget_expansions", "preset")  # fmt: skip
OF_SPENDING = ("budget_tokens", "budget_usd", "price_in", "price_out", "price_cached",
               "max_failures")  # fmt: skip


@dataclass(frozen=True)
class Intended:
    """settings, operational: as the session will record them, but for what the opened model,
    repairer and sandbox say of themselves."""

    chosen: Chosen
    model: str | Proposer
    repair: str | Repairer | None
    settings: dict[str, Json]
    operational: dict[str, Json]


def intended(task: str, options: Mapping[str, Json]) -> Intended:
    """options: all of `run`'s, of the declared kinds (`arguments.checked`). Raises UsageError and
    DataError for what cannot be, before anything is opened."""
    from ...sandbox import check_backend
    from ...tasks import family_of
    from ...tools.solve import check_solver

    named = ("data", "problems", "problem", "sample", "observations", "space", "seed", "label",
             "ood", "subset", "split_seed", "fractions", "fixed")  # fmt: skip
    chosen = choose(task, **{name: options[name] for name in named})
    store = store_path(options["store"])
    model, method = options["model"], options["method"]
    own = {name: options[name] for name in OF_MODEL}
    opening = model_options(model, model_args_of(options["model_arg"]), own)
    others = role_settings(options["roles"] or {}, {}, ())
    if opening and not isinstance(model, str):
        raise UsageError(
            f"a proposer object brings its own settings: leave out {', '.join(opening)}"
        )
    if method == "imported" and isinstance(model, str) and not model.startswith("recorded:"):
        raise UsageError(
            f"method imported reads a record: model must be recorded:FILE, not {model!r}"
        )
    family = family_of(chosen.problems[0])
    template = options["template"] or FULL
    words = (options["answer_format"], options["history"], template)
    options = {**options, "template": None if template == FULL else template}
    settings = course(chosen, method, *words) | {
        "seed": options["seed"],
        "strict_contract": options["strict_contract"],
        **course_of(method, family, {name: options[name] for name in OF_METHOD}),
        **text_course(method, family, chosen.problems[0], model, options),
        "limits": asdict(Limits()),
    }
    chosen, beside = with_reading(chosen, method, options, store)
    if "text" in settings and method != "imported":
        from .text_forecast import check_prompt

        check_prompt(chosen.problems, settings, opening)
    check_repair(options["repair"], family)
    limits = spending_of(**{name: options[name] for name in OF_SPENDING})
    check_backend(options["sandbox"])
    check_solver(options["solver"])
    operational: dict[str, Json] = {
        "model": model if isinstance(model, str) else None,
        "model_options": opening,
        **given(repair=options["repair"] if isinstance(options["repair"], str) else None),
        "roles": others,
        "players": _players(settings, model, opening, others),
        "sandbox": options["sandbox"],
        "strict_sandbox": options["strict_sandbox"],
        "workers": options["workers"],
        "solver": options["solver"],
        "concurrency": options["concurrency"],  # None: `side_by_side`, once the model is open
        "cache": options["cache"],
        "store": str(store),
        "spending": limits,
        **chosen.sources,
        **beside,
    }
    return Intended(chosen, model, options["repair"], settings, operational)


def side_by_side(model_settings: Json) -> int:
    """How many problems run side by side where nobody says: of a model in this process half as many
    again as it answers at once, as the others are being judged."""
    if not in_process(model_settings):
        return CONCURRENCY
    batch: int = model_settings["transport"]["batch"]
    return max(CONCURRENCY, batch + batch // 2)


def in_process(model_settings: Json) -> bool:
    """Whether this is a language model that runs here (agents/local.py)."""
    return isinstance(model_settings, Mapping) and model_settings.get("endpoint") == "local"


def _players(
    settings: Mapping[str, Json],
    model: str | Proposer,
    opening: Mapping[str, Json],
    others: Mapping[str, Mapping[str, Json]],
) -> dict[str, Json]:
    """Of the roles that the session's method asks and that are set up apart: [model, its options]."""
    if "text" not in settings:
        return {}
    found: dict[str, Json] = {}
    for role in ("judge", "literature"):
        told = dict(others.get(role, {}))
        if not told:
            continue
        spec = told.pop("model", None) or model
        if not isinstance(spec, str):
            raise UsageError(f"role {role}: name its model, for the proposer is an object")
        arguments = model_args_of(told.pop("model_arg", None) or ())
        own = {key: value for key, value in told.items() if key not in PRICES}
        if spec == model:
            own = {**{k: v for k, v in opening.items() if k != "model_args"}, **own}
            arguments = {**opening.get("model_args", {}), **arguments}
        found[role] = [spec, model_options(spec, arguments, own)]
    return found

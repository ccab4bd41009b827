"""Write the reference of settings and metrics from the code: `python docs/generate_reference.py`.

docs/reference/configuration.md has the settings of config/, of the methods, of the kinds of models and of
trainings; docs/reference/metrics.md has the metrics of all evaluations. Each page is an introduction, which is
kept here, and tables. tests/docs/test_reference.py compares the pages with the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from peirce.agents.cvc5 import Cvc5Settings
from peirce.agents.endpoint.settings import ChatSettings
from peirce.agents.local.settings import LocalSettings
from peirce.agents.model_settings import ModelSettings
from peirce.agents.recorded import RecordedSettings
from peirce.agents.regression import RegressionSettings
from peirce.agents.search_model import SearchSettings
from peirce.commands.reproduce.settings import CostAssumptions, ReproductionConfig
from peirce.config import MethodSettings, RaterConfig, RunConfig
from peirce.graphs import all_methods
from peirce.records.settings import Settings
from peirce.reports import evaluations
from peirce.training.classifier.settings import ClassifierSettings
from peirce.training.dpo.settings import TrainConfig
from peirce.training.pairs.settings import PairsConfig
from peirce.training.pretrain.settings import PretrainSettings

REFERENCE = Path(__file__).resolve().parent / "reference"
MODELS: dict[str, type[ModelSettings]] = {
    "a model behind an endpoint (`openai:NAME` and other providers, `http://…/v1#NAME`)": ChatSettings,
    "a model in this process (`hf:FOLDER`)": LocalSettings,
    "the embedded search (`search`)": SearchSettings,
    "cvc5 (`cvc5`)": Cvc5Settings,
    "packages for symbolic regression (`pyoperon`, `gplearn`)": RegressionSettings,
    "recorded answers (`recorded:FILE`)": RecordedSettings,
}
TRAININGS: dict[str, type[Settings]] = {
    "DPO": TrainConfig,
    "classifiers of labelled text": ClassifierSettings,
}
CONFIGURATION = """# All settings

This page lists every setting with its default. It is written from the code by
`python docs/generate_reference.py`.

A setting of a session has one name everywhere. For example, the temperature of the model is

- the flag `--temperature` of `peirce run`,
- the variable `PEIRCE_TEMPERATURE` in the environment,
- the key `temperature` in `peirce.toml`,
- the keyword `temperature` of `peirce.run` in Python.

A flag overrides the environment, and the environment overrides `peirce.toml`. An unknown name and a value of
the wrong type are refused. [The command line](command-line.md#settings) says where `peirce.toml` is found.
"""
METRICS = """# All metrics

This page lists every metric that `peirce eval` computes. It is written from the code by
`python docs/generate_reference.py`. An arrow shows which direction is better. The screen shows the most
important metrics of an evaluation; `--all-metrics` shows all of them, and `--json` always has all.

S is the sample space: the inputs on which hypotheses are compared.
[Reading the results](../how-to/read-results.md) explains intervals, and the pages on
[GEAR](../explanation/gear.md), [exception rules](../explanation/exception-rules.md) and
[labelled text](../explanation/discovery.md) define the metrics.
"""


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(cell, row))} |" for row in lines) + "\n"


def default_text(value: Any) -> str:
    """Return a default as a reader would type it; an empty string for none."""
    if value is None or value == () or value == {} or value == "" or "Undefined" in repr(value):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def session_rows(
    part: type[Settings], leave_out: frozenset[str] = frozenset()
) -> Iterator[list[str]]:
    for option, _, field in part.iter_options():
        if option not in leave_out:
            yield [f"`{option}`", default_text(field.default), field.description or ""]


def field_rows(part: type[Settings]) -> Iterator[list[str]]:
    for name, field in part.model_fields.items():
        if name != "model":
            yield [f"`{name}`", default_text(field.default), field.description or ""]


def method_rows() -> Iterator[list[str]]:
    """What the methods add to the settings that all of them have, or set to another default."""
    common = {option: field.default for option, _, field in MethodSettings.iter_options()}
    for name, method in sorted(all_methods().items()):
        for option, _, field in method.settings.iter_options():
            if option not in common or (field.default != common[option] and option != "method"):
                yield [
                    f"`{name}`",
                    f"`{option}`",
                    default_text(field.default),
                    field.description or "",
                ]


def configuration_page() -> str:
    head = ["setting", "default", "meaning"]
    sections: dict[str, list[list[str]]] = {}
    for part in RunConfig.part_classes().values():
        sections.setdefault(part.panel, []).extend(session_rows(part))
    text = [CONFIGURATION]
    text += [f"## {title}\n\n{table(head, rows)}" for title, rows in sections.items()]
    text.append(
        "## Methods\n\nA method may add settings and may have other defaults.\n\n"
        + table(["method", *head], method_rows())
    )
    text.append(
        "## Ratings\n\nThese are settings of `peirce rate`.\n\n"
        + table(head, session_rows(RaterConfig))
    )
    text.append(
        "## Models\n\nSet these with `--model-arg NAME=VALUE` or in a table of `peirce.toml`"
        " ([Running on your model](../how-to/use-a-language-model.md))."
    )
    text += [
        f"### Settings of {kind}\n\n{table(head, field_rows(one))}" for kind, one in MODELS.items()
    ]
    text.append(
        "## Preference pairs\n\nThese are flags of `peirce pairs`.\n\n"
        + table(head, session_rows(PairsConfig))
    )
    text.append(
        "## Training\n\n**Not run on a GPU:** the defaults that a GPU changes were never tried on one.\n\n"
        "These are flags of `peirce train` (`--learning-rate`), and keys of the YAML file of `--config`"
        " ([Training a proposer](../how-to/train.md)).\n"
    )
    text += [
        f"### Settings of {kind}\n\n{table(head, field_rows(one))}"
        for kind, one in TRAININGS.items()
    ]
    text.append(
        "## Pretraining\n\n**Not run on a GPU:** the large size was never trained on one.\n\n"
        "These are settings of `peirce pretrain`.\n\n" + table(head, field_rows(PretrainSettings))
    )
    text.append(
        "## Reproduction\n\n**Not run on a GPU:** the estimates of a dry run are assumptions.\n\n"
        "These are flags of `peirce reproduce` ([Reproduce the experiment of"
        " GEAR](../how-to/reproduce-gear.md)). They have neither variables nor keys in `peirce.toml`.\n\n"
        + table(head, session_rows(ReproductionConfig))
    )
    text.append("### Assumptions of the dry run\n\n" + table(head, session_rows(CostAssumptions)))
    return "\n".join(text)


def metrics_page() -> str:
    text = [METRICS]
    for one in evaluations():
        rows = [
            [f"`{metric.name}` {metric.arrow}".rstrip(), metric.about] for metric in one.metrics
        ]
        text.append(
            f"## `peirce eval {one.name}`\n\n{one.about}.\n\n{table(['metric', 'meaning'], rows)}"
        )
    return "\n".join(text)


def pages() -> dict[Path, str]:
    """The text of every page, by its path."""
    return {
        REFERENCE / "configuration.md": configuration_page(),
        REFERENCE / "metrics.md": metrics_page(),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, "utf-8")

"""Settings of a training: the paper's defaults, one sentence for what makes no sense, YAML and flags."""

import pytest
from peirce.records import DataError, UsageError
from peirce.training.dpo import MomentumSettings, TrainConfig


def test_the_defaults_are_those_of_the_paper():
    told = TrainConfig()
    assert (told.lora_rank, told.lora_alpha, told.lora_dropout) == (128, 256, 0.05)
    assert (told.beta, told.learning_rate, told.lr_schedule, told.warmup) == (
        0.5,
        1e-5,
        "cosine",
        0.1,
    )
    assert (told.batch, told.examples, told.period, told.probe_pairs) == (32, 51_200, 1_280, 300)
    assert (told.updates, told.periods) == (1_600, 40)
    assert told.momentum_settings() == MomentumSettings()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"beeta": 1}, "did you mean beta?"),
        ({"schedule": "single"}, "valid: momentum, fixed, remaining-loss"),
        ({"period": 48}, "not a multiple of the batch of 32"),
        ({"examples": 2_000}, "not a multiple of the period"),
        ({"device_batch": 5}, "cannot be divided into parts of 5"),
        ({"full": True, "four_bit": True}, "4 bits cannot be trained"),
        ({"beta": 0}, "beta is 0.0; it must be above 0"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast'; it must be a number"),
        ({"learning_rate": float("nan")}, "must be finite"),
        ({"beta": float("inf")}, "beta is inf; it must be finite"),
        ({"beta": 10**400}, "it must be a number below 1e308"),
        ({"examples": 1280.0}, "examples is 1280.0; it must be a whole number"),
        ({"batch": True}, "batch is True; it must be a whole number"),
        ({"full": 1}, "full is 1; it must be true or false"),
        ({"w_min": 1.1}, "The bounds of the weights are 1.1"),
        ({"stop": "yes"}, "valid: never, following"),
        ({"lora_targets": " , "}, "lora_targets names no modules"),
    ],
)
def test_a_value_that_makes_no_sense_is_one_sentence(values, said):
    with pytest.raises(UsageError) as caught:
        TrainConfig.from_mapping(values)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "flags"),
    [
        ({"examples": 40}, ["--examples 1280", "--period 40 --batch 8"]),
        ({"examples": 2_000}, ["--examples 1280", "--examples 2560", "--period 2000 --batch 16"]),
        ({"period": 100}, ["--period 64", "--period 128", "--batch 5"]),
        ({"device_batch": 5}, ["--device-batch 4", "--device-batch 8"]),
        ({"examples": 7}, ["--examples 1280", "--period 7 --batch 7"]),
    ],
)
def test_a_number_that_does_not_fit_is_answered_with_flags_that_do(values, flags):
    with pytest.raises(UsageError) as caught:
        TrainConfig.from_mapping(values)
    for flag in flags:
        assert flag in str(caught.value)
        words = flag.removeprefix("--").replace("-", "_").split()
        mended = {
            name.lstrip("_"): int(value)
            for name, value in zip(words[::2], words[1::2], strict=True)
        }
        TrainConfig.from_mapping({**values, **mended})


def test_options_lie_over_a_file_and_numbers_may_be_written_as_yaml_reads_them(tmp_path):
    path = tmp_path / "train.yaml"
    path.write_text("learning_rate: 1e-4\nbeta: 0.1\nfull: true\nfour_bit: null\n")
    told = TrainConfig.from_mapping({**TrainConfig.read_yaml(path), "beta": 0.2})
    assert (told.learning_rate, told.beta, told.full, told.four_bit) == (1e-4, 0.2, True, None)
    assert TrainConfig.from_mapping(told.to_record()) == told
    path.write_text("seed: 2026-13-45\n")
    with pytest.raises(UsageError, match="seed"):
        TrainConfig.from_mapping(TrainConfig.read_yaml(path))
    for text in ("- a list\n", "a: [\n", "[" * 3_000):
        path.write_text(text)
        with pytest.raises(DataError, match=r"train\.yaml"):
            TrainConfig.read_yaml(path)


def test_the_digest_is_of_what_decides_the_weights_alone():
    told = TrainConfig()
    beside = {
        "save_every": 3,
        "keep": 1,
        "report_to": "wandb",
        "stop": "either",
        "sample_every": 4,
        "device_batch": 4,
        "recompute": True,
        "attention": "eager",
    }
    assert TrainConfig.from_mapping({**told.to_record(), **beside}).digest == told.digest
    for changed in ({"seed": 1}, {"w_max": 1.5}, {"max_length": 9}, {"schedule": "fixed"}):
        assert TrainConfig.from_mapping({**told.to_record(), **changed}).digest != told.digest


def test_every_setting_says_what_it_means():
    for one in TrainConfig.model_fields.values():
        assert len(one.description) > 5

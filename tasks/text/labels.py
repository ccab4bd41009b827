"""Task `labels`: labelled text in the layout of HypoGeniC and HypoBench, and a user's own files.

The problem `NAME#K` shows the K-th random sample of the training rows of the data set `NAME`. The
problem `NAME` is the first sample. text/problems.py describes the contents of a problem,
text/sources.py the files, and docs/tutorials/labelled-text.md and
docs/how-to/generate-labelled-data.md the use.

The module also prints a problem for `tasks show`: the columns, the labels and the first rows.
"""

from __future__ import annotations

import random
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from ...records import InputSet, Json, Observation, Problem, UsageError, is_finite_number
from ...records.tasks import ProblemQuery
from ..io import observations
from ..io.bad_records import BadRecords
from ..io.files import identify_file
from ..io.messages import shorten, suggest_nearest, warn
from ..io.spaces import drop_repeated
from . import data_set_files
from .config_files import CONFIG_FILE
from .generation import GENERATORS, Generator, citations, select_set_names
from .generation.planted import NOISE_KINDS
from .generation.topic_draft import SUBJECT
from .problems import DEFAULT_SHOWN_ROWS, FAMILY_NAME, TASK_NAME, LabelledData
from .sources import data_identity, parse_source

DEFAULT_DATA_SETS = 12  # data sets in a run without data
MAX_FURTHER_SETS = 1_000  # generated sets beyond the standard ones that --problem can name
MAX_COMPARED_INPUTS = 10_000  # inputs that are compared to leave out repeated ones
MAX_SPACE_INPUTS = (
    100  # unlabelled inputs; a model may have to judge each hypothesis on each of them
)


@dataclass(frozen=True)
class Labels:
    """The task `labels`: find sentences that predict the labels of texts.

    Attributes:
        generator: The name of the generator that makes data sets if the user has no data.
        written_topic: A generator of texts on a topic that a model wrote, which is used instead of
            `generator`; None to use `generator`.
    """

    generator: str = "admission"
    written_topic: Generator | None = None

    name = TASK_NAME
    family = FAMILY_NAME
    about = "what makes a text get its label (HypoGeniC, HypoBench, or your own labelled rows)"
    takes = (
        "a CSV, TSV, JSONL or Parquet of rows with labels, or a folder of HypoGeniC or HypoBench"
    )
    commands = (
        "peirce run labels:admission",
        "peirce run labels --data reviews.csv --label verdict",
        "peirce run labels --data reviews.csv --label verdict --method hypogenic --model openai:NAME",
        "peirce predict --bank last --data new.csv",
    )
    files = (CONFIG_FILE,)
    generators = (*GENERATORS, citations.GENERATOR_NAME, SUBJECT)
    kinds = ("level", "noise", "format", "data", "model", "about", "labels")

    def with_generator(self, generator: str) -> Labels:
        """Return a copy of this task with another generator, as named in `labels:GENERATOR`.

        The default generator is `admission`.

        Raises:
            UsageError: There is no generator with this name.
        """
        if generator not in self.generators:
            raise UsageError(
                f"labels has no generator {generator!r}{suggest_nearest(generator, self.generators)}"
            )
        return replace(self, generator=generator)

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Read the first problem of each data set at `path`."""
        return self.choose(path, ProblemQuery(observations=observations, seed=seed))

    def choose(self, path: str | None, query: ProblemQuery) -> list[Problem]:
        """Return the problems that the options of a session select.

        Args:
            path: The path of the data, or None to generate data sets.
            query: The options.

        Raises:
            UsageError: An option has no valid value or does not fit the data.
            DataError: A file cannot be used.
        """
        for option, value in (("target", query.target), ("units", query.units)):
            if value is not None:
                raise UsageError(f"--{option} {value}: labels explains labels, which --label names")
        if self.generator == citations.GENERATOR_NAME or path is None:
            return self._generated_problems(path, query)
        source = parse_source(path, query.label, query.ood)
        there = source.find_data_sets()
        return _problems(
            path, list(there), lambda name: source.read(there[name], query.seed), query
        )

    def _generated_problems(self, path: str | None, wanted: ProblemQuery) -> list[Problem]:
        """Return problems over generated data sets, `--problems N` of them (12 by default)."""
        for option in ("sample", "label", "ood"):
            if (value := getattr(wanted, option)) is not None:
                raise UsageError(
                    f"--{option} {value} needs --data; without it, labels generates its rows"
                )
        if self.generator == citations.GENERATOR_NAME:
            sets = {rows.name: rows for rows in citations.build_data_sets(path, wanted.seed)}
            return _problems(str(path), list(sets), sets.__getitem__, wanted)
        maker = self._find_generator()
        names = select_set_names(
            maker, None if wanted.ids else wanted.problems or DEFAULT_DATA_SETS, wanted.seed
        )
        if wanted.ids:
            names += islice(maker.iter_further_names(wanted.seed), MAX_FURTHER_SETS)
        return _problems(
            f"labels:{self.generator}",
            names,
            lambda name: maker.generate(name, wanted.seed),
            wanted,
        )

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Generate `count` data sets and return the first problem of each."""
        return [
            rows.make_problem(0, DEFAULT_SHOWN_ROWS, seed)
            for rows in self._generate_sets(count, seed, {})
        ]

    def generate_rows(self, names: Sequence[str], seed: int) -> list[LabelledData]:
        """Return the generated data sets with these names, with all rows.

        If `names` is empty, the first data set of the generator is returned.

        Raises:
            UsageError: The generator has no data set with this name.
        """
        if self.generator == citations.GENERATOR_NAME:
            found = {rows.name: rows for rows in citations.build_data_sets(None, seed)}
            for name in names:
                if name not in found:
                    raise UsageError(f"there is no data set {name!r}{suggest_nearest(name, found)}")
            return [found[name] for name in names or list(found)[:1]]
        maker = self._find_generator()
        there = [
            *select_set_names(maker, None, seed),
            *islice(maker.iter_further_names(seed), MAX_FURTHER_SETS),
        ]
        for name in names:
            if name not in there:
                raise UsageError(f"there is no data set {name!r}{suggest_nearest(name, there)}")
        return [maker.generate(name, seed) for name in names or there[:1]]

    def write(
        self, out: str | Path, count: int | None, seed: int, kinds: Mapping[str, Json]
    ) -> dict[str, Json]:
        """Generate data sets and write them as folders, in the published layout or as Hugging Face
        folders.

        The option `--data` reads both layouts.

        Args:
            out: The folder to write to; it must be empty or absent.
            count: The number of data sets, or None for all data sets of the generator that match
                the option `level`.
            seed: The seed of the generator.
            kinds: The values of the task's own options of `tasks generate`, by name.

        Returns:
            {"problems", "files", "sets"}: the number of data sets, their files and a summary of
                each.
        """
        form = self.check(out, count, seed, kinds)
        made = self._generate_sets(count, seed, kinds)
        if len(made) < (count or 0):
            warn(
                f"--problems {count}: labels:{self.generator} has {len(made)} sets of this kind; all of them are written"
            )
        files = data_set_files.save_data_sets(made, out, form)
        return {
            "problems": len(made),
            "files": [str(path) for path in files],
            "sets": [data_set_files.summarize_data(rows) for rows in made],
        }

    def check(
        self, out: str | Path, count: int | None, seed: int, kinds: Mapping[str, Json]
    ) -> str:
        """Check the options of `write` before anything is generated, and return the layout.

        Raises:
            UsageError: `out` cannot be written to, or the layout, noise or level does not exist.
        """
        data_set_files.check_target_folder(out)
        form = data_set_files.check_layout(kinds.get("format"))
        noise = kinds.get("noise") or NOISE_KINDS[0]
        if noise not in NOISE_KINDS:
            raise UsageError(
                f"--noise {noise} is not a valid kind of noise{suggest_nearest(noise, NOISE_KINDS)}"
            )
        if self.generator != citations.GENERATOR_NAME:
            select_set_names(self._find_generator(), count, seed, kinds.get("level"))
        return form

    def _find_generator(self) -> Generator:
        if self.written_topic is not None:
            return self.written_topic
        if self.generator == SUBJECT:
            raise UsageError(
                f"labels:{SUBJECT} must first be written by a model: run peirce tasks generate"
                f" labels:{SUBJECT} --about TEXT --model MODEL --out DIR, then use --data DIR"
            )
        return GENERATORS[self.generator]

    def _generate_sets(
        self, count: int | None, seed: int, kinds: Mapping[str, Json]
    ) -> list[LabelledData]:
        level, noise = kinds.get("level"), kinds.get("noise") or NOISE_KINDS[0]
        if self.generator == citations.GENERATOR_NAME:
            for name in ("level", "noise"):
                if kinds.get(name) is not None:
                    raise UsageError(
                        f"labels:citations has no option --{name} (given: {kinds[name]})"
                    )
            return citations.build_data_sets(kinds.get("data"), seed)[:count]
        if kinds.get("data") is not None:
            raise UsageError(
                f"--data {kinds['data']}: labels:{self.generator} generates its rows and reads no data"
            )
        if noise not in NOISE_KINDS:
            raise UsageError(
                f"--noise {noise} is not a valid kind of noise{suggest_nearest(noise, NOISE_KINDS)}"
            )
        maker = self._find_generator()
        return [
            maker.generate(name, seed, noise)
            for name in select_set_names(maker, count, seed, level)
        ]

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space of a problem: at most 100 unlabelled inputs, drawn with the seed.

        The inputs come from the validation rows. Without validation rows, they come from the shown
        rows. They never come from test rows. Of more than `MAX_COMPARED_INPUTS` inputs, as many
        are drawn before repeated ones are left out.
        """
        start, stop = problem.secret["splits"].get("val", (0, 0))
        rows = problem.hidden[start:stop] or problem.shown
        draw = random.Random(f"{seed} {problem.id}")
        if len(rows) > MAX_COMPARED_INPUTS:
            rows = tuple(draw.sample(rows, MAX_COMPARED_INPUTS))
        inputs = drop_repeated(one.input for one in rows)
        drawn = draw.sample(inputs, min(MAX_SPACE_INPUTS, len(inputs)))
        return InputSet(f"{problem.id} space", tuple(drawn))

    def draw_problem(self, problem: Problem) -> str:
        """Return a problem as text for people to read; see the function `render_problem`."""
        return render_problem(problem)

    def identify_data(self, path: str | Path) -> dict[str, Json]:
        """Return {"name", "sha256"} of the data at `path`."""
        if self.generator == citations.GENERATOR_NAME:
            return identify_file(citations.parse_path(str(path))[0])
        return data_identity(path)


def _count(observations: str | None) -> int:
    if observations is None:
        return DEFAULT_SHOWN_ROWS
    text = observations.strip()
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(
            f"--observations {observations}: for labels it must be a number of training rows, at"
            " least 1"
        )
    return int(text)


def _problems(
    root: str,
    names: Sequence[str],
    read: Callable[[str], LabelledData],
    wanted: ProblemQuery,
) -> list[Problem]:
    """Return problems over the named data sets, reading only the sets that are needed.

    `--problem NAME#K` names sample K and `TASK_NAME` the first one. `--problems N` takes the first
    samples of all data sets, then all second samples, and so on; samples that would show the same
    rows as one before are passed over. If several samples of a data set are wanted, each shows
    `DEFAULT_SHOWN_ROWS` rows by default, because samples of all rows would be equal.
    """
    fixed, bases = _select_samples(names, wanted)
    shown = _count(wanted.observations)
    several = any(sample for _, sample in fixed) or (wanted.problems or 0) > len(fixed)
    searched = wanted.default_observations if wanted.observations is None and not several else None
    shown = searched or shown
    count = wanted.problems or len(fixed)
    found: dict[str, LabelledData] = {}
    numbered: dict[tuple[str, int], None] = {}
    with BadRecords(Path(root)) as bad:
        for name, sample in fixed:
            with bad.record("") if len(names) > 1 else nullcontext():
                if len(numbered) < count:
                    found[name] = found.get(name) or read(name)
                    numbered[name, sample] = None
        if not numbered:
            raise bad.no_records_error(f"{root}: found no data sets")
    samples = {name: found[name].samples(shown, wanted.seed) for name in bases if name in found}
    while samples and len(numbered) < count:
        for name in list(samples):
            if (number := next(samples[name], None)) is None:
                del samples[name]
            elif len(numbered) < count:
                numbered[name, number] = None
    if wanted.problems is not None and len(numbered) < count:
        rows = {name: len(found[name].splits["train"]) for name in bases if name in found}
        sizes = ", ".join(f"{name} has {size:,}" for name, size in rows.items())
        warn(
            f"--problems {count}: only {len(numbered)} can be used, because more samples would show"
            f" the same training rows again ({shorten(sizes)})"
        )
    return [
        found[name].make_problem(sample, shown, wanted.seed, counted=searched is not None)
        for name, sample in numbered
    ]


# --- samples --------------------------------------------------------------------------


def _select_samples(
    names: Sequence[str], wanted: ProblemQuery
) -> tuple[Sequence[tuple[str, int]], Sequence[str]]:
    """Return (data set, sample) of the problems that come first, and the sets to draw more from."""
    if wanted.ids:
        asked = [_split_sample_name(one, names) for one in dict.fromkeys(wanted.ids)]
        fixed = dict.fromkeys((name, sample or 0) for name, sample in asked)
        return list(fixed), [name for name, sample in asked if sample is None]
    if wanted.sample is not None:
        stubs = [Problem(f"{name}#0", TASK_NAME, FAMILY_NAME, ()) for name in names]
        drawn = observations.draw_problems(stubs, wanted.sample, wanted.seed)
        names = [one.id.removesuffix("#0") for one in drawn]
    return [(name, 0) for name in names], names


def _split_sample_name(wanted: str, names: Sequence[str]) -> tuple[str, int | None]:
    """Split `NAME#K` into the data set and the sample, which is None for `TASK_NAME` alone."""
    if wanted in names:
        return wanted, None
    name, mark, sample = wanted.rpartition("#")
    if mark and name in names and sample.isdecimal():
        return name, int(sample)
    raise UsageError(
        f"there is no problem {wanted!r} in the data{suggest_nearest(name or wanted, names)}"
    )


TASK = Labels()


WIDTH = 98
_ROWS = 3
_SPLITS = {"val": "validation", "ind": "test", "ood": "OOD"}


def render_problem(problem: Problem) -> str:
    """Return a problem as text for people to read, at most `WIDTH` columns wide.

    The text contains the labels with their numbers of shown rows, the columns, the splits, the
    first rows and, if the data set documents them, the hypotheses that are known to hold.
    """
    return "\n".join(line for part in _parts(problem) for line in _wrap(part))


def _parts(problem: Problem) -> Iterator[str]:
    public = problem.public
    if public["description"]:
        yield public["description"]
    counts = Counter(one.output for one in problem.shown)
    yield "labels: " + ", ".join(f"{one} {counts[one]}" for one in public["labels"])
    for name, told in public["columns"].items():
        values = f" ({', '.join(map(str, told['values']))})" if told["kind"] == "choice" else ""
        yield f"column {name}: {told['kind']}{values}{'. ' * bool(told['about'])}{told['about']}"
    spans = problem.secret.get("splits", {})
    hidden = [f"{spans[key][1] - spans[key][0]} {_SPLITS[key]}" for key in _SPLITS if key in spans]
    yield f"rows: {len(problem.shown)} shown, {', '.join(hidden) or 'none'} hidden"
    for one in problem.shown[:_ROWS]:
        yield _format_row(one)
    made = problem.secret.get("made", {})
    for key, said in (
        ("effective_noise", "labels changed"),
        ("best_accuracy", "best possible accuracy"),
    ):
        told = made.get(key)
        shares = (
            told if isinstance(told, dict) else {}
        )  # in foreign metadata the key may mean something else
        numbers = {k: one for k, one in shares.items() if is_finite_number(one)}
        if numbers:
            yield f"{said}: " + ", ".join(f"{split} {one:.1%}" for split, one in numbers.items())
    for one in problem.secret.get("known", ()):
        yield f"known: {one}"


def _format_row(one: Observation) -> str:
    values = list(one.input.values())
    said = values[0] if len(values) == 1 else ", ".join(f"{k}={v}" for k, v in one.input.items())
    return f"{shorten(' '.join(str(said).split()), 180)} -> {one.output}"


def _wrap(part: str) -> list[str]:
    return textwrap.wrap(part, WIDTH, subsequent_indent="  ") or [""]

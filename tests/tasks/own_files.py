"""Task files of a user's own, written and read."""

from __future__ import annotations

import json
import textwrap

from peirce import tasks

WHOLE = """
    name: gauge
    about: what a gauge shows
    instructions: A gauge turns a length into a reading.
    pair: "{number}: {input[cm]} cm reads {output}"
    observations:
      - [{cm: 1}, 0.4]
      - {input: {cm: 2}, output: 0.8}
    hidden:
      - [{cm: 10}, 3.9]
    equality:
      numbers: {decimals: 1}
    sample_space:
      generate: {fields: {cm: {range: [0, 9]}}}
      weights: 2 if x["cm"] > 4 else 1
"""

SHORT = "name: t\nabout: a task\nobservations: [[1, 2], [3, 4]]\n"

PYTHON = """
    from peirce.records import InputSet, Observation, Problem

    class Own:
        name = "own"
        about = "a task"

        def generate(self, count, seed):
            return [self.problem(f"{seed}-{i}") for i in range(count)]

        def problem(self, name):
            pairs = Observation((1, 2), 3), Observation([4], 4)
            return Problem(name, "?", "programs", pairs[:1], pairs[1:])

        def space(self, problem, seed):
            return InputSet("S", ([1], [2, 3]), (1, 2.5))

    TASK = Own()
"""


def write(folder, text, name="t.yaml"):
    path = folder / name
    path.write_text(textwrap.dedent(text), "utf-8")
    return str(path)


def load(folder, text, name="t.yaml", **options):
    return tasks.load_problems(write(folder, text, name), **options)


def space_of(folder, declared):
    return load(folder, SHORT + f"sample_space: {json.dumps(declared)}\n")[0][1]

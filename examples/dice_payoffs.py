"""What a roll of five dice pays, by a rule that the player is not told.

    peirce run examples/dice_payoffs.py --model search
    peirce run examples/dice_payoffs.py --problems 3 --seed 7 --model openai:NAME

The order of the dice says nothing, so an input is a roll in ascending order. There are 252 of them,
and not all are equally likely: each weighs as many of the 7,776 throws as come to it, so that the
scores of a hypothesis are those over all throws.
"""

import itertools
import math
import random

from peirce.records import InputSet, Observation, Problem

ROLLS = [list(roll) for roll in itertools.combinations_with_replacement(range(1, 7), 5)]
RULES = {
    "all dice but the highest": lambda roll: sum(roll[:-1]),
    "the highest and the lowest": lambda roll: roll[0] + roll[-1],
    "all dice that show an even number": lambda roll: sum(die for die in roll if die % 2 == 0),
    "ten for each six": lambda roll: 10 * roll.count(6),
    "each number that is there, once": lambda roll: sum(set(roll)),
    "the one in the middle, twice": lambda roll: 2 * roll[2],
}
SHOWN, HIDDEN = 4, 8


class DicePayoffs:
    name = "dice_payoffs"
    about = "what a roll of five dice pays"
    instructions = (
        "A casino pays for rolls of five dice by a rule of the house. The input is the list of the"
        " five numbers in ascending order, the output the number of coins that are paid."
    )
    pair = "Roll {number}: {input} pays {output}"

    def generate(self, count, seed):
        return [self.problem(f"{seed}-{number}") for number in range(count)]

    def problem(self, name):
        rng = random.Random(name)
        rule = rng.choice(sorted(RULES))
        pairs = [Observation(roll, RULES[rule](roll)) for roll in rng.sample(ROLLS, SHOWN + HIDDEN)]
        return Problem(
            id=name, task=self.name, family="programs", shown=tuple(pairs[:SHOWN]),
            hidden=tuple(pairs[SHOWN:]), secret={"rule": rule},
        )  # fmt: skip

    def space(self, problem, seed):
        return InputSet("all rolls of five dice", tuple(ROLLS), tuple(map(throws, ROLLS)))


def throws(roll):
    """In how many orders the dice of a roll can fall."""
    alike = math.prod(math.factorial(roll.count(die)) for die in set(roll))
    return float(math.factorial(len(roll)) // alike)


TASK = DicePayoffs()

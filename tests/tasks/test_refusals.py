"""An answer that says that there is no answer is no hypothesis about labelled text; a hypothesis about
texts that say so is one. Both lists were written before the rule that tells them apart.

Internals: the families read the answers that a graph would otherwise have to carry to them.
"""

from __future__ import annotations

import json

import pytest
from peirce.records import Hypothesis, InputSet, Malformed, View
from peirce.tasks.logic.family import extract_formula
from peirce.tasks.programs.answers import read_answer
from peirce.tasks.text.family import FAMILY

PUBLIC = {
    "labels": ["deceptive", "truthful"],
    "columns": {"text": {"kind": "text", "about": ""}},
    "shape": "text",
}
REFUSALS = """
I do not know.
I don't know
I’m sorry, but I can't help with that.
I'm sorry, but I cannot assist with this request.
Sorry, I can't assist with that.
N/A
n/a.
None
None.
No hypothesis.
No hypotheses
no hypothesis found
As an AI language model, I cannot generate hypotheses.
As an AI, I am not able to determine that.
I am unable to determine a pattern from the given examples.
I cannot determine any pattern from these examples.
I can't find any pattern.
There is no clear pattern.
There is no pattern in the data.
No pattern found.
No clear pattern can be identified.
Unknown
Not applicable.
Nothing
I have no hypothesis.
I don't have enough information to answer.
I do not have enough information to form a hypothesis.
Not enough information.
Insufficient data.
The given information is not sufficient to draw a conclusion.
It is not possible to determine a pattern from the given examples.
It is impossible to say.
I'm not sure.
I am not sure what the pattern is.
Unfortunately, I cannot provide a hypothesis.
I apologize, but I'm unable to comply with this request.
I won't help with that.
I cannot answer this question. Please provide more examples.
Cannot be determined.
I refuse to answer.
""".strip().splitlines()
# Found by a reader of the first rule, and then used to widen it.
LATER = """
Unable to determine.
Cannot determine.
I dont know
Dunno
idk
TBD
I was unable to find any pattern.
I did not find a pattern.
There is no discernible pattern in the data.
I don't see a pattern.
There isn't enough information.
I do not have access to the data.
It is unclear.
My knowledge is insufficient.
No hypothesis can be confidently formed.
I do not know, sorry.
I must decline.
I refuse.
I would need more data.
""".strip().splitlines()
HYPOTHESES = """
Reviews that say "I do not know" are deceptive.
Reviews that say 'I don't know' are truthful.
Texts that mention that the author can't help are deceptive.
Reviews without a hypothesis about the price are truthful.
If the review says "I'm sorry", it is deceptive.
Reviews with no clear complaint are deceptive.
Reviews with no pattern of complaints are truthful.
Nothing but praise indicates a deceptive review.
None of the truthful reviews mention a spouse.
None of the reviews that name the street are deceptive.
No deceptive review mentions the elevator.
No review that complains about noise is deceptive.
There is no mention of a competitor in truthful reviews.
There is no mention of price in deceptive reviews.
Unknown places are mentioned in deceptive reviews.
Unknown authors write shorter posts.
I think that longer reviews are truthful.
I believe deceptive reviews use more superlatives.
I hypothesize that reviews in the first person are truthful.
I would say that reviews with numbers are truthful.
We find that reviews about the lobby are deceptive.
"I cannot" occurs in truthful reviews more often.
"I don't know" appears mostly in deceptive reviews.
Sorry is a word of truthful reviews.
Apologies from the staff point to truthful reviews.
Unfortunately is a word that truthful reviews contain.
Reviews that begin with "Unfortunately, I cannot" are truthful.
Not applicable fields are found in deceptive records.
People who are not sure what they want write longer posts.
People who say that they can't cope are stressed.
Posts in which the author says "I am unable to sleep" show stress.
Posts in which the author does not know what to do show stress.
The author not being able to help others is a sign of stress.
I can't sleep, I can't eat and similar phrases are signs of stress.
I cannot sleep is a phrase of stressed authors.
I do not know appears in posts of stressed authors.
I am not able to cope is said by stressed authors.
As an AI enthusiast, the author writes retweeted headlines.
Headlines with as few words as possible get more clicks.
Headlines that refuse to answer the question get more clicks.
Headlines that say it is impossible get more clicks.
It is impossible to find a truthful review without a room number.
It is not possible for a deceptive review to name the concierge.
Cannot and won't are frequent in deceptive reviews.
Not enough detail about the room indicates a deceptive review.
Not enough sleep is mentioned in stressed posts.
Insufficient detail marks deceptive reviews.
Insufficient data about the stay suggests a deceptive review.
Not sure is a phrase that hesitant authors use.
Lack of a clear pattern in punctuation suggests haste.
Customers with black shoes and a tall hat buy black shoes.
The shoe has the color of the hat.
Age and height do not matter, only the color of the shirt does.
No attribute but the color of the hat matters.
Students with a GPA of at least 3.5 are admitted.
Students with no publications are rejected.
Students without publications, but with strong letters, are admitted.
Unless the letter is strong, a student is rejected.
No publications, no admission.
None but students with an A are admitted.
Tweets with a link are retweeted more.
Tweets that ask for help ("please help") are retweeted more.
Please retweet is a phrase of popular tweets.
Tweets with "N/A" in them are retweeted less.
N/A in the field "spouse" goes with a rejected application.
None in the field "spouse" goes with a rejected application.
Null values go with rejected applications.
Undefined terms go with machine-written essays.
Essays that say "as an AI language model" are machine-written.
As an AI language model is a phrase of machine-written essays.
Essays in which the author admits not to know are human.
Human authors admit that they cannot answer.
Human authors say that there is no clear answer.
There is no clear conclusion in human essays.
There is no difference in length, but human essays have typos.
It is hard to say why, but short essays are human.
A lack of information about the author suggests a machine.
Refusals to answer are signs of a machine.
Apologies ("I'm sorry, but I can't help with that.") are signs of a machine.
Sentences such as "I do not know." are signs of a human.
""".strip().splitlines()


def view(**public: object) -> View:
    return View("p", "t", "text", (), {**PUBLIC, **public}, InputSet("s", ()))


def test_the_lists_are_as_long_as_they_should_be() -> None:
    assert len(set(REFUSALS)) == 40 and len(set(HYPOTHESES)) == 80


@pytest.mark.parametrize("text", [*REFUSALS, *LATER])
def test_a_refusal_is_malformed_with_that_reason(text: str) -> None:
    for answer in (text, f"1. {text}", json.dumps({"hypotheses": [text]}), f'"{text}"'):
        (read,) = FAMILY.parse(view(), answer, "list")
        assert isinstance(read, Malformed) and read.reason == "refusal", answer


@pytest.mark.parametrize("text", HYPOTHESES)
def test_a_sentence_about_texts_is_a_hypothesis(text: str) -> None:
    for answer in (text, f"1. {text}", json.dumps({"hypotheses": [text]})):
        (read,) = FAMILY.parse(view(labels=["a label", "another"]), answer, "list")
        assert isinstance(read, Hypothesis), answer


def test_what_follows_a_refusal_can_be_a_hypothesis() -> None:
    text = "I do not know. Still, reviews that praise the bathroom seem to be invented."
    (read,) = FAMILY.parse(view(), f"1. {text}", "list")
    assert isinstance(read, Hypothesis) and read.text == text


def test_a_sentence_that_names_a_label_is_no_refusal() -> None:
    text = "I cannot find any pattern for deceptive ones."
    (read,) = FAMILY.parse(view(), f"1. {text}", "list")
    assert isinstance(read, Hypothesis)


def test_refusals_among_ten_items_are_malformed_one_by_one() -> None:
    items = [*HYPOTHESES[:3], "N/A", *HYPOTHESES[3:6], "I do not know.", *HYPOTHESES[6:8]]
    answer = "\n".join(f"{n}. {one}" for n, one in enumerate(items, 1))
    read = FAMILY.parse(view(), answer, "list")
    assert [isinstance(one, Malformed) for one in read] == [n in (3, 7) for n in range(10)]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_no_program_and_no_rule(text: str) -> None:
    for answer in (text, json.dumps({"description": text, "code": text}), repr((text, text))):
        for form in ("tuple", "json", "fenced_function"):
            assert isinstance(read_answer(answer, form), Malformed), answer
    assert extract_formula(text, ("P",)).formula is None

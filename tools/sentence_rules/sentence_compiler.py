"""A compiler from sentences to rules.

A sentence consists of clauses in order. A clause is a condition with a label, or says which text of
a pair wins. The sentence may end with a label for all other rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from ...records import Json
from . import vocabulary as words
from .column_lookup import ColumnLookup, singular
from .columns import find_text_columns
from .condition_reader import ConditionReader
from .conditions import AllOf, Condition, Not
from .cursor import MAX_CHARACTERS, Cursor, Parsed, split_pieces
from .outcomes import OutcomeReader, split_label_words
from .quantities import Count, Length, Measure, MentionedEntries
from .rules import Clause, ConditionClause, NotExact, PreferenceClause, Rule
from .subjects import ROW, TEXT
from .text_conditions import read_amount, read_length_bound

WEAK_EVIDENCE = re.compile(r"(?:\s*weak evidence:)+", re.IGNORECASE)
SEPARATES = (";", ".", ",", "!", "and", "but", "while", "whereas")


def compile_sentence(sentence: str, public: Mapping[str, Json]) -> Rule | NotExact:
    """Compile a sentence to a rule. No exception is raised if the sentence is not a rule.

    The time is proportional to the length of the sentence. "Weak evidence:" before the sentence says
    how sure its author is; the rule is the same without it.

    Args:
        sentence: The sentence.
        public: The public description of the problem, with its labels, columns and shape.

    Returns:
        The rule, or a `NotExact` with the reason why the sentence is not an exact rule.
    """
    if len(sentence) > MAX_CHARACTERS:
        return NotExact(f"a sentence of more than {MAX_CHARACTERS} characters")
    return SentenceParser(
        sentence[len(found[0]) if (found := WEAK_EVIDENCE.match(sentence)) else 0 :], public
    ).read()


class SentenceParser:
    """A parser of one sentence.

    The methods whose names start with `read_` take the position `at` in the sentence. They return
    the parsed object and the position after it, or None if the words at `at` do not match.

    Args:
        sentence: The sentence.
        public: The public description of the problem, with its labels, columns and shape.
    """

    def __init__(self, sentence: str, public: Mapping[str, Json]) -> None:
        texts = find_text_columns(public)
        self.pair = public.get("shape") == "pair" and len(texts) == 2
        told = f"{public.get('description', '')} {public.get('label_name', '')}"
        self.outcomes = OutcomeReader(tuple(public["labels"]), self.pair, told)
        self.described_as = frozenset(map(singular, split_label_words(told)))
        naming, labels = ColumnLookup(public["columns"]), frozenset(self.outcomes.spelt)
        self.cursor = Cursor(split_pieces(sentence), naming, texts, self.pair, labels)
        self.reader = ConditionReader(self.cursor)
        self.ended_unless = False  # whether the last condition was "unless …"
        self.rest: str | None = None  # the label of all other rows, after "if and only if"

    def read(self) -> Rule | NotExact:
        """Parse the sentence, and return its rule or the reason why it is not a rule."""
        clauses: list[Clause] = []
        otherwise: str | None = None
        at, length = self.cursor.skip_words(0, *SEPARATES), len(self.cursor.pieces)
        while at < length:
            rest = self.read_otherwise(at) if clauses else None
            got = None if rest else self.read_clause(at)
            if clauses and not rest and not got:
                rest = self.read_negated_rest(at) or self.read_trailing_otherwise(at)
            if got:
                clauses.append(got[0])
            elif rest and not isinstance(rest[0], str):
                clauses.append(rest[0])
            elif rest:
                otherwise = rest[0] if isinstance(rest[0], str) else None
            else:
                return self.explain_failure(at)
            at = self.cursor.skip_words((got or rest or (None, at))[1], *SEPARATES)
            if otherwise is not None and at < length:
                return NotExact(f"more is said after 'otherwise': {self.cursor.quote_from(at)}")
        if self.rest is not None and (len(clauses) != 1 or otherwise not in (None, self.rest)):
            return NotExact("'if and only if' beside another case")
        return (
            self.check_texts(Rule(tuple(clauses), otherwise or self.rest))
            if clauses
            else self.explain_failure(0)
        )

    def explain_failure(self, at: int) -> NotExact:
        """Return the reason why the sentence cannot be parsed from position `at` on."""
        reasons = {place: why for place, why in self.cursor.reasons.items() if place >= at}
        told = (
            reasons[max(reasons)] if reasons else f"no rule begins at {self.cursor.quote_from(at)}"
        )
        return NotExact(told)

    def check_texts(self, rule: Rule) -> Rule | NotExact:
        """Return the rule, or a `NotExact` if it is unclear which text column the rule means."""
        for clause in rule.clauses:
            texts = len(self.cursor.texts)
            if (
                isinstance(clause, ConditionClause)
                and texts != 1
                and refers_to_text(clause.condition)
            ):
                named = ", ".join(self.cursor.texts)
                return NotExact(f"which text? Name one of {named}" if texts else "there is no text")
        return rule

    # --- the label of all other rows ------------------------------------------

    def read_otherwise(self, at: int) -> Parsed[str | Clause]:
        """Read "otherwise LABEL" or "otherwise, if …"."""
        told = self.cursor.match_phrase(at, words.ELSE)
        if self.ended_unless and (case := self.cursor.match_words(at, "in", "which", "case")):
            return self.read_label(case)
        others = at + (self.cursor.word(at) in ("all", "the", "any", "every"))
        if told is None and self.cursor.word(others) == "other" and self.is_row_noun(others + 1):
            told = True, others + 2
        if told is None:
            return None
        after = self.cursor.skip_words(told[1], ",", "then")
        if self.begins_if(after):
            return self.read_if_clause(after)
        end = self.find_outcome_end(after)
        got = self.read_winner(after, end) if self.pair else None
        return got or self.read_label(after)

    def read_negated_rest(self, at: int) -> Parsed[str | Clause]:
        """Read a label for all other rows in the form "those that do not are LABEL"."""
        for place in (at + 1, at + 2):
            if self.cursor.word(place) in ("that", "which", "who"):
                told = self.cursor.match_phrase(place + 1, words.DENIES)
                verb = self.cursor.word(told[1]) if told else ""
                if told and verb not in words.MENTION_VERBS and verb not in words.HAS:
                    return self.read_label(told[1])
        return None

    def read_trailing_otherwise(self, at: int) -> Parsed[str | Clause]:
        """Read a label for all other rows in the form "LABEL otherwise"."""
        label = self.read_label(at)
        if label is None:
            return None
        told = self.cursor.match_phrase(label[1], words.ELSE)
        return told and (label[0], told[1])

    def read_label(self, at: int) -> Parsed[str]:
        """Read an outcome that states exactly one label."""
        end = self.find_outcome_end(at)
        label = self.outcomes.find_label(self.cursor.pieces[at:end])
        if label is None:
            self.cursor.record_failure(
                at, f"no label, or not one alone, in {self.cursor.quote_from(at)}"
            )
        return None if label is None else (label, end)

    def find_outcome_end(self, at: int) -> int:
        """Return the position at which an outcome that begins at `at` ends."""
        while at < len(self.cursor.pieces):
            word = self.cursor.word(at)
            if word in (";", ".", "while", "whereas") or self.begins_if(at):
                return at
            if self.cursor.match_phrase(at, words.ELSE):
                return at
            at += 1
        return at

    # --- clauses ---------------------------------------------------------------

    def read_clause(self, at: int) -> Parsed[Clause]:
        """Read one clause: a condition with its label, or which text of a pair wins."""
        if self.begins_if(at):
            return self.read_if_clause(at)
        end = self.find_outcome_end(at)
        if self.begins_if(end):
            return self.read_label_first(at, end)
        got = self.read_winner(at, end) if self.pair else None
        return got or self.read_noun_clause(at)

    def begins_if(self, at: int) -> bool:
        """Return whether "if", "when", "unless" or a similar word is at position `at`."""
        return self.cursor.word(at) in words.IF or bool(
            self.cursor.match_phrase(at, words.CONDITIONAL)
        )

    def read_if_condition(self, at: int) -> Parsed[Condition]:
        """Read "if CONDITION", "unless CONDITION" or "if CONDITION unless CONDITION"."""
        begun = self.cursor.match_phrase(at, words.CONDITIONAL)
        got = self.reader.read_condition(begun[1] if begun else at + 1)
        if got is None:
            return None
        self.ended_unless = begun is not None and begun[0]
        condition: Condition = Not(got[0]) if self.ended_unless else got[0]
        after = self.cursor.skip_words(got[1], ",")
        other = self.cursor.match_phrase(after, words.CONDITIONAL)
        if other is None or not other[0] or self.ended_unless:
            return condition, got[1]
        except_for = self.reader.read_condition(other[1], got[2])
        return except_for and (AllOf((condition, Not(except_for[0]))), except_for[1])

    def read_if_clause(self, at: int) -> Parsed[Clause]:
        """Read a clause of the form "if CONDITION, then LABEL"."""
        got = self.read_if_condition(at)
        if got is None:
            return None
        after = self.cursor.skip_words(got[1], ",", "then")
        if after == got[1] and self.cursor.word(after) not in ("the", "it", "this"):
            self.cursor.record_failure(
                after, f"a condition, and what then? {self.cursor.quote_from(after)}"
            )
            return None
        label = self.read_label(after)
        return (ConditionClause(got[0], label[0]), label[1]) if label else None

    def read_label_first(self, at: int, end: int) -> Parsed[Clause]:
        """Read a clause of the form "LABEL if CONDITION", whose label ends at position `end`."""
        label = self.read_label(at)
        exactly = self.cursor.match_words(end, "if", "and", "only", "if")
        if exactly is not None:
            if len(self.outcomes.labels) != 2 or label is None:
                return None
            self.rest = next(one for one in self.outcomes.labels if one != label[0])
            end = exactly - 1
        got = label and self.read_if_condition(end)
        return (ConditionClause(got[0], label[0]), got[1]) if got and label else None

    def read_noun_clause(self, at: int) -> Parsed[Clause]:
        """Read a clause of the form "texts that CONDITION are LABEL"."""
        noun = self.cursor.skip_determiner(at)
        got = self.read_qualifier(noun + 1) if self.is_row_noun(noun) else None
        if got is None or not self.expect_outcome(self.cursor.skip_words(got[1], ",")):
            return None
        label = self.read_label(self.cursor.skip_words(got[1], ","))
        return (ConditionClause(got[0], label[0]), label[1]) if label else None

    def is_row_noun(self, at: int) -> bool:
        """Return whether the noun at `at` denotes the texts or rows of the data set.

        If each row is a review, "reviews" is accepted in "reviews that …", and "women" is not.
        """
        word, naming = self.cursor.word(at), self.cursor.naming
        spoken = [own for name, (own, _) in naming.about.items() if naming.kind(name) == "text"]
        if word in words.TEXTS | words.ENTITIES or any(singular(word) in own for own in spoken):
            return True
        if not self.cursor.texts and singular(word) in self.described_as:
            return True
        self.cursor.record_failure(at, f"which rows are called so? {self.cursor.quote_from(at)}")
        return False

    def expect_outcome(self, at: int) -> bool:
        """Return whether a verb that introduces an outcome ("are", "will be") is at `at`."""
        if self.cursor.word(at) in words.VERB_OF_OUTCOME:
            return True
        self.cursor.record_failure(at, f"a condition, and what then? {self.cursor.quote_from(at)}")
        return False

    def read_qualifier(self, at: int) -> Parsed[Condition]:
        """Read a relative clause or "with …": "that mention A", "with an A in math"."""
        about = TEXT if self.cursor.texts else ROW
        if len(self.cursor.texts) != len(self.cursor.naming.columns) and not self.pair:
            about = ROW
        if self.cursor.word(at) in ("that", "which", "who"):
            at += 1
        elif self.cursor.word(at) == "whose":
            got = self.reader.read_condition(at + 1)
            return got and got[:2]
        elif self.cursor.match_phrase(at, words.LONGER):
            return read_length_bound(self.cursor, at, "")
        elif about == ROW and self.cursor.word(self.cursor.skip_words(at, "not")).endswith("ing"):
            pass  # "students applying to Science", "students not applying to Science"
        elif self.cursor.word(at) not in words.HAS | words.MENTION_VERBS | words.WITHOUT:
            self.cursor.record_failure(
                at, f"no rule begins at {self.cursor.quote_from(max(at - 2, 0))}"
            )
            return None
        got = self.reader.read_condition(at, about)
        return got and got[:2]

    # --- pairs -----------------------------------------------------------------

    def read_winner(self, at: int, end: int) -> Parsed[Clause]:
        """Read a clause that says which of two texts wins, and that ends at position `end`.

        Examples are "the text with more words wins", "the longer text wins" and "the text that
        mentions A wins".
        """
        cursor = self.cursor
        start = cursor.skip_determiner(at)
        longer = cursor.match_phrase(start, words.LONGER)
        got: tuple[Measure | Condition, bool, int] | None
        if longer:
            got = Length("words"), not longer[0], longer[1] + 1
        else:
            got = self.read_preference(start + 1) if self.is_row_noun(start) else None
        if got is None:
            return None
        by, fewer, after = got
        after = cursor.skip_words(after, ",")
        if not self.expect_outcome(after):
            return None
        wins = self.outcomes.states_win(cursor.pieces[after:end])
        if wins is None:
            cursor.record_failure(after, f"does it win or lose? {cursor.quote_from(after)}")
            return None
        if isinstance(by, MentionedEntries | Count | Length):
            return PreferenceClause(by, fewer == wins), end
        return PreferenceClause(by if wins else Not(by)), end

    def read_preference(self, at: int) -> tuple[Measure | Condition, bool, int] | None:
        """Read the quantity or condition by which one text of a pair is preferred.

        Returns:
            The quantity or condition, whether less of it is preferred, and the position after it.
        """
        cursor = self.cursor
        if (after := cursor.match_words(at, "for", "which")) is not None:
            got = self.reader.read_condition(after, TEXT)
            return got and (got[0], False, got[1])
        verb = at + (cursor.word(at) in ("that", "which"))
        more = cursor.match_phrase(verb + 1, words.COMPARATIVE_PHRASES)
        longer = cursor.match_phrase(verb + 1, words.LONGER)
        much = more and read_amount(cursor, more[1])
        if more and much and cursor.word(much[1]) != "than":
            return much[0], more[0], much[1]
        if longer and cursor.word(longer[1]) != "than":
            return Length("words"), not longer[0], longer[1]
        if verb == at and cursor.word(at) not in words.HAS | words.MENTION_VERBS:
            return None
        got = self.reader.read_condition(verb, TEXT)
        return got and (got[0], False, got[1])


def refers_to_text(part: object) -> bool:
    """Return whether a condition refers to "the text" without naming a text column."""
    if isinstance(part, tuple):
        return any(refers_to_text(one) for one in part)
    if not is_dataclass(part):
        return False
    if getattr(part, "text", None) == "" and not hasattr(part, "kind"):
        return True
    return any(refers_to_text(getattr(part, field.name)) for field in fields(part))

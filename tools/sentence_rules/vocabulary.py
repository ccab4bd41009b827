"""The words and phrases of the grammar for exact sentences.

If several phrases match, the parser tries them in the order of their table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, TypeVar

T = TypeVar("T")
Unit: TypeAlias = Literal["words", "characters", "sentences", "different words"]
Relation: TypeAlias = Literal["at least", "at most", "more than", "less than", "exactly"]
Phrases = dict[str, list[tuple[tuple[str, ...], T]]]


def index_phrases(table: Mapping[str, T]) -> Phrases[T]:
    """Return a table of phrases, indexed by their first word, with the longest phrases first.

    `{"at least|no fewer than": value}` becomes `{"at": [(("at", "least"), value)], …}`.
    """
    found: Phrases[T] = {}
    for ways, value in table.items():
        for way in ways.split("|"):
            pieces = tuple(way.split())
            found.setdefault(pieces[0], []).append((pieces, value))
    for some in found.values():
        some.sort(key=lambda entry: -len(entry[0]))
    return found


def word_set(table: Iterable[str] | str) -> frozenset[str]:
    """Return a set of words from an iterable, or from a text with words separated by spaces."""
    return frozenset(table.split() if isinstance(table, str) else table)


BOUNDS: Phrases[Relation] = index_phrases(
    {
        "at least|no fewer than|no less than|not less than|not fewer than|a minimum of|minimum of"
        "|>=|greater than or equal to|more than or equal to|higher than or equal to": "at least",
        "at most|no more than|not more than|no greater than|not greater than|up to|a maximum of"
        "|maximum of|<=|less than or equal to|fewer than or equal to|lower than or equal to": "at most",
        "more than|greater than|over|above|higher than|larger than|exceeds|exceed|exceeding|>": "more than",
        "less than|fewer than|under|below|lower than|smaller than|<": "less than",
        "exactly|precisely|equal to|equals|=": "exactly",
    }
)
AFTER: Phrases[Relation] = index_phrases(
    {
        "or more|or higher|or above|or greater|or over": "at least",
        "or fewer|or less|or lower|or below": "at most",
    }
)
NUMBERS = {
    w: n
    for n, w in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
}
MENTION_VERBS = word_set(
    "mentions mention mentioned contains contain containing includes include including uses use using "
    "says say has have having features feature holds hold mentioning quotes quote without containing"
)
HAS = word_set(
    "has have had having contains contain containing uses use using includes include with shows"
)
IS = word_set("is are was were equals equal being be been =")
STARTS = index_phrases({"starts with|start with|begins with|begin with|opens with|open with|starting with"
                  "|beginning with": False, "ends with|end with|ending with|closes with|close with": True})  # fmt: skip
DENIES = index_phrases(
    {
        "does not|do not|did not|doesn't|don't|didn't|never|cannot|can not|will not|fails to|fail to|failed to"
        "|does never|do never|did never": True,
        "has not|have not|had not|hasn't|haven't|hadn't|has never|have never|had never": True,
    }
)
# A verb after these is in its base form, so that "does not … or have …" may negate both verbs.
DO = word_set("does do did doesn't don't didn't never cannot can will fails fail failed")
# Forms of "be" with "not".
IS_NOT = word_set("isn't aren't wasn't weren't")
OCCURS = word_set("appears appear occurs occur")
OCCURS_PASSIVE = word_set("mentioned used present contained included found")
# What is said not to be there: "without publications", "lacks a criminal record".
WITHOUT = word_set("without lacks lack lacking")
# Before values: all values but these are meant.
OTHER_THAN = index_phrases(
    {
        "other than|different from|different than|anything but|anything other than|anything except"
        "|something other than|except|except for|but not|not equal to|unequal to|besides|excluding": True
    }
)
# Words for a value, as in "an F grade in math" and "a grade other than A in math".
VALUE_NOUNS = word_set("grade grades score scores mark marks value values level levels")
# Verbs that only say that the row has something, as in "have done 20 hours".
LIGHT_VERBS = word_set(
    "do did done doing have had having hold held holding make made get got gotten complete completed "
    "completing earn earned receive received achieve achieved obtain obtained possess possesses own "
    "participate participated participating publish published publishing author authored write wrote "
    "written writing submit submitted serve served work worked perform performed attend attended "
    "contribute contributed accumulate accumulated report reported play played show shows"
)
HIGHER = word_set("more higher greater larger bigger")
LOWER = word_set("fewer less lower smaller")
# After "does not … or", one of these may be negated too.
BARE_VERBS = word_set(
    "mention contain include use say have feature hold quote start begin open end close"
)
ANY_OF = index_phrases(
    {
        "any one of|any of|either of|one of|at least one of|one or more of|some of": "any",
        "all of|every one of|each of": "all",
        "none of|neither of": "none",
    }
)
# Words that may stand between "one of" and a list, or before a quoted text.
LIST_NOUNS = word_set("the these those following words word phrases phrase terms term marks mark expressions "
               "expression tokens token string strings literal exact stem stems keywords keyword")  # fmt: skip
UNITS: Phrases[Unit] = index_phrases(
    {
        "different words|distinct words|unique words|different word|distinct word|unique word": (
            "different words"
        ),
        "words|word": "words",
        "characters|letters|character": "characters",
        "sentences|sentence": "sentences",
    }
)
# After "the" and one of these, unquoted words are literal entries of up to this many words.
LITERAL_NOUNS = {
    word: 1
    for word in [
        "word",
        "words",
        "term",
        "terms",
        "token",
        "tokens",
        "keyword",
        "keywords",
        "stem",
        "stems",
    ]
}
LITERAL_NOUNS |= {"phrase": 4, "expression": 4}
LINKING_WORDS = word_set("of like such as from with to in for about related that which at on by")
TIMES = {"once": 1.0, "twice": 2.0}
ABSENT = index_phrases(
    {
        "missing|absent|empty|unknown|blank|null|unspecified|left blank|left empty|not given"
        "|not specified|not provided|not available|not known|not present|not stated|not filled in": True
    }
)
PRESENT = index_phrases(
    {"given|known|present|specified|provided|available|stated|filled in|not missing|not empty|not blank"
     "|not absent|not unknown": True}
)  # fmt: skip
LONGER = index_phrases({"longer": True, "shorter": False})
OCCURRENCES = index_phrases({"occurrences of|mentions of|uses of|instances of|occurrence of": True})
# Marks and kinds of word that a sentence may name without quotes, with (text, kind) of their term.
MARKS = index_phrases(
    {
        "exclamation marks|exclamation points|exclamation mark|exclamation point": ("!", ""),
        "question marks|question mark": ("?", ""),
        "dollar signs|dollar sign": ("$", ""),
        "percent signs|percent sign": ("%", ""),
        "quotation marks|quotation mark|quote marks": ('"', ""),
        "ellipses|ellipsis": ("...", ""),
        "commas|comma": (",", ""),
        "colons|colon": (":", ""),
        "semicolons|semicolon": (";", ""),
        "parentheses|parenthesis|brackets": ("(", ""),
        "hyphens|dashes|hyphen|dash": ("-", ""),
        "slashes|slash": ("/", ""),
        "numbers|number|digits|numerals": ("", "number"),
        "words in capitals|word in capitals|all-caps words|all-caps word|all caps words|all caps word|words in all caps"
        "|word in all caps|words in all-caps|capitalised words|words in capital letters"
        "|word in capital letters|words in all capitals|word in all capitals"
        "|words in all capital letters|word in all capital letters|words in upper case"
        "|word in upper case|words in uppercase|word in uppercase|uppercase words|uppercase word"
        "|upper-case words|upper-case word|fully capitalised words|fully capitalized words"
        "|words written in capitals|words written in all caps|words written in capital letters"
        "|words written in all capital letters|all-caps|all caps|capitals": (
            "",
            "word in capitals",
        ),
        "links|link|urls|url": ("", "link"),
        "hashtags|hashtag": ("", "hashtag"),
        "user names|user name|usernames|username|user mentions|user mention": ("", "user name"),
    }
)
# Names of an entire text. Other nouns (title, sentence, description) may denote a part of it, so
# they count only if a column has that name.
TEXTS = word_set(
    "text texts review reviews post posts tweet tweets headline headlines argument arguments message "
    "messages comment comments story stories abstract abstracts article articles document documents "
    "essay essays email emails passage passages snippet snippets one ones author writer"
)
ENTITIES = word_set(
    "student students applicant applicants person people candidate candidates row rows case cases "
    "customer customers patient patients item items record records example examples user users "
    "they he she it one who that which everyone everybody anyone anybody"
)
PRONOUNS = word_set("it they he she")
DETERMINERS = word_set("the a an this its their his her every each that any these those all")
# The name of a column does not end with one of these, unless it is called so.
NOT_LAST = word_set(
    "is are was were be been has have had do does did a an the of in for to at by on with or and"
)
# These words do not change the meaning of a row's name.
NEUTRAL = word_set("given present current same said individual single particular whole")
ENDS = word_set("and or then otherwise else per than if when unless but while whereas wins")
VERBS = MENTION_VERBS | HAS | IS | word_set(
    "starts start begins begin opens open ends end closes close starting beginning ending "
    "does do did doesn't don't didn't isn't aren't wasn't weren't hasn't haven't hadn't had lacks lack "
    "lacking never exceeds exceed < > <= >="
) - {"with"}  # fmt: skip
# The verbs that may follow the subject of an outcome.
VERB_OF_OUTCOME = word_set(
    "is are was were be will would should must may might can could tends tend seems seem gets get "
    "receives receive has have wins win loses lose performs perform attracts attract generates generate "
    "predicts predict indicates indicate suggests suggest means likely usually often typically "
    "probably generally shows show belongs belong"
)
IF = word_set("if when whenever where")
# Phrases before a condition, with whether the condition is negated.
CONDITIONAL = index_phrases(
    {"unless|except if|except when": True, "provided that|provided|as long as|so long as|given that": False}
)  # fmt: skip
ELSE = index_phrases({"otherwise|or else|else|if not|in all other cases|in other cases|in every other case"
                "|in any other case|all other texts|all others|the others|others|the rest|everything else"
                "|everyone else": True})  # fmt: skip
COMPARATIVE_PHRASES = index_phrases(
    {"more|the most|most|the higher": False, "fewer|less|the fewest|fewest|the least": True}
)
RESERVED = (
    VERBS | TEXTS | ENTITIES | DETERMINERS | ENDS | LIST_NOUNS | frozenset(NUMBERS)
    | {word for table in (BOUNDS, AFTER, STARTS, DENIES, ANY_OF, UNITS, OTHER_THAN, LONGER, OCCURRENCES,
                     MARKS, ELSE, COMPARATIVE_PHRASES)
       for ways in table.values() for way, _ in ways for word in way}
    | word_set("not no none more of between in among the for which missing absent empty unknown blank "
            "given known present true false yes specified provided available stated null besides excluding except neither nor number entries twice once times long label both case")
)  # fmt: skip

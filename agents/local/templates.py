"""Read chat templates, and the names that they refer to.

The names are those of the parsed template (Jinja's syntax tree), so that neither white space nor
assignments nor macros hide one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ...records import DataError, UsageError

DATE_FUNCTION = "strftime_now"  # transformers gives it to templates
# The letters of the formats of `strftime`; "-" before one leaves out zeros.
DATE_LETTERS = "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ"
GENERATION_BLOCK = re.compile(r"{%-?\s*(end)?generation\s*-?%}")
# Names of fields of a message, and of variables, that concern reasoning.
REASONING_FIELD = re.compile(r"[a-z_]*(?:reason|think|thought)[a-z_]*")


@dataclass(frozen=True)
class TemplateContent:
    """What a chat template refers to.

    Attributes:
        variables: The names of variables that the template does not define itself.
        refers_to_date: Whether it refers to the function that writes the current date.
        reasoning_fields: Names that may be fields of a message with its reasoning, such as
            reasoning_content, in alphabetical order.
    """

    variables: frozenset[str] = frozenset()
    refers_to_date: bool = False
    reasoning_fields: tuple[str, ...] = ()


def parse_template(name: str, source: str) -> TemplateContent:
    """Return what a chat template refers to.

    Args:
        name: The name of the model, for error messages.
        source: The text of the template.

    Raises:
        DataError: The template is broken, or uses the operator `**`.
    """
    from jinja2 import TemplateError, nodes
    from jinja2.meta import find_undeclared_variables
    from jinja2.sandbox import ImmutableSandboxedEnvironment as Environment

    # These blocks are an extension of transformers; their content is parsed.
    source = GENERATION_BLOCK.sub("", source)
    try:
        tree = Environment(extensions=["jinja2.ext.loopcontrols", "jinja2.ext.do"]).parse(source)
    except TemplateError as error:
        raise DataError(f"the chat template of {name!r} is broken: {error}") from None
    if tree.find(nodes.Pow):
        raise DataError(
            f"the chat template of {name!r} uses `**`, which is refused because a"
            " power may take years"
        )
    words = {one.attr for one in tree.find_all(nodes.Getattr)}
    words |= {one.value for one in tree.find_all(nodes.Const) if isinstance(one.value, str)}
    return TemplateContent(
        frozenset(find_undeclared_variables(tree)),
        any(one.name == DATE_FUNCTION for one in tree.find_all(nodes.Name)),
        tuple(sorted(word for word in words if REASONING_FIELD.fullmatch(word))),
    )


def write_date(template: str, date: datetime) -> str:
    """Return a template that writes `date` wherever `template` writes the current date.

    The template begins with a macro that has the name of the function for dates. A function among
    the variables of the template would not do, because transformers replaces it by a text.
    """
    formats = [flag + letter for letter in DATE_LETTERS for flag in ("", "-")]
    parts = [("%%", "\0"), *((f"%{one}", date.strftime(f"%{one}")) for one in formats), ("\0", "%")]
    pairs = ", ".join(f"({json.dumps(old)}, {json.dumps(new)})" for old, new in parts)
    return (
        f"{{% macro {DATE_FUNCTION}(format) %}}{{% set date = namespace(text=format) %}}"
        f"{{% for old, new in [{pairs}] %}}"
        "{% set date.text = date.text | replace(old, new) %}{% endfor %}"
        # The line feed is not written, and keeps the first one of the template.
        "{{ date.text }}{% endmacro %}\n" + template
    )


def read_template(path: str) -> str:
    """Return the text of a Jinja file.

    Raises:
        UsageError: The file cannot be read or is empty.
    """
    try:
        text = Path(path).expanduser().read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise UsageError(
            f"chat_template {path!r} cannot be read ({reason}): give a Jinja file, or plain"
        ) from None
    if not text.strip():
        raise UsageError(f"chat_template {path!r} is empty: give a Jinja file, or plain")
    return text

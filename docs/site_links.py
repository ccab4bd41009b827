"""A hook of MkDocs (mkdocs.yml) that adapts pages to the site.

Links that leave docs/ become plain text, because the site lacks their targets; on a code host they lead to files
of the repository. The name of a code block (```csv pairs.csv) becomes its title, because the site's Markdown does
not read such a line as the beginning of a block.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)\s:#]+)(?:#[^)\s]*)?\)")
_NAMED_BLOCK = re.compile(r"^```(\w+) ([\w. -]+)$", re.M)


def unlink_outside(markdown: str, page: str) -> str:
    """Return the page with links to files outside docs/ as plain text.

    Args:
        markdown: Text of the page.
        page: Its path below docs/.
    """

    def replace(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link[2]))
        outside = target.startswith("..") or not target.endswith((".md", ".svg"))
        return link[1] if outside else link[0]

    return _LINK.sub(replace, markdown)


def title_blocks(markdown: str) -> str:
    """Return the page with the names of its code blocks as titles."""
    return _NAMED_BLOCK.sub(r'```\1 title="\2"', markdown)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by MkDocs with the text of each page."""
    return title_blocks(unlink_outside(markdown, page.file.src_uri))

"""Read the literature that a user provides: a folder of papers, or one file.

| file type | a paper is | the title is taken from |
|---|---|---|
| .pdf | the file (pypdf, extra `text`) | the PDF metadata, otherwise the first line |
| .md, .markdown | the file without its front matter | the front matter, otherwise the first heading |
| .txt, .text | the file | the first line |
| .bib | an entry with an abstract | the title field |
| .jsonl, .ndjson | a line {"title", "abstract" and/or "text", "summary"} | the title field |

All types may be gzipped (.gz). A folder is read recursively, in the order of the file names,
without hidden files. Papers without text (a scanned, damaged or locked PDF, an entry without an
abstract, an empty file) and files of other types are left out with a `DataWarning`. A paper that
cannot be read is an error, unless the user sets `skip_bad`. A title that cannot be read is left out
with a warning (`tasks/io/bad_records.py`). Nothing is downloaded.

The module also checks whether a quote occurs in a text, and splits a text into pieces of limited
length.
"""

from __future__ import annotations

import io
import logging
import os
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...records import DataError, Json, UsageError
from ..io import bibtex
from ..io.bad_records import BadRecords
from ..io.files import expand_home, identify_file, identify_files, locate, open_bytes
from ..io.json_text import SURROGATE_PATTERN, parse_json
from ..io.messages import shorten, warn

__all__ = ["Paper", "contains_quote", "data_identity", "find_files", "read_papers", "split_text"]

INSTALL_COMMAND = "pip install 'peirce[text]'"
MAX_FILE_BYTES = 200_000_000  # decompressed
PDF_BYTES = 50_000_000  # decompressed contents of all pages, each counted as often as it is shown
MAX_TITLE_CHARACTERS = 200
MAX_PIECE_WORDS = 6_000  # per prompt, about 8,000 tokens
FILE_TYPES = {
    ".pdf": "pdf",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".bib": "bib",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
PLACEHOLDER_TITLE = re.compile(
    r"(untitled|microsoft word|powerpoint|latex|paper|main|title)\b|.*\.(docx?|tex|dvi|pdf|indd)\Z",
    re.IGNORECASE,
)  # titles that programs write when the author set none
CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class Paper:
    """A paper whose text prompts may quote.

    Attributes:
        source: The file name relative to the folder. For a file with several papers, `#` and the
            key or line number of the paper follow.
        title: The title on one line, cut to `MAX_TITLE_CHARACTERS`.
        text: The text that may be quoted; "" if the paper has no text.
    """

    source: str
    title: str
    text: str


def find_files(path: str | Path) -> list[Path]:
    """Return the literature files at `path`, a folder or a file, in the order in which they are
    read.

    Raises:
        UsageError: There is no such path, or the file has an unsupported type.
        DataError: The folder contains no literature.
    """
    place = expand_home(path)
    if not place.is_dir():
        locate(place, ())
        if _form(place) is None:
            raise UsageError(
                f"{place}: not a supported literature file; supported are {', '.join(FILE_TYPES)}"
            )
        return [place]
    there = _below(place)
    found = [one for one in there if _form(one)]
    others = [one.relative_to(place).as_posix() for one in there if not _form(one)]
    if not found:
        raise DataError(f"{place}: found no literature here; looked for {', '.join(FILE_TYPES)}")
    if others:
        warn(f"{place}: {len(others)} files in unsupported formats are ignored: {_listed(others)}")
    return found


def data_identity(path: str | Path) -> dict[str, Json]:
    """Return {"name", "sha256"} of the literature at `path`, in the same form as for data sets."""
    place = expand_home(path)
    files = find_files(place)
    return identify_files(place.name, place, files) if place.is_dir() else identify_file(files[0])


def read_papers(path: str | Path) -> list[Paper]:
    """Read all papers with text at `path`, a folder or a file. The order is reproducible.

    Raises:
        UsageError: There is no such path, or there is a PDF and pypdf is not installed.
        DataError: A paper cannot be read and unreadable papers are not left out (the error names
            file, line and field), or no paper has text.
    """
    place = expand_home(path)
    files = find_files(place)
    if any(_form(one) == "pdf" for one in files):
        _need_pypdf(place)
    base = place if place.is_dir() else place.parent
    papers: list[Paper] = []
    silent: list[str] = []
    with BadRecords(place) as bad:
        for file in files:
            for paper, reason in _read_file(file, file.relative_to(base).as_posix(), bad):
                if paper.text:
                    papers.append(paper)
                else:
                    silent.append(f"{paper.source} ({reason})")
        if not papers:
            raise bad.no_records_error(f"{place}: no paper here has text: {_listed(silent)}")
    if silent:
        warn(f"{place}: {len(silent)} papers without text are skipped: {_listed(silent)}")
    return papers


def _below(folder: Path) -> list[Path]:
    found: list[Path] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(parent, name) for name in names if not name.startswith(".")]
    return sorted(found, key=lambda one: one.relative_to(folder).as_posix())


def _form(path: Path) -> str | None:
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return FILE_TYPES.get(name.suffix.lower())


def _listed(names: list[str], shown: int = 5) -> str:
    more = f" … ({len(names)} in all)" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


# --- the forms ---------------------------------------------------------------


def _read_file(file: Path, name: str, bad: BadRecords) -> Iterator[tuple[Paper, str]]:
    """Yield the papers of one file, each with the reason to report if it has no text."""
    form = _form(file)
    if form == "bib":
        yield from _read_bibtex(_lines(file), file, name, bad)
    elif form == "jsonl":
        yield from _read_jsonl_papers(_lines(file), file, name, bad)
    else:
        with bad.record("", file):
            yield _of_whole(file, name)


def _of_whole(file: Path, name: str) -> tuple[Paper, str]:
    """Return the paper that is a whole file."""
    form, content = _form(file), _content(file)
    if form == "pdf":
        return _read_pdf(content, name)
    read = _split_markdown_title if form == "markdown" else _split_text_title
    title, body = read(_clean(_decoded(content, file)))
    return Paper(name, title or _stem(name), body), "the file is empty"


def _content(file: Path) -> bytes:
    with open_bytes(file) as opened:
        try:
            content = opened.read(MAX_FILE_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{file}: cannot be read: {error}") from error
    if len(content) > MAX_FILE_BYTES:
        raise DataError(f"{file}: the file is larger than {MAX_FILE_BYTES:,} bytes")
    return content


def _decoded(content: bytes, file: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        raise DataError(f"{file}, line {line}: not UTF-8 text") from error


def _clean(text: str) -> str:
    """Normalise line ends, drop control characters and replace lone surrogates."""
    ends = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    return CONTROL_CHARACTERS.sub(
        "", SURROGATE_PATTERN.sub("\N{REPLACEMENT CHARACTER}", ends)
    ).strip()


def _one_line(title: str) -> str:
    return shorten(" ".join(title.split()), MAX_TITLE_CHARACTERS)


def _stem(name: str) -> str:
    return Path(name.removesuffix(".gz")).stem


def _split_text_title(text: str) -> tuple[str, str]:
    return _one_line(text.partition("\n")[0]), text


def _split_markdown_title(text: str) -> tuple[str, str]:
    ahead = re.match(r"---[^\S\n]*\n(.*?)\n(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)", text, re.DOTALL)
    body = text[ahead.end() :].strip() if ahead else text
    named = re.search(r"^title:[^\S\n]*(\S.*)$", ahead[1], re.MULTILINE) if ahead else None
    if named:
        return _one_line(named[1].strip().strip("\"'")), body
    title = _heading(body) or body.partition("\n")[0]
    return _one_line(title.strip("*_ ")), body


def _heading(text: str) -> str:
    """Return the first heading of a Markdown text, or ""."""
    before = ""
    for line in text.split("\n"):
        if marks := re.match(r" {0,3}#{1,6}[^\S\n]+(?=\S)", line):
            return line[marks.end() :].rstrip().rstrip("#").rstrip()
        if before and re.fullmatch(r"=+\s*", line):
            return before
        before = line if line[:1].strip() else ""
    return ""


def _lines(file: Path) -> str:
    """Return the text of a file of several papers; surrogates stand for bytes that are not UTF-8."""
    return _content(file).decode("utf-8-sig", "surrogateescape")


def _read_bibtex(text: str, file: Path, name: str, bad: BadRecords) -> Iterator[tuple[Paper, str]]:
    """Yield the entries; the text of an entry is its title and abstract."""
    for entry in bibtex.parse_entries(text, file, bad):
        title = _clean(entry.fields.get("title", ""))
        abstract = _clean(entry.fields.get("abstract", ""))
        source = f"{name}#{entry.key or entry.line}"
        whole = f"{title}\n\n{abstract}".strip() if abstract else ""
        yield Paper(source, _one_line(title) or source, whole), "no abstract"


def _read_jsonl_papers(
    text: str, file: Path, name: str, bad: BadRecords
) -> Iterator[tuple[Paper, str]]:
    """Yield one paper per line; its text is the title with abstract, text and summary."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        with bad.record(f"line {number}", file):
            yield _of_line(line, f"{file}, line {number}", f"{name}#{number}", bad)


def _of_line(line: str, where: str, source: str, bad: BadRecords) -> tuple[Paper, str]:
    if SURROGATE_PATTERN.search(line):
        raise DataError(f"{where}: not UTF-8 text")
    record = parse_json(line, where)
    if not isinstance(record, Mapping):
        raise DataError(f"{where}: {shorten(record)} is not an object with a title and a text")
    title = bad.field("the title", lambda: _field(record, "title", where)) or ""
    parts = [_field(record, one, where) for one in ("abstract", "text", "summary")]
    body = "\n\n".join(dict.fromkeys(filter(None, parts)))
    whole = f"{title}\n\n{body}".strip() if body else ""
    first = _one_line(title or body.partition("\n")[0])
    return Paper(source, first, whole), "no abstract, text or summary"


def _field(record: Mapping[str, Json], name: str, where: str) -> str:
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(f"{where}, {name}: {shorten(value)} is not a string")
    return _clean(value)


# --- PDF ---------------------------------------------------------------------


def _need_pypdf(place: Path) -> None:
    try:
        import pypdf  # noqa: F401
    except ImportError:
        raise UsageError(f"{place}: reading a PDF needs pypdf: {INSTALL_COMMAND}") from None


def _read_pdf(content: bytes, name: str) -> tuple[Paper, str]:
    """Return the text of all pages, separated by blank lines.

    pypdf raises many kinds of exceptions on damaged files, and none says more than that the file is
    damaged.
    """
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    nothing = Paper(name, _stem(name), "")
    try:
        with _quiet("pypdf"):
            reader = PdfReader(io.BytesIO(content))
            title = str((reader.metadata or {}).get("/Title") or "")
            pages: list[str] = []
            size = 0
            for page in reader.pages:
                contents = page.get_contents()
                size += 0 if contents is None else len(contents.get_data())
                if size > PDF_BYTES:
                    return nothing, f"more than {PDF_BYTES:,} bytes on its pages"
                pages.append(page.extract_text().strip())
            text = _clean("\n\n".join(pages))
    except (FileNotDecryptedError, DependencyError):
        return nothing, "locked"
    except (
        PyPdfError, ArithmeticError, AssertionError, AttributeError, LookupError, OSError,
        RuntimeError, TypeError, ValueError, struct.error, zlib.error,
    ) as error:  # fmt: skip
        return nothing, f"damaged: {shorten(str(error) or type(error).__name__)}"
    title = _one_line(_clean(title))
    if PLACEHOLDER_TITLE.match(title) or not title:
        title = _one_line(text.partition("\n")[0]) or nothing.title
    return Paper(name, title, text), "a PDF without text, of pictures perhaps"


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Silence a logger, because what pypdf repairs by itself is of no interest to the user."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
QUOTE_MARKS = "\"'`´‘’‚‛“”„‟‹›«»′″"
HYPHENS = "-‐‑"  # hyphen-minus, hyphen, non-breaking hyphen; no dashes
SOFT_HYPHEN = "\N{SOFT HYPHEN}"
HARD_HYPHEN, DIVIDING_HYPHEN = 1, 2
MAX_WORD_CHARACTERS = 40  # a longer run without a blank counts as several words

_PLAIN = str.maketrans(
    LIGATURES | dict.fromkeys(QUOTE_MARKS, '"') | dict.fromkeys(HYPHENS, "-") | {SOFT_HYPHEN: ""}
)
_PARTS = re.compile(r'(-+)(\s*)|"["\s]*|\s+')
_WORD = re.compile(rf"\S{{1,{MAX_WORD_CHARACTERS}}}")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\Z")


def contains_quote(quote: str, text: str) -> bool:
    """Return whether `quote` occurs in `text` word for word.

    Some differences are ignored: blanks (PDF text loses and gains them), hyphens before blanks
    (words divided at the end of a line), the style of quotation marks, marks around the quote, and
    ligatures. Letters, other punctuation and case must match. The result is False for a quote
    without letters and digits.
    """
    sought = _letters(quote.strip().strip(QUOTE_MARKS + HYPHENS))
    if not any(sign.isalnum() for sign in sought.signs):
        return False
    whole = _letters(text)
    inner = sought.hyphens[1 : len(sought.signs)]
    start = whole.signs.find(sought.signs)
    while start >= 0:
        there = whole.hyphens[start + 1 : start + len(sought.signs)]
        if not np.any(
            inner + there == HARD_HYPHEN
        ):  # one text has a hyphen where the other has none
            return True
        start = whole.signs.find(sought.signs, start + 1)
    return False


@dataclass(frozen=True)
class _Letters:
    """A text prepared for comparison.

    Attributes:
        signs: The n characters of the text without blanks and hyphens.
        hyphens: uint8 (n + 1,), the state before each character and after the last: 0 for no
            hyphen, `HARD_HYPHEN`, or `DIVIDING_HYPHEN` if the hyphen may divide a word.
    """

    signs: str
    hyphens: NDArray[np.uint8]


def _letters(text: str) -> _Letters:
    plain = text.translate(_PLAIN)
    parts: list[str] = []
    hyphens: dict[int, int] = {}
    size = end = 0
    for found in _PARTS.finditer(plain):
        kept = plain[end : found.start()]
        end = found.end()
        parts.append(kept)
        size += len(kept)
        if found[1]:
            hyphens[size] = max(hyphens.get(size, 0), DIVIDING_HYPHEN if found[2] else HARD_HYPHEN)
        elif found[0].startswith('"'):
            parts.append('"')  # TeX writes one mark as ''
            size += 1
    parts.append(plain[end:])
    signs = "".join(parts)
    states = np.zeros(len(signs) + 1, np.uint8)
    states[list(hyphens)] = list(hyphens.values())
    return _Letters(signs, states)


def split_text(text: str, max_words: int) -> list[str]:
    """Split a text into consecutive pieces of at most `max_words` words.

    Only blanks between the pieces are lost. If possible, a piece ends at the end of a paragraph,
    otherwise at the end of a sentence, otherwise at the end of a word.

    Raises:
        ValueError: `max_words` is less than 1.
    """
    if max_words < 1:
        raise ValueError(f"pieces of {max_words} words: at least 1 is needed")
    spans = [found.span() for found in _WORD.finditer(text)]
    found = []
    first = 0
    while first < len(spans):
        after = _cut(text, spans, first, first + max_words)
        found.append(text[spans[first][0] : spans[after - 1][1]])
        first = after
    return found


def _cut(text: str, spans: list[tuple[int, int]], first: int, limit: int) -> int:
    """Return the index after the last word of the piece that starts at `first`, at most `limit`."""
    if limit >= len(spans):
        return len(spans)
    sentence = word = 0
    for after in range(limit, first, -1):
        end, start = spans[after - 1][1], spans[after][0]
        if start > end and _PARAGRAPH_END.search(text, end, start):
            return after
        if start > end:
            word = word or after
            if not sentence and _SENTENCE_END.search(text, spans[after - 1][0], end):
                sentence = after
    return sentence or word or limit

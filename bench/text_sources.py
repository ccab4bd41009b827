"""Texts with labels that the packages, documents, changelogs and manual pages of this machine hold.

bench/package_texts.py makes sets of them. To keep labels out of the texts, docstrings lose signature
lines, doctests and the names of their function, module and package; manual pages lose the name of the
command and section numbers such as `(8)`; the placeholders of error messages become "…". A text has at
most 200 words and ends with a sentence where that is possible.

Not covered: formats of manual pages other than man(7), changelogs of other systems than Debian.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import re
import sysconfig
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

DOC = Path("/usr/share/doc")
MAN = Path("/usr/share/man")
DPKG_LISTS = Path("/var/lib/dpkg/info")
PAGES_PER_SOURCE = 100
FILES_PER_SOURCE = 500
PARAGRAPHS_PER_PAGE = 12
MOST_WORDS = 200
NOT_OWN = {"tests", "test", "testing", "_vendor", "vendor", "_vendored", "third_party", "externals"}


@dataclass(frozen=True)
class Row:
    """One labelled row of a set.

    Args:
        texts: One text, or two to choose from.
        label: The label.
        source: The package the texts come from.
        group: Rows of one group are all in the same split.
    """

    texts: tuple[str, ...]
    label: str
    source: str
    group: str


def draw(*words: object) -> int:
    """Return a number that depends on nothing but the words, for reproducible random choices."""
    return int.from_bytes(hashlib.sha256(repr(words).encode()).digest()[:8], "big")


# --- text -----------------------------------------------------------------------


def split_sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+(?=[A-Z\"'(`])", text)


def cut_text(text: str) -> str:
    """Return a text on one line, cut after the last sentence that ends within `MOST_WORDS` words."""
    text = " ".join(text.split())
    if len(text.split()) <= MOST_WORDS:
        return text
    kept: list[str] = []
    for sentence in split_sentences(text):
        if len(" ".join([*kept, sentence]).split()) > MOST_WORDS:
            break
        kept.append(sentence)
    return " ".join(kept) or " ".join(text.split()[:MOST_WORDS])


def remove_names(text: str, names: Iterable[str]) -> str:
    """Remove names from a text where they stand as words of their own."""
    pattern = "|".join(re.escape(name) for name in names if len(name) > 1)
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", "", text, flags=re.I) if pattern else text


def letters_of(text: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+", text.lower()))


# --- Python sources -------------------------------------------------------------


@dataclass(frozen=True)
class Module:
    source: str
    path: Path
    tree: ast.Module


def python_folders(packages: Sequence[Path]) -> list[Path]:
    """Return the standard library, this interpreter's packages, those of the system, and `packages`."""
    paths = sysconfig.get_paths()
    found = [paths["stdlib"], paths["purelib"], paths["platlib"], "/usr/lib/python3/dist-packages"]
    return [one for one in dict.fromkeys([*map(Path, found), *packages]) if one.is_dir()]


def find_python_files(folders: Sequence[Path], seed: int) -> dict[str, list[Path]]:
    """Return at most `FILES_PER_SOURCE` source files of each package, without tests and copies of
    other packages.
    """
    files: dict[str, dict[str, Path]] = defaultdict(dict)
    for number, folder in enumerate(folders):
        for path in sorted(folder.rglob("*.py")):
            inner = path.relative_to(folder)
            if NOT_OWN & set(inner.parts) or "site-packages" in inner.parts:
                continue
            if inner.name.startswith("test_") or "dist-packages" in inner.parts:
                continue
            source = "python" if number == 0 else inner.parts[0].removesuffix(".py")
            files[source].setdefault(str(inner), path)
    return {
        source: [
            files[source][name]
            for name in sorted(files[source], key=lambda name: draw(seed, source, name))
        ][:FILES_PER_SOURCE]
        for source in sorted(files)
    }


def parse_modules(files: dict[str, list[Path]]) -> Iterator[Module]:
    warnings.simplefilter("ignore", SyntaxWarning)  # of the packages, such as invalid escapes
    warnings.simplefilter("ignore", DeprecationWarning)
    for source, paths in files.items():
        for path in paths:
            try:
                yield Module(source, path, ast.parse(path.read_text("utf-8")))
            except (SyntaxError, ValueError, RecursionError):
                continue  # a template, or another version's syntax


def find_docstrings(module: Module) -> Iterator[Row]:
    """Yield the docstrings of functions and methods, labelled "private" or "public"."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("__") or node.name.startswith("test"):
            continue
        lines = (ast.get_docstring(node) or "").splitlines()
        bare = node.name.lstrip("_")
        signature = re.compile(
            rf"\s*(?:[\w.]*\.)?_*{re.escape(bare)}\(.*|.*\) *->.*|\s*(?:>>>|\.\.\.).*"
        )
        text = "\n".join(line for line in lines if not signature.match(line))
        names = (node.name, bare, module.path.stem, module.path.parent.name, module.source)
        text = cut_text(remove_names(text, names))
        if len(text.split()) >= 5:
            label = "private" if node.name.startswith("_") else "public"
            yield Row((text,), label, module.source, text)


def find_messages(module: Module) -> Iterator[Row]:
    """Yield the messages of `raise NAME("...")`, labelled with the name of the exception class."""
    for node in ast.walk(module.tree):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
            continue
        if isinstance(node.exc.func, ast.Name) and (text := read_message(node.exc.args[0])):
            text = cut_text(re.sub(r"%[-\d.]*[a-z]|%\(\w+\)[a-z]|\{[^{}]*\}", "…", text))
            if len(letters_of(text).split()) >= 4:
                yield Row((text,), node.exc.func.id, module.source, text)


def read_message(node: ast.expr) -> str:
    """Return the text of an expression, with a placeholder for what is filled in, or ""."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(read_message(one) or "…" for one in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return read_message(node.left)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = read_message(node.left), read_message(node.right)
        return f"{left or '…'}{right or '…'}" if left or right else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return read_message(node.func.value) if node.func.attr == "format" else ""
    return ""


# --- documents and changelogs ---------------------------------------------------

KINDS = {
    "readme": re.compile(r"readme", re.I),
    "news": re.compile(r"news|changes|history|release", re.I),
    "licence": re.compile(r"copyright|licen[cs]e|copying", re.I),
}


def read_plain(path: Path) -> str:
    """Return the text of a file that may be compressed, or "" if it cannot be read."""
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
    except (OSError, EOFError, gzip.BadGzipFile):
        return ""


def find_document_files(folders: Sequence[Path]) -> Iterator[tuple[str, str, str]]:
    """Yield the package, the kind and the text of each README, NEWS and licence file."""
    for path in sorted(DOC.glob("*/*")) if DOC.is_dir() else ():
        kind = next((kind for kind, one in KINDS.items() if one.search(path.name)), None)
        if kind and path.is_file() and path.suffix not in (".html", ".pdf", ".png"):
            yield path.parent.name, kind, read_plain(path)
    for folder in folders:
        for info in sorted(folder.glob("*.dist-info")):
            source = info.name.split("-")[0]
            if source == "peirce":  # its pages change with every commit
                continue
            if (info / "METADATA").is_file():
                found = Parser().parsestr(read_plain(info / "METADATA"))
                yield source, "readme", str(found.get_payload())
            for path in sorted(info.rglob("*")):
                if path.is_file() and KINDS["licence"].search(path.name):
                    yield source, "licence", read_plain(path)


def find_document_sentences(folders: Sequence[Path]) -> Iterator[Row]:
    """Yield sentences of 8 to 60 words. Of sentences that begin alike, only one is given."""
    seen: set[str] = set()
    for source, kind, text in find_document_files(folders):
        text = re.sub(r"<[^<>]*>|https?://\S+|^[ \t]*[.*|+=#>-]+[ \t]*", " ", text, flags=re.M)
        for paragraph in re.split(r"\n\s*\n", text):
            for sentence in split_sentences(" ".join(remove_names(paragraph, [source]).split())):
                words = letters_of(sentence).split()
                begin = " ".join(words[:8])
                if len(words) >= 8 and len(sentence.split()) <= 60 and begin not in seen:
                    seen.add(begin)
                    yield Row((sentence,), kind, source, sentence)


@dataclass(frozen=True)
class ChangelogEntry:
    source: str
    urgency: str
    text: str


def find_changelog_entries() -> Iterator[ChangelogEntry]:
    """Yield the entries of all Debian changelogs, each changelog from the newest entry on."""
    begin = re.compile(r"^(\S+) \([^()\s]+\) [^;\n]*;.*?urgency=(\w+).*$", re.M)
    seen: set[str] = set()
    for path in sorted(DOC.glob("*/changelog*.gz")) if DOC.is_dir() else ():
        parts = begin.split(read_plain(path))
        for source, urgency, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            body = re.sub(r"^ -- .*$|^\s*\[.*\]\s*$", "", body, flags=re.M)
            text = cut_text(re.sub(r"^\s*[*+-]\s", " ", body, flags=re.M))
            key = letters_of(text)
            if len(key.split()) >= 5 and key not in seen:
                seen.add(key)
                yield ChangelogEntry(source, urgency.lower(), text)


# --- manual pages ---------------------------------------------------------------

OMITTED = re.compile(
    r"NAME|SYNOPSIS|AUTHOR|SEE ALSO|COPYRIGHT|REPORTING|HISTORY|COLOPHON|LICENSE|BUGS"
)
FONT = re.compile(r"[.'](?:B|I|BR|RB|BI|IB|IR|RI|SM|SB)\s+(.*)")
BREAK = re.compile(r"[.'](?:PP|P|LP|TP|IP|HP|TQ|RS|RE|SS|br|sp)\b")
ESCAPES = (
    (r"\\f(?:\(..|\[[^]]*\]|.)|\\s[-+]?\d+|\\[&|^/,:%]|\\m\[[^]]*\]", ""), (r"\\-|\\\(hy", "-"),
    (r"\\(?:\(aq|\(cq|\(oq|\*\(Aq)", "'"), (r"\\(?:\(lq|\(rq|\(dq|\*\(L\"|\*\(R\")", '"'),
    (r"\\e|\\\\", "/"), (r"\\[ 0~]", " "), (r"\\\".*", ""), (r"\\(?:\(..|\[[^]]*\]|\*\(..|\*.|.)", ""),
)  # fmt: skip


def read_owners() -> dict[str, str]:
    """Return the package that each manual page belongs to, by the path of the page."""
    found = {}
    for path in sorted(DPKG_LISTS.glob("*.list")) if DPKG_LISTS.is_dir() else ():
        for line in path.read_text("utf-8", "replace").splitlines():
            if line.startswith(f"{MAN}/man"):
                found[line] = path.stem.split(":")[0]
    return found


def find_manual_paragraphs(seed: int) -> Iterator[Row]:
    """Yield paragraphs of manual pages, labelled with the section of the page."""
    owners = read_owners()
    for section, label in (("1", "user commands"), ("8", "administration")):
        pages = Counter[str]()
        folder = MAN / f"man{section}"
        files = sorted(folder.glob(f"*.{section}*")) if folder.is_dir() else []
        for path in sorted(files, key=lambda path: draw(seed, path.name)):
            command = path.name.split(f".{section}")[0]
            source = owners.get(str(path)) or re.split(r"[-_.]", command)[0]
            if path.is_symlink() or pages[source] >= PAGES_PER_SOURCE:
                continue
            pages[source] += 1
            for text in manual_paragraphs(read_plain(path), command)[:PARAGRAPHS_PER_PAGE]:
                yield Row((text,), label, source, path.name)


def manual_paragraphs(roff: str, command: str) -> list[str]:
    """Return the paragraphs of at least 8 words of a page in man(7), without its usual ends."""
    roff = re.sub(r"^\.de\w* .*?^\.\.$", "", roff, flags=re.M | re.S).replace("\\\n", " ")
    if re.search(r"^\.(?:Dd|so) ", roff, re.M):
        return []
    paragraphs, omitted = [""], True
    for line in roff.splitlines():
        if line.startswith((".SH", ".Sh")):
            omitted = bool(OMITTED.search(line.upper()))
            paragraphs.append("")
        elif BREAK.match(line) or not line.strip():
            paragraphs.append("")
        elif not omitted and (found := FONT.match(line)):
            paragraphs[-1] += " " + found[1].replace('"', "")
        elif not omitted and not line.startswith((".", "'")):
            paragraphs[-1] += " " + line
    texts = []
    for text in paragraphs:
        for pattern, new in ESCAPES:
            text = re.sub(pattern, new, text)
        text = cut_text(remove_names(re.sub(r"\(\d[a-z]*\)", "", text), [command]))
        if len(letters_of(text).split()) >= 8:
            texts.append(text)
    return texts

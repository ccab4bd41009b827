"""Build labelled text sets from what comes with Python, installed packages and the operating system.

    python bench/package_texts.py OUT                      # OUT/dev/SET and OUT/final/SET
    python bench/package_texts.py OUT --part dev           # only the sets for development
    python bench/package_texts.py OUT --measure            # also accuracies of baselines on OUT/dev

| set | a text is | the label comes from |
|---|---|---|
| docstrings | the docstring of a function | the name of the function: private if it begins with `_` |
| documents | one sentence of a README, NEWS or licence file | the name of the file |
| urgency | one entry of a Debian changelog | the entry's field `urgency` |
| errors | the message of a `raise` statement | the exception class |
| manual | a paragraph of a manual page | the section of the manual, 1 or 8 |
| docstring_pairs | two docstrings of one package | which of the two functions is public |
| changelog_pairs | two changelog entries of one package | which of the two is newer |

The source of a row is the package it comes from. The sources are divided into two halves by a hash of
their names, so the parts dev and final share no source, whatever else is installed. Within a part,
the out-of-distribution rows (`ood`) come from other sources than training, validation and test rows.
Rows of one manual page are all in the same split. Every split has the same number of rows for each
label. No two texts of a set, both parts together, have the same letters. The same seed and the same
machine give the same sets; other machines have other texts.

To keep labels out of the texts, docstrings lose signature lines, doctests and the names of their
function, module and package; manual pages lose the name of the command and section numbers such as
`(8)`; the placeholders of error messages become "…". A text has at most 200 words and ends with a
sentence where that is possible. A set for which the machine has too few texts is left out with a
sentence that says so.

Not covered: formats of manual pages other than man(7), changelogs of other systems than Debian. The
texts belong to their authors; the sets are built where they are needed and are not published.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import hashlib
import math
import re
import sysconfig
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

from peirce.records import Observation, Problem
from peirce.reports.papers.hypobench.baselines import score_baselines
from peirce.tasks import load_task
from peirce.tasks.text.columns import Columns
from peirce.tasks.text.data_set_files import check_target_folder, save_data_sets
from peirce.tasks.text.problems import LabelledData

DOC = Path("/usr/share/doc")
MAN = Path("/usr/share/man")
DPKG_LISTS = Path("/var/lib/dpkg/info")
PARTS = ("dev", "final")
SEED = 38  # of 60 seeds the one whose halves have the most equal numbers of rows; nothing else was compared
MOST_TRAINING, TEST, VALIDATION = 6_000, 1_000, 500
OOD = (500, 1_000)  # fewest and most
LEAST_TRAINING = 400
PER_SOURCE = 400  # rows of one label
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


@dataclass(frozen=True)
class TextSet:
    """A set and how its rows are found.

    Args:
        name: Name of the set.
        about: What a row is and what its label says, in a sentence.
        labels: The labels.
        find_rows: Returns all rows, in any order.
    """

    name: str
    about: str
    labels: tuple[str, ...]
    find_rows: Callable[[], Iterable[Row]]


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
            if path.is_symlink() or pages[source] >= PER_SOURCE // 4:
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


# --- the sets -------------------------------------------------------------------


def pair_rows(rows: Iterable[Row], first_label: str, seed: int) -> Iterator[Row]:
    """Pair rows of different labels within each source; "first" if the first has `first_label`."""
    by_source: dict[str, dict[bool, list[Row]]] = defaultdict(lambda: {True: [], False: []})
    for row in rows:
        by_source[row.source][row.label == first_label].append(row)
    for source in sorted(by_source):
        own, other = (
            sorted(by_source[source][one], key=lambda row: draw(seed, "pair", row.texts))
            for one in (True, False)
        )
        for one, two in zip(own, other, strict=False):
            texts = (*one.texts, *two.texts)
            swapped = draw(seed, "order", texts) % 2 == 1
            text = texts[::-1] if swapped else texts
            yield Row(text, "second" if swapped else "first", source, one.group)


def pair_entries(entries: Iterable[ChangelogEntry], seed: int) -> Iterator[Row]:
    """Pair random entries of one package; "first" if the first text is the newer one."""
    by_source: dict[str, list[str]] = defaultdict(list)
    for one in entries:
        by_source[one.source].append(one.text)
    for source, texts in sorted(by_source.items()):
        places = sorted(range(len(texts)), key=lambda place: draw(seed, source, texts[place]))
        for one, two in zip(places[::2], places[1::2], strict=False):
            yield Row(
                (texts[one], texts[two]),
                "first" if one < two else "second",
                source,
                source + texts[one],
            )


def list_sets(folders: Sequence[Path], seed: int) -> list[TextSet]:
    """Return all sets; the Python sources and the changelogs are read once."""
    docstrings: list[Row] = []
    messages: list[Row] = []
    for module in parse_modules(find_python_files(folders, seed)):
        docstrings += find_docstrings(module)
        messages += find_messages(module)
    entries = list(find_changelog_entries())
    classes = ("ValueError", "TypeError")
    urgencies = ("low", "medium")
    return [
        TextSet("docstrings", "Docstrings of Python functions; the label says whether the function is"
                " private or public.", ("private", "public"), lambda: docstrings),
        TextSet("documents", "Sentences from the files of packages; the label says what kind of file it"
                " is.", tuple(KINDS), lambda: find_document_sentences(folders)),
        TextSet("urgency", "Entries of Debian changelogs; the label is the urgency of the upload.",
                urgencies, lambda: [Row((e.text,), e.urgency, e.source, e.text) for e in entries]),
        TextSet("errors", "Error messages of Python packages; the label is the class of the exception.",
                classes, lambda: messages),
        TextSet("manual", "Paragraphs of manual pages; the label is the section of the manual.",
                ("user commands", "administration"), lambda: find_manual_paragraphs(seed)),
        TextSet("docstring_pairs", "Two docstrings of one Python package; the label says which is that of"
                " the public function.", ("first", "second"), lambda: pair_rows(docstrings, "public", seed)),
        TextSet("changelog_pairs", "Two changelog entries of one Debian package; the label says which is"
                " the newer one.", ("first", "second"), lambda: pair_entries(entries, seed)),
    ]  # fmt: skip


def select_rows(rows: Iterable[Row], labels: Sequence[str], seed: int) -> list[Row]:
    """Return the rows of a set in an order by hash: no text twice, at most `PER_SOURCE` of each source
    and label.
    """
    seen: set[str] = set()
    counts = Counter[tuple[str, str]]()
    found = []
    for row in sorted(rows, key=lambda row: (draw(seed, row.texts), row.label)):
        keys = [letters_of(text) for text in row.texts]
        if row.label not in labels or len({*keys} - seen) < len(keys):
            continue
        seen.update(keys)
        if counts[row.source, row.label] < PER_SOURCE:
            counts[row.source, row.label] += 1
            found.append(row)
    return found


def part_of(source: str, seed: int) -> str:
    """Return the part that a source belongs to, by a hash of its name alone."""
    return PARTS[draw(seed, "part", source) % 2]


def balance_labels(rows: Sequence[Row], labels: Sequence[str], each: int) -> list[Row]:
    """Return the first `each` rows of each label."""
    left = dict.fromkeys(labels, each)
    kept = []
    for row in rows:
        if left[row.label]:
            left[row.label] -= 1
            kept.append(row)
    return kept


def take_groups(groups: list[list[Row]], labels: Sequence[str], size: int) -> list[Row]:
    """Remove groups from a list until a split has `size` rows, and return its rows.

    Rows of a label that has enough are lost. Groups with more than a quarter of the split, and those
    that would make one label much more frequent than another, are therefore taken last.
    """
    each = size // len(labels)
    taken: list[Row] = []
    counts = Counter[str]()
    for difference, largest in (
        (0.1 * each, size / 4),
        (0.2 * each, size / 2),
        (math.inf, math.inf),
    ):
        kept: list[list[Row]] = []
        for group in groups:
            after = counts + Counter(row.label for row in group)
            numbers = [after[one] for one in labels]
            wanted = any(counts[row.label] < each for row in group)
            fits = len(group) <= largest and max(numbers) - min(numbers) <= difference
            if wanted and fits:
                taken += group
                counts = after
            else:
                kept.append(group)
        groups[:] = kept
    return balance_labels(taken, labels, min(each, *(counts[one] for one in labels)))


def split_rows(rows: Sequence[Row], labels: Sequence[str], seed: int) -> dict[str, list[Row]]:
    """Divide the rows of a part into the splits, with equally many rows of each label."""
    fewest = min(sum(row.label == label for row in rows) for label in labels)
    rows = balance_labels(rows, labels, fewest)

    def grouped(some: Sequence[Row], key: Callable[[Row], str]) -> list[list[Row]]:
        found: dict[str, list[Row]] = defaultdict(list)
        for row in some:
            found[key(row)].append(row)
        return [found[one] for one in sorted(found, key=lambda one: draw(seed, "split", one))]

    sources = grouped(rows, lambda row: row.source)
    size = min(OOD[1], max(OOD[0], len(rows) // 6))
    splits = {"ood": take_groups(sources, labels, size)}
    left = grouped([row for one in sources for row in one], lambda row: row.group)
    for name, size in (("test", TEST), ("val", VALIDATION), ("train", MOST_TRAINING)):
        splits[name] = take_groups(left, labels, size)
    return {name: splits[name] for name in ("train", "val", "test", "ood")}


def describe_shortage(splits: dict[str, list[Row]], labels: Sequence[str]) -> str | None:
    """Return which split has too few rows, or None."""
    least = {"train": LEAST_TRAINING, "val": VALIDATION, "test": TEST, "ood": OOD[0]}
    short = [
        f"{len(splits[name])} of {size} {name} rows"
        for name, size in least.items() if len(splits[name]) < size - size % len(labels)
    ]  # fmt: skip
    return ", ".join(short) or None


def make_data(one: TextSet, splits: dict[str, list[Row]], with_source: bool) -> LabelledData:
    pair = len(splits["train"][0].texts) == 2
    names = ("text_1", "text_2") if pair else ("text",)
    about = {name: {"kind": "text", "about": ""} for name in names}
    if with_source:
        about["source"] = {"kind": "text", "about": "The package that the row comes from."}

    def observation(row: Row) -> Observation:
        source = {"source": row.source} if with_source else {}
        return Observation({**dict(zip(names, row.texts, strict=True)), **source}, row.label)

    columns = Columns(about, "pair" if pair else "text", one.labels)
    rows = {name: tuple(map(observation, some)) for name, some in splits.items()}
    return LabelledData(one.name, "label", one.labels, columns, splits=rows, description=one.about)


# --- measuring ------------------------------------------------------------------


def measure(folder: Path, seed: int) -> None:
    """Print the accuracy of the baselines on test and OOD rows, trained on 200 rows and on all."""
    print("set              rows   baseline  test  ood")
    for place in sorted(one for one in folder.iterdir() if one.is_dir()):
        for shown in (200, MOST_TRAINING):
            problem: Problem = load_task("labels").load(str(place), str(shown), seed)[0]
            found = defaultdict(dict)
            for one in score_baselines(problem):
                found[one["name"]][one["split"]] = one["accuracy"]
            for name, some in found.items():
                print(
                    f"{place.name:16} {len(problem.shown):5}  {name:8} {some['ind']:.3f} {some['ood']:.3f}"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="the folder to write to, new or empty")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS,
                        help="which halves of the sources")  # fmt: skip
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", nargs="*", metavar="SET", help="build only these sets")
    parser.add_argument("--packages", type=Path, nargs="*", default=[], metavar="DIR",
                        help="further site-packages folders")  # fmt: skip
    parser.add_argument("--with-source", action="store_true", help="add a column with the package")
    parser.add_argument(
        "--measure", action="store_true", help="measure baselines on the part dev, never on final"
    )
    given = parser.parse_args()
    for part in given.part:
        check_target_folder(given.out / part)  # before the minutes that reading takes
    found = [
        (one, select_rows(one.find_rows(), one.labels, given.seed))
        for one in list_sets(python_folders(given.packages), given.seed)
        if not given.only or one.name in given.only
    ]
    for part in given.part:
        made = []
        for one, rows in found:
            own = [row for row in rows if part_of(row.source, given.seed) == part]
            splits = split_rows(own, one.labels, given.seed)
            if lack := describe_shortage(splits, one.labels):
                print(f"{part}/{one.name} is left out: this machine's packages give only {lack}.")
                continue
            made.append(make_data(one, splits, given.with_source))
            sizes = ", ".join(f"{len(some):,} {name}" for name, some in splits.items())
            sources = len({row.source for some in splits.values() for row in some})
            labels = ", ".join(one.labels)
            print(f"{part}/{one.name}: {sizes}; {sources} sources; as many of each of {labels}")
        save_data_sets(made, given.out / part)
    if given.measure and PARTS[0] in given.part:
        measure(given.out / PARTS[0], given.seed)


if __name__ == "__main__":
    main()

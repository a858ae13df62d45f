"""Which files a folder has, and what their names say. Nothing is opened here."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path

DOCUMENTS = "documents-with-ids.json"
GENERATED = "ground-truth-data.csv"
JUDGED = "judged-queries.csv"
LOG = "queries.csv"
TEXTS = "judged-texts.csv"  # what was judged, see `labels`
FAILURES = "failures.csv"  # of an earlier run, with causes that a person wrote
COLUMNS_FILE = "columns.toml"  # beside the documents: ours = "theirs"
RESULTS = "run.json"  # in a folder that the command wrote
HIDDEN = (".", "~$")  # .DS_Store, ._notes.csv, ~$open-in-Excel.xlsx
PAGE_SUFFIXES = [".md", ".mdx", ".html", ".htm"]
FOLDERS = ["corpus", "queries", "qrels", "default", "runs", "ratings", "data"]
FOLDERS += ["eval", "evals", "evaluation", "golden", "tests"]
RUN_SUFFIXES = ["trec", "run", "txt", "tsv", "json", "csv", "ndjson", "parquet"]
RUN_SUFFIXES += ["xlsx"]
KINDS = {  # of files, and patterns of their places in small letters; the first fits
    "generated": [GENERATED],
    "judged": [JUDGED],
    "more": [
        COLUMNS_FILE,
        FAILURES,
        TEXTS,
        "calls.jsonl",
        "judgements-*.csv",
        "*.former",
        "*.lock",
        "*.py",
    ],
    "runs": [f"runs/*.{end}*" for end in RUN_SUFFIXES],
    "queries": ["quer[iy]*", "topics*"],
    "qrels": ["qrels*", "default/*"],
    "documents": [DOCUMENTS, "corpus[./]*", "documents.*", "collection.*"],
}
# What stands deeper is looked into only if it is called like a test set. In a folder
# data, say, may be anything
SETS = ["eval*/*", "golden/*", "ratings/*", "*golden*", "*ground*truth*", "*test*set*"]
OURS = {DOCUMENTS, LOG, GENERATED, JUDGED}  # in a folder of our own form
# Beginnings of names of texts that are about a project, and no documents
NO_TEXTS = ("readme", "changelog", "license", "contributing", "security", "code_of")
NO_TEXTS += ("requirements", "constraints", "robots", "notice", "cmake")
LARGEST_SET = 100_000_000  # bytes; a larger table beside documents is not looked into
SETTINGS_TOO = (".yaml", ".yml")  # are often settings of another tool
NOT_OURS = ("node_modules", "venv", "site-packages", "__pycache__")
SPLITS = ["test", "dev", "train"]  # the first that is there counts


@dataclass(frozen=True)
class Listing:
    """The files of a folder, or a file.

    top: the folder. named: by kind, see KINDS, the files that are called so. tables:
    other files that may be tables. pages: Markdown and HTML. below: tables deeper in
    the folder, and texts: .txt that are called like nothing else; both are looked at
    only where nothing else holds documents. files: all that was looked at. notes:
    sentences on what is not read."""

    top: Path
    named: dict[str, list[Path]]
    tables: list[Path]
    pages: list[Path]
    below: list[Path]
    texts: list[Path]
    files: list[Path]
    notes: list[str]


def suffix_of(path: Path) -> str:
    """The last suffix of a path without .gz: ".csv" of "a.csv.gz", and of "A.CSV"."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def list_files(source: Path, suffixes: Iterable[str]) -> Listing:
    """List a folder, or a file alone, by patterns of places.

    suffixes: of the tables that can be read. In a folder of our own form only our
    files count. Of qrels for several splits the first of SPLITS counts."""
    results = results_in(source)
    top = source if source.is_dir() else source.parent
    places = ["*", *(f"{folder}/*" for folder in FOLDERS)]
    files = visible([source, *chain.from_iterable(map(source.glob, places))])
    files = [path for path in files if path.parent not in results]
    is_ours = (source / DOCUMENTS).exists()
    named: dict[str, list[Path]] = {kind: [] for kind in KINDS}
    tables = []
    considered = []
    for path in files:
        place = path.relative_to(top).as_posix().lower()
        kind = kind_of(place)
        are_texts = "/" in place and suffix_of(path) in [*PAGE_SUFFIXES, ".txt"]
        if kind == "documents" and are_texts:
            kind = None  # pages, in a folder that is called as BEIR's file is
        is_deep = "/" in place and kind is None
        if is_deep and not any(fnmatch(place, pattern) for pattern in SETS):
            continue
        considered.append(path)
        if is_ours and kind not in ("more", "runs") and place not in OURS:
            continue
        if kind:
            named[kind].append(path)
        elif suffix_of(path) in suffixes:
            tables.append(path)
    notes = [f"{path.name}: results of this command, not read" for path in results]
    for split in SPLITS:
        of_split = [
            path for path in named["qrels"] if re.match(rf"{split}\b", path.name)
        ]
        if 0 < len(of_split) < len(named["qrels"]):
            notes.append(f"of qrels/ {split} is read; for others take its file out")
        named["qrels"] = of_split or named["qrels"]
    inner = [] if source.is_file() else files_in(source)
    return Listing(
        top=top,
        named=named,
        tables=tables,
        pages=[path for path in inner if suffix_of(path) in PAGE_SUFFIXES],
        below=[each for each in inner if _is_below(each, top, suffixes, considered)],
        texts=[path for path in inner if _is_text(path, top)],
        files=considered,
        notes=notes,
    )


def kind_of(place: str) -> str | None:
    """What a place in a folder is called like; see KINDS."""
    for kind, patterns in KINDS.items():
        if any(fnmatch(place, pattern) for pattern in patterns):
            return kind
    return None


def _is_below(path, top, suffixes, considered):
    """Whether a file deeper in a folder may be a table of documents."""
    place = path.relative_to(top).as_posix().lower()
    is_table = suffix_of(path) in suffixes and suffix_of(path) not in SETTINGS_TOO
    return is_table and path not in considered and kind_of(place) is None


def _is_text(path, top):
    """Whether a .txt may be a page: it is called as no file of ours, and as no part of
    a program."""
    place = path.relative_to(top).as_posix().lower()
    is_ours = kind_of(path.name.lower()) or kind_of(place) not in (None, "documents")
    is_page = suffix_of(path) == ".txt" and not path.name.lower().startswith(NO_TEXTS)
    return is_page and not is_ours


def pages_of(folder: Path) -> list[Path]:
    """The Markdown and HTML pages among `files_in` a folder."""
    return [path for path in files_in(folder) if suffix_of(path) in PAGE_SUFFIXES]


def files_in(folder: Path) -> list[Path]:
    """The visible files of a folder and of those in it, without results.

    Those in folders of tools are left out, see HIDDEN and NOT_OURS."""
    results = {*results_in(folder)}
    paths = visible(
        path
        for path in folder.rglob("*")
        if not any(
            part.startswith(HIDDEN) or part in NOT_OURS
            for part in path.relative_to(folder).parts
        )
    )
    return [path for path in paths if results.isdisjoint(path.parents)]


def results_in(folder: Path) -> list[Path]:
    """The folders in a folder that hold results of this command."""
    return [path.parent for path in folder.rglob(RESULTS) if path.parent != folder]


def visible(paths: Iterable[Path]) -> list[Path]:
    """Files, sorted, without those that programs leave there, see HIDDEN.

    ValueError for a link to nothing, and a name that is not UTF-8."""
    files = [path for path in paths if not path.name.startswith(HIDDEN)]
    for path in files:
        if not path.name.isprintable() or not path.exists():
            problem = "a name that cannot be shown, or a link to nothing or to itself"
            raise ValueError(f"{str(path)!a}: {problem}: mend it, or take it out")
    return sorted(filter(Path.is_file, files))

"""Which files a folder has, and what their names say. Nothing is opened here."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from evaluate_retrieval import utils

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
        "forbidden.csv",
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
KEPT_IN = "judging"  # what the command keeps beside the documents, see `kept`
NOT_OURS = ("node_modules", "venv", "site-packages", "__pycache__", KEPT_IN)
NOT_READ = "was written by this command, and is not read as data"
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
    tables: list[Path] = field(default_factory=list)
    pages: list[Path] = field(default_factory=list)
    below: list[Path] = field(default_factory=list)
    texts: list[Path] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def suffix_of(path: Path) -> str:
    """The last suffix of a path without .gz: ".csv" of "a.csv.gz", and of "A.CSV"."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def list_files(source: Path, suffixes: Iterable[str]) -> Listing:
    """List a folder, or a file alone, by patterns of places.

    suffixes: of the tables that can be read. In a folder of our own form only our
    files count. Of qrels for several splits the first of SPLITS counts."""
    top = source if source.is_dir() else source.parent
    listing = Listing(top, {kind: [] for kind in KINDS})
    is_ours = (source / DOCUMENTS).exists()
    for path in files_in(source) if source.is_dir() else visible([source]):
        parts = path.relative_to(top).parts
        place = "/".join(parts).lower()
        suffix = suffix_of(path)
        is_text = suffix in (*PAGE_SUFFIXES, ".txt")
        if suffix in PAGE_SUFFIXES and source.is_dir():
            listing.pages.append(path)
        is_near = len(parts) == 1 or (len(parts) == 2 and parts[0] in FOLDERS)
        if not is_near and suffix not in suffixes and not is_text:
            continue
        kind = kind_of(place)
        # pages may lie in a folder that is called as BEIR's file is
        kind = None if kind == "documents" and is_text and len(parts) > 1 else kind
        if suffix == ".txt" and kind is None and _may_be_prose(path):
            listing.texts.append(path)
        if not (is_near and (len(parts) == 1 or kind or _fits(place, SETS))):
            if kind is None and suffix in {*suffixes} - {*SETTINGS_TOO}:
                listing.below.append(path)
            continue
        listing.files.append(path)
        if is_ours and kind not in ("more", "runs") and place not in OURS:
            continue
        if kind:
            listing.named[kind].append(path)
        elif suffix in suffixes:
            listing.tables.append(path)
    results = _results_in(source)
    listing.notes.extend(f"{each.name}/ {NOT_READ}" for each in results)
    qrels = listing.named["qrels"]
    for split in SPLITS:
        of_split = [path for path in qrels if re.match(rf"{split}\b", path.name)]
        if 0 < len(of_split) < len(qrels):
            listing.named["qrels"] = of_split
            told = f"of qrels/ {split} is read; for others take its file out"
            listing.notes.append(told)
            break
    return listing


def kind_of(place: str) -> str | None:
    """What a place in a folder is called like; see KINDS."""
    kinds = (kind for kind, patterns in KINDS.items() if _fits(place, patterns))
    return next(kinds, None)


def _fits(place, patterns):
    return any(fnmatch(place, pattern) for pattern in patterns)


def _may_be_prose(path):
    """Whether a .txt is called as no file of ours, and as no part of a program."""
    name = path.name.lower()
    return kind_of(name) is None and not name.startswith(NO_TEXTS)


def files_in(folder: Path) -> list[Path]:
    """The visible files of a folder and of those in it, without results.

    Those in folders of tools are left out, see HIDDEN and NOT_OURS."""
    results = {*_results_in(folder)}
    paths = visible(
        path
        for path in folder.rglob("*")
        if not any(
            part.startswith(HIDDEN) or part in NOT_OURS
            for part in path.relative_to(folder).parts
        )
    )
    return [path for path in paths if results.isdisjoint(path.parents)]


def _results_in(folder):
    """The folders in a folder that hold results of this command."""
    return [path.parent for path in folder.rglob(RESULTS) if path.parent != folder]


def visible(paths: Iterable[Path]) -> list[Path]:
    """Files, sorted, without those that programs leave there, see HIDDEN.

    ValueError for a link to nothing, and a name that is not UTF-8."""
    files = [path for path in paths if not path.name.startswith(HIDDEN)]
    for path in files:
        if not path.name.isprintable() or not path.exists():
            problem = "a name that cannot be shown, or a link to nothing or to itself"
            shown = f"{str(path)!a}"  # other letters may not be shown either
            raise utils.InputError(shown, problem, advice="mend it, or take it out")
    return sorted(filter(Path.is_file, files))

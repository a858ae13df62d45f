"""Which files hold the documents, where no name at the top of a folder says so.

Nothing is guessed: where several could be them, the error shows what columns.toml
needs. What lies deeper in the folder counts where nothing nearer holds texts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluate_retrieval import utils
from evaluate_retrieval.reading.columns import Settings
from evaluate_retrieval.reading.kinds import Traits, kind_of_table
from evaluate_retrieval.reading.listing import LARGEST_SET, NO_TEXTS, Listing, kind_of
from evaluate_retrieval.reading.opening import Table, open_tables
from evaluate_retrieval.reading.pages import is_prose

MOST_FOLDERS = 3  # that a note names


@dataclass(frozen=True)
class Chosen:
    """What holds the documents: tables that were opened, a file, or pages.

    notes: sentences on what was chosen, where a person could mean something else."""

    tables: Sequence[Table] = ()
    paths: Sequence[Path] = ()
    pages: Sequence[Path] = ()
    notes: Sequence[str] = ()


def documents_in(listing: Listing, settings: Settings, waiting: list[Traits]) -> Chosen:
    """What holds the documents of a folder.

    waiting: tables that may be documents. Tables of texts come first, then pages, then
    what lies deeper, and questions with answers last. ValueError where two of these
    are there, or several files deeper."""
    if settings.are_documents:
        return _declared(listing, settings, waiting)
    texts = [look.table for look in waiting if look.kind == "documents"]
    pages = [
        path for path in listing.pages if not path.stem.lower().startswith(NO_TEXTS)
    ]
    if texts and pages:
        raise _two_readings(listing, texts[0], pages)
    if texts:
        return Chosen(tables=texts)
    if pages:
        return Chosen(pages=listing.pages, notes=_notes_on(listing, pages))
    below = _below(listing, settings, listing.top)
    prose = list(filter(is_prose, listing.texts))
    if below or prose:
        return _deeper(listing, below, prose)
    if listing.pages:
        return Chosen(pages=listing.pages)
    return Chosen([look.table for look in waiting if look.kind == "answers"])


def _declared(listing, settings, waiting):
    """What columns.toml says: pages, a file, or a folder with pages or one table."""
    name = settings.are_documents
    place = listing.top / name
    prose = list(filter(is_prose, listing.texts))
    if name == "pages":
        return Chosen(pages=listing.pages or prose)
    if place.is_dir():
        inside = sorted(
            path for path in [*listing.pages, *prose] if place in path.parents
        )
        below = _below(listing, settings, place)
        return Chosen(pages=inside) if inside else _deeper(listing, below, [])
    tables = [look.table for look in waiting if look.table.path.name == name]
    paths = [path for path in listing.below if path == place or path.name == name]
    if not tables and not paths:
        problem = f'= "{name}" is no file or folder with texts, and not pages'
        raise utils.InputError(listing.top, problem, option="documents_are")
    return Chosen(tables=tables) if tables else _deeper(listing, paths, [])


def _below(listing, settings, folder):
    """Tables of texts deeper in a folder. Those that are called so go before others."""
    small = [
        path
        for path in listing.below
        if folder in path.parents and path.stat().st_size <= LARGEST_SET
    ]
    named = [path for path in small if kind_of(path.name.lower()) == "documents"]
    return named or [path for path in small if _has_texts(path, settings)]


def _has_texts(path, settings):
    """Whether a file can be opened, and holds texts of documents."""
    try:
        tables = open_tables(path, settings.encoding)
    except ValueError:
        return False
    return any(kind_of_table(table, settings) == "documents" for table in tables)


def _deeper(listing, below, prose):
    """The one table, or the texts, deeper in a folder. ValueError for several."""
    places = [path.relative_to(listing.top).as_posix() for path in below]
    texts = [f"{len(prose):,} files of text{_shown(prose)}"] if prose else []
    if len(places) + len(texts) > 1:
        named = ", ".join([*places, *texts])
        problem = f"several things may be the documents: {named}"
        advice = f'write documents_are = "{places[0]}", or the name of a folder, into'
        raise utils.InputError(listing.top, problem, advice=f"{advice} columns.toml")
    notes = [f"{place}: read as the documents" for place in places]
    notes += [f"{text} are read as pages" for text in texts]
    return Chosen(paths=below, pages=prose, notes=notes)


def _notes_on(listing, pages):
    """Sentences on pages of several folders of a repository, and on texts beside them.

    A repository is what has a test set in a folder."""
    top = listing.top
    if all(path.parent == top for path in listing.files):
        return []
    advice = 'documents_are = "FOLDER" in columns.toml'
    places = [path.parent.relative_to(top).parts for path in pages]
    folders = Counter(parts[0] if parts else "the folder itself" for parts in places)
    there = {page.parent for page in pages}
    beside = [path for path in listing.texts if path.parent in there]
    notes = []
    if len(folders) > 1:
        counts = folders.most_common(MOST_FOLDERS)
        listed = ", ".join(f"{n:,} in {name}" for name, n in counts)
        more = " …" if len(folders) > MOST_FOLDERS else ""
        notes.append(f"pages of several folders: {listed}{more}; {advice} takes one")
    if beside := list(filter(is_prose, beside)):
        n = f"{len(beside):,} files of text beside pages{_shown(beside)} are not read"
        notes.append(f"{n}; {advice} reads all of a folder")
    return notes


def _shown(paths):
    """The names of the first files in brackets; "" for none."""
    names = ", ".join(path.name for path in paths[:3])
    return f" ({names}{' …' if len(paths) > 3 else ''})" if names else ""


def _two_readings(listing, table, pages):
    """The error where a table of texts lies beside pages."""
    rows = table.frame.head(3).astype(str).to_dict("records")
    named = ", ".join(path.name for path in pages[:3])
    problem = (
        f"two things may be the documents: {len(pages):,} pages ({named} …), or "
        f"{table.name} with {len(table.frame):,} rows ({rows})"
    )
    advice = (
        f'write documents_are = "pages", or documents_are = "{table.path.name}", into '
        "columns.toml"
    )
    return utils.InputError(listing.top, problem, advice=advice)

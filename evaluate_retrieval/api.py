"""The commands as functions, for a notebook, a script or a test.

    from evaluate_retrieval import evaluate

    result = evaluate("faq", searches={"ours": search}, incumbent="shipped")
    str(result)              # the decision
    result.table("queries")  # one of the tables that were written, a DataFrame

Options are those of the command line, by the same names with `_` for `-`, and with the
same defaults. An error is raised, where the command line ends with 3."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from evaluate_retrieval import line, utils
from evaluate_retrieval.reading.files import encodable, read_csv
from evaluate_retrieval.reading.writing import write_table, write_text

Source = str | Path | pd.DataFrame | list[dict] | None
Searches = str | Path | Mapping[str, Callable]
# columns of tables that hold what a user wrote
TEXT_COLUMNS = {"query_id", "query", "question", "document", "course", "kind", "need"}
TEXT_COLUMNS |= {"search", "agent", "found", "becomes", "first document", "title"}
FRAME = '<iframe srcdoc="{}" style="width: 100%; height: 40em; border: 0"></iframe>'


@dataclass(frozen=True)
class Result:
    """What a command has found.

    facts: what --json writes, a dict. As text it is the decision, and in a notebook
    the report."""

    facts: dict

    def __getitem__(self, name: str) -> Any:
        """One of the facts, such as "verdict", "search" or "difference"."""
        return self.facts[name]

    @property
    def says(self) -> str:
        """The decision in words."""
        return self.facts["says"]

    @property
    def code(self) -> int:
        """The exit code: 0 not worse, 1 worse, 2 undecided."""
        return self.facts["code"]

    @property
    def files(self) -> list[Path]:
        """The files that were written, what to open first."""
        return [Path(path) for path in self.facts.get("files", ())]

    def table(self, name: str) -> pd.DataFrame:
        """A table that was written, by its name without .csv. KeyError for another."""
        tables = {path.stem: path for path in self.files if path.suffix == ".csv"}
        if name not in tables:
            raise KeyError(f"{name!r}: there is {', '.join(tables) or 'no table'}")
        table = read_csv(tables[name])
        return table.apply(_as_numbers)

    def __str__(self) -> str:
        return "\n".join(line.last_lines(self.facts))

    def _repr_html_(self) -> str:
        pages = [path for path in self.files if path.suffix == ".html"]
        if not pages:
            return f"<p>{escape(self.says)}</p>"
        return FRAME.format(escape(pages[0].read_text("utf-8")))


def _as_numbers(column: pd.Series) -> pd.Series:
    """A column of texts as numbers, or True and False, where all of it are such.

    An empty cell is NaN. Ids and texts of users stay texts: 007 is no 7."""
    if column.name in TEXT_COLUMNS:
        return column
    truths = column.map({"True": True, "False": False})
    if len(column) and truths.notna().all():
        return truths.astype(bool)
    numbers = pd.to_numeric(column.replace("", "nan"), errors="coerce")
    is_number = numbers.notna() | (column == "")
    return numbers if is_number.all() else column.replace("", None)


@contextmanager
def _folder_of(documents: Source, queries: pd.DataFrame | None) -> Iterator[Any]:
    """The path of the documents; of objects a folder with them, while it lasts."""
    if documents is None or isinstance(documents, str | Path):
        if queries is not None:
            problem = "they lie in the folder, which you have named"
            raise utils.InputError("queries", problem)
        yield documents
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        records = pd.DataFrame(documents, dtype=object)
        _write_lines(records, folder / "documents.jsonl")
        if queries is not None:
            is_judged = "document" in queries
            if is_judged and "grade" not in queries:
                advice = "add it, 1 for relevant"
                raise utils.InputError(
                    "queries", "not there", column="grade", advice=advice
                )
            cells = queries.astype(object).fillna("")
            texts = cells.map(lambda cell: encodable(str(cell)))
            if is_judged:
                write_table(texts, folder / "judged-queries.csv")
            else:  # of such a table no ' is taken away: people write it
                _write_lines(texts, folder / "queries.jsonl")
        yield folder


def _write_lines(table: pd.DataFrame, path: Path) -> None:
    """Write a table as JSON Lines; half surrogate pairs become question marks."""
    table = table.map(lambda cell: encodable(cell) if isinstance(cell, str) else cell)
    write_text(path, table.to_json(orient="records", lines=True))


def _carried_out(
    command: str, documents: Source, queries: pd.DataFrame | str | None, given: dict
) -> Result:
    if isinstance(queries, str):  # of which kind, as on the command line
        given = {"queries": queries, **given}
        queries = None
    words = [f"{name}={given[name]!r}" for name in given]
    called = ("evaluate_retrieval", command, *words)
    with _folder_of(documents, queries) as folder:
        asked = line.module_of(command).OPTIONS(folder=folder, line=called, **given)
        return Result(line.carry_out(command, asked))


def evaluate(
    documents: Source,
    queries: pd.DataFrame | str | None = None,
    *,
    searches: Searches | None = None,
    **options: Any,
) -> Result:
    """Run all searches, decide, and write the report into `out`, results by default.

    documents: a folder or a file; or a DataFrame or a list of dicts, with at least a
    text. queries: then a DataFrame with query, document and grade, a row for each
    judgement, or with query alone; of a folder, the kind that decides, "judged" or
    "generated". searches: a dict of name: function, each (question,
    course) → ids or documents with an id, best first; or a file. options: see
    `commands.options.SearchOptions`. ValueError names the file, the row or the option
    that is wrong."""
    given = {"searches": searches, **options}
    return _carried_out("evaluate", documents, queries, given)


def compare(
    documents: Source,
    a: str,
    b: str,
    queries: pd.DataFrame | str | None = None,
    *,
    searches: Searches | None = None,
    **options: Any,
) -> Result:
    """Say whether the search a is better or worse than b: see `evaluate`.

    Its facts have pair, difference, low, high, p, wins, ties and losses."""
    given = {"a": a, "b": b, "searches": searches, **options}
    return _carried_out("compare", documents, queries, given)


def gate(
    documents: Source,
    baseline: str | Path,
    queries: pd.DataFrame | str | None = None,
    *,
    searches: Searches | None = None,
    **options: Any,
) -> Result:
    """Hold a search against a baseline, a file of an earlier run: see `evaluate`.

    The code of the result is 0 where it is not worse."""
    given = {"baseline": Path(baseline), "searches": searches, **options}
    return _carried_out("gate", documents, queries, given)


def judge(folder: str | Path, **options: Any) -> Result:
    """Ask for grades, one key each, and add them to the folder."""
    return _carried_out("judge", folder, None, options)


def demo(folder: str | Path | None = None, **options: Any) -> Result:
    """Write a small folder of ours, and evaluate it."""
    return _carried_out("demo", folder, None, options)


def sample(folder: str | Path, **options: Any) -> Result:
    """Draw queries of a log to judge, by strata, with weights."""
    return _carried_out("sample", folder, None, options)


def calls(folder: str | Path, **options: Any) -> Result:
    """Say what each call of agents adds that search several times."""
    return _carried_out("calls", folder, None, options)


def labels(folder: str | Path, **options: Any) -> Result:
    """Say which judgements outlive an edit of the documents. old: the former folder."""
    return _carried_out("labels", folder, None, options)


def power(folder: str | Path | None = None, **options: Any) -> Result:
    """Say how many needs show which difference, and what those of a folder show."""
    return _carried_out("power", folder, None, options)


def export(folder: str | Path, form: str = "trec", **options: Any) -> Result:
    """Write the judgements of a folder in the form of another tool, see `EXPORTS`."""
    return _carried_out("export", folder, None, {"form": form, **options})


def history(folder: str | Path, **options: Any) -> Result:
    """List the figures of the runs so far, which `evaluate` has kept in the folder."""
    return _carried_out("history", folder, None, options)


def columns(folder: str | Path, **options: Any) -> Result:
    """Say what was understood of each file, and write columns.toml to correct."""
    return _carried_out("columns", folder, None, options)

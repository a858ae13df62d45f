"""What the installed command makes of folders: `as_installed.py FOLDER OUT NAME …`.

FOLDER has a folder or a file for each; those of the names are evaluated, too.
test_install runs this program in a fresh environment, and calls `as_read` in its own.
It imports nothing else of ours."""

import contextlib
import importlib
import io
import json
import pkgutil
import sys
import warnings
from importlib import metadata
from pathlib import Path

import evaluate_retrieval
from evaluate_retrieval import line
from evaluate_retrieval.judging.plain import plain_text
from evaluate_retrieval.reading import folder

NAME = "retrieval-evaluation-course"


def as_read(path):
    """All that is read of a folder, and what is said of it; or the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            data = folder.read(path)
        except ValueError as error:
            return {"error": str(error)}
    tables = [data.log, data.judgements, data.unanswered]
    tables += [*data.test.values(), *data.development.values()]
    said = [*data.notes, *(str(warning.message) for warning in caught)]
    content = {
        "documents": data.documents,
        "chunks": data.chunks,
        "runs": data.runs,
        "tables": [table.astype(str).to_dict("records") for table in tables],
        "said": said,
    }
    return json.loads(json.dumps(content, default=str))


def as_evaluated(path, out):
    """How the command ends for a folder: its code, what it says, and its pages."""
    said = io.StringIO()
    result = io.StringIO()
    with contextlib.redirect_stdout(result), contextlib.redirect_stderr(said):
        words = [str(path), "--json", "--no-tuning", "--out", str(out)]
        code = line.main(words)
    pages = sorted(page.name for page in out.glob("*.html") if page.stat().st_size)
    board = json.loads(result.getvalue()).get("leaderboard", [])
    names = [row["search"] for row in board]
    return {"code": code, "said": said.getvalue(), "pages": pages, "searches": names}


def loaded():
    """The names of the packages that are imported, as they are installed."""
    for module in pkgutil.walk_packages(evaluate_retrieval.__path__, "."):
        importlib.import_module(module.name, "evaluate_retrieval")
    plain_text("*Markdown*")  # its parser is loaded when a text asks for it
    packages = metadata.packages_distributions()
    modules = {name.partition(".")[0] for name in sys.modules}
    return sorted({name for module in modules for name in packages.get(module, [])})


def main(source, out, *names):
    """Read each folder, evaluate those of the names, and print it all as JSON."""
    paths = sorted(Path(source).iterdir())
    results = {
        path.name: [
            as_read(path),
            as_evaluated(path, Path(out) / path.name) if path.name in names else None,
        ]
        for path in paths
    }
    summary = {
        "folders": results,
        "loaded": loaded(),
        "needed": metadata.requires(NAME),
        "from": evaluate_retrieval.__file__,
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    main(*sys.argv[1:])

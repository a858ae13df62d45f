"""`demo`: a small folder of ours, evaluated, to copy for one of your own."""

import logging
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluate_retrieval import utils
from evaluate_retrieval.commands import evaluate
from evaluate_retrieval.commands.options import FILLED, DecidingOptions, Options, option
from evaluate_retrieval.reading.writing import make_folder, write_bytes, write_text

HELP = "a small folder of ours, evaluated: it ships one of four searches"
DEMO_FOLDER = "evaluate-retrieval-demo"
DEMO_FILES = Path(__file__).parent.parent / "words" / "demo"
TEMPLATE = "searches.txt"  # is called searches.py where it is written
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """Where the demo goes."""

    folder: Any = option(
        "a folder that is not there yet; else evaluate-retrieval-demo",
        place=True,
        nargs="?",
        **FILLED,
    )
    out: Any = None
    language: str | None = None


OPTIONS = DemoOptions


def carry_out(options: DemoOptions) -> dict:
    """Write the folder of the demo, and evaluate it: as `evaluate`, a dict.

    ValueError where there is something already."""
    folder = Path(options.folder or DEMO_FOLDER).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        advice = "name a folder that is not there yet"
        raise utils.InputError(folder, "there is something already", advice=advice)
    make_folder(folder)
    for path in sorted(DEMO_FILES.iterdir()):
        if path.name == TEMPLATE:
            write_text(folder / "searches.py", path.read_text("utf-8"))
        else:
            write_bytes(folder / path.name, path.read_bytes())
    log.info(
        "%s has 40 documents, 61 queries that people might type, with what answers "
        "them, traces of the search of today, and four new searches in searches.py.\n",
        folder,
    )
    result = evaluate.carry_out(
        DecidingOptions(
            folder=folder,
            out=folder / "results",
            searches=folder / "searches.py",
            only_own=True,
            ask_once=True,
            line=options.line,
        )
    )
    steps = next_steps(str(options.folder or DEMO_FOLDER))
    return {**result, "says": f"{result['says']}\n\n{steps}"}


def next_steps(folder: str) -> str:
    """What to type next, in three lines. folder: as it was named."""
    name = shlex.quote(folder)
    searches = f"--searches {name}/searches.py --only-own"
    return (
        "Next, change searches.py and run it again, see why one search beats another, "
        "or ask whether a change made it worse (--only-own: without our searches):\n"
        f"  evaluate-retrieval {name} {searches} --out {name}/results\n"
        f'  evaluate-retrieval compare {name} "rare words" titles {searches} '
        f"--out {name}/pair\n"
        f"  evaluate-retrieval gate {name} --baseline {name}/results/baseline.json.gz "
        f"{searches} --out {name}/gate"
    )

"""For authors: write the table in docs/reference/metrics.md from the metrics.

python scripts/metrics_table.py
"""

import re

from evaluate_retrieval.measuring import registry
from evaluate_retrieval.reading import places

METRICS_PAGE = places.ROOT / "docs" / "reference" / "metrics.md"
HEADS = ["`--metric`", "label", "what a reader gains from 10 results", "grades"]
HEADS += ["order", "bound", "notes"]
ROWS = re.compile(r"(?m)^\| `--metric`.*\n(\|.*\n)*")


def cells_of(name: str) -> list[str]:
    """The cells of a metric's row."""
    asked_for = registry.chosen(name)
    metric = asked_for.metric
    parameters = [
        f"`{key}` is {each.expected} (usually {registry.as_text(each.usual)})."
        for key, each in metric.parameters.items()
    ]
    return [
        f"`{name}`",
        f"{asked_for.label}@10",
        asked_for.means(10),
        "count" if metric.is_graded else "",
        "counts" if metric.sees_order else "",
        metric.bound,
        " ".join([*parameters, metric.notes]).strip(),
    ]


def table_of(names: list[str]) -> str:
    """The table of these metrics, as Markdown."""
    rows = [HEADS, ["---"] * len(HEADS), *map(cells_of, names)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def names_of_ours() -> list[str]:
    """The metrics that come with the library, without those of other packages."""
    there = {path.stem for path in registry.METRIC_FILES.glob("*.py")}
    return [name for name in registry.metrics() if name in there]


if __name__ == "__main__":
    page = METRICS_PAGE.read_text("utf-8")
    table = table_of(names_of_ours())
    METRICS_PAGE.write_text(ROWS.sub(lambda _: table, page), encoding="utf-8")

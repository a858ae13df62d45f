"""This module gives the tests the code of the notebooks.

What only one notebook uses stands in that notebook, and is tested there."""

import nbformat

import corpus

NOTEBOOKS = sorted((corpus.ROOT / "notebooks").glob("[0-9]*.ipynb"))
NOTEBOOKS += sorted((corpus.ROOT / "notebooks" / "es").glob("[0-9]*.ipynb"))


def namespace_of(name, *tags):
    """Return what some cells define, when run in order.

    They are the import cell and the cells with one of the tags."""
    notebook, namespace = (
        nbformat.read(f"{NOTEBOOKS[0].parent}/{name}.ipynb", as_version=4),
        {},
    )
    for cell in notebook.cells:
        if cell.cell_type == "code" and (
            {*tags, "imports"} & set(cell.metadata.get("tags", []))
        ):
            exec(cell.source, namespace)
    return namespace

"""This module gives the tests the code of the notebooks.

What only one notebook uses stands in that notebook, and is tested there."""

import nbformat

from course import corpus

NOTEBOOKS = sorted((corpus.ROOT / "notebooks").glob("[0-9]*.ipynb"))
for name in ("more", "es"):
    NOTEBOOKS += sorted((corpus.ROOT / "notebooks" / name).glob("[0-9]*.ipynb"))


def namespace_of(name, *tags):
    """Return what some cells define, when run in order.

    They are the import cell and the cells with one of the tags."""
    [path] = [path for path in NOTEBOOKS if path.stem == name]
    notebook, namespace = nbformat.read(path, as_version=4), {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and (
            {*tags, "imports"} & set(cell.metadata.get("tags", []))
        ):
            exec(cell.source, namespace)
    return namespace

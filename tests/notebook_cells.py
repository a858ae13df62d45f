"""Code of the notebooks for the tests: what only one notebook uses stands, and is tested, there."""

import nbformat

import corpus

NOTEBOOKS = sorted((corpus.ROOT / "notebooks").glob("[0-9]*.ipynb"))
NOTEBOOKS += sorted((corpus.ROOT / "notebooks" / "es").glob("[0-9]*.ipynb"))


def namespace_of(name, *tags):
    """What the import cell and the cells with one of the tags define, when run in order."""
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

"""Code of the notebooks for the tests: what only one notebook uses stands, and is tested, there."""

import nbformat

import utils

NOTEBOOKS = sorted((utils.ROOT / "notebooks").glob("[0-9]*.ipynb"))


def read(name):
    return nbformat.read(utils.ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


def namespace_of(name, *tags):
    """What the import cell and the cells with one of the tags define, when run in order."""
    namespace = {}
    for cell in read(name).cells:
        if cell.cell_type == "code" and ({*tags, "imports"} & set(cell.metadata.get("tags", []))):
            exec(cell.source, namespace)
    return namespace

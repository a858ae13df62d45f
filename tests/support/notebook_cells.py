"""The paths of the notebooks.

What only one notebook uses stands in that notebook, and is tested there."""

from evaluate_retrieval.reading import places

NOTEBOOKS = sorted((places.ROOT / "notebooks").glob("[0-9]*.ipynb"))
for name in ("more", "es"):
    NOTEBOOKS += sorted((places.ROOT / "notebooks" / name).glob("[0-9]*.ipynb"))

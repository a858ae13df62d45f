"""The paths of the notebooks.

What only one notebook uses stands in that notebook, and is tested there."""

from course import corpus

NOTEBOOKS = sorted((corpus.ROOT / "notebooks").glob("[0-9]*.ipynb"))
for name in ("more", "es"):
    NOTEBOOKS += sorted((corpus.ROOT / "notebooks" / name).glob("[0-9]*.ipynb"))

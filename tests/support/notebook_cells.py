"""The paths of the notebooks.

What only one notebook uses stands in that notebook, and is tested there."""

from evaluate_retrieval.reading import places

NOTEBOOKS = sorted((places.ROOT / "notebooks").glob("[0-9]*.ipynb"))
for name in ("more", "es"):
    NOTEBOOKS += sorted((places.ROOT / "notebooks" / name).glob("[0-9]*.ipynb"))
# 00 shows the whole way once, and leaves exercises to the lessons
WITH_EXERCISES = [path for path in NOTEBOOKS if path.stem != "00-in-one-sitting"]

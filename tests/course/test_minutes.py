"""scripts/data_card.py: what the minutes of a notebook count."""

import data_card
import deck
import machine
import nbformat
import pytest


def cell_of(source, *outputs, tag="slow"):
    """A code cell with a tag and outputs."""
    metadata = {"tags": [tag]}
    return nbformat.v4.new_code_cell(source, outputs=[*outputs], metadata=metadata)


def show(**data):
    """An output that shows data of these kinds."""
    data = {f"{kind}/{form}": text for kind, (form, text) in data.items()}
    return nbformat.v4.new_output("display_data", data)


PROSE = """# Not a heading, nor a [link's](https://address.example/page) address

Seven words, of *which* `one = 1` counts once.

<!-- notes: what a speaker says -->

| a table | is |
|---|---|
| looked at | not read |

```
code = "is no prose"
```
<details><summary>Hint</summary>No hint.</details>

![Five words are its text.](a-picture.svg)

**1. A task (3 minutes).** Do it.

**2. Una tarea (4 minutos).** Hazla."""


def test_minutes_count_words_code_pictures_and_what_cells_print(tmp_path):
    printed = nbformat.v4.new_output("stream", name="stdout", text="row\n" * 25)
    cells = [
        nbformat.v4.new_markdown_cell(PROSE),
        cell_of("import this\n" * 50, tag="imports"),
        cell_of("first = 1\n\n\nprint(first)  # a blank is no line", printed),
        cell_of("draw()", show(image=("png", "…"), text=("plain", "<Figure>"))),
        cell_of("table", show(text=("plain", "a\nb\nc"))),
        cell_of("answer = None", show(text=("plain", "Your turn.")), tag="exercise"),
    ]
    path = tmp_path / "notebook.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    counted = data_card.counts(nbformat.read(path, as_version=4))
    # 7 of the sentence, 5 of the picture, 7 and 6 of the tasks
    assert counted == {"words": 25, "lines": 4, "pictures": 2, "rows": 10 + 3 + 1}
    seconds = 25 / 150 * 60 + 4 * 15 + 2 * 10 + 14 * 5
    assert data_card.minutes(path) == (round(seconds / 60), 3 + 4)


LESSONS = sorted((machine.ROOT / "notebooks").glob("0[1-5]-*.ipynb"))
LESSONS += sorted((machine.ROOT / "notebooks" / "es").glob("*.ipynb"))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_is_within_its_limits(path):
    reading, exercises = data_card.minutes(path)
    assert reading <= 50
    assert exercises <= 10
    words = data_card.counts(nbformat.read(path, as_version=4))["words"]
    assert words <= 1_650  # contributing says 1,600, by a count of its own


def test_the_five_lessons_take_four_hours():
    assert len(LESSONS) == 6
    english = [path for path in LESSONS if path.parent.name != "es"]
    assert sum(data_card.minutes(path)[0] for path in english) <= 4 * 60


SHEETS = deck.sheets((deck.NOTEBOOKS / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in SHEETS if name.startswith("0")])
def test_a_run_sheet_leaves_a_fifth_of_the_time_for_people(name):
    sheet = SHEETS[name]
    rows = [*deck.rows(nbformat.read(deck.NOTEBOOKS / name, as_version=4), sheet)]
    total = dict.fromkeys((15, 45, 90), 0)
    needs = {}
    for (since, _, does, _, title), cells in rows:
        how = {15: "show", 45: does, 90: "run"}
        for minutes in total:
            if since <= minutes:
                total[minutes] += deck.time_of(cells, how[minutes])
        if since <= 45:
            row = title if title in sheet and title not in needs else [*needs][-1]
            needs[row] = needs.get(row, 0) + deck.time_of(cells, does)
    total[90] += data_card.minutes(deck.NOTEBOOKS / name)[1]  # of the exercises
    for minutes, needed in total.items():
        assert needed <= 0.8 * minutes, minutes
    starts = [*sheet.values()]
    ends = [start for _, start, _, _ in starts[1:]] + [45]
    for (title, (_, start, _, _)), end in zip(sheet.items(), ends, strict=True):
        assert needs.get(title, 0) <= end - start + 0.25, title

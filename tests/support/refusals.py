"""What is refused is asked for by the fields of its error, and not by its words."""

from contextlib import contextmanager

import pytest

from evaluate_retrieval import utils


@contextmanager
def refused(path="", **fields):
    """What is done inside is refused with an `InputError` that has these fields.

    path: the end of the error's path. Gives what was caught, as `pytest.raises`."""
    with pytest.raises(utils.InputError) as caught:
        yield caught
    error = caught.value
    assert str(error.path).endswith(str(path)), error
    assert {name: getattr(error, name) for name in fields} == fields, error

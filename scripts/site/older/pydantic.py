"""What notebooks use of pydantic, which the older Pyodide lacks: nothing is checked."""


class BaseModel:
    """An object with the values that it is given."""

    def __init__(self, **values):
        vars(self).update(values)

    @classmethod
    def model_validate(cls, values):
        return cls(**values)


Field = StringConstraints = dict  # keep what they are given

"""Is a search better than another, and is that sure? The library and its command.

utils.py lies at the root of a checkout, where notebooks import it; a wheel has it in
here. So the library writes `from evaluate_retrieval import utils`: `import utils` would
be a file of the user's where one comes first on the path."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

__version__ = "1.4"
__all__ = [
    "calls",
    "columns",
    "compare",
    "demo",
    "evaluate",
    "export",
    "gate",
    "history",
    "judge",
    "labels",
    "power",
    "sample",
]
HERE = Path(__file__).parent


def _utils():
    """The module utils of a checkout: the one that notebooks import, too."""
    path = str(HERE.parent / "utils.py")
    module = sys.modules.get("utils")
    if getattr(module, "__file__", None) != path:
        spec = spec_from_file_location("utils", path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} cannot be loaded")
        module = module_from_spec(spec)
        sys.modules.setdefault("utils", module)  # notebooks get the same module
        spec.loader.exec_module(module)
    sys.modules[f"{__name__}.utils"] = module
    return module


def __getattr__(name):
    """What is loaded when it is asked for: `import evaluate_retrieval` is quick."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.api"), name)
    if name == "utils" and not (HERE / "utils.py").exists():
        return _utils()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

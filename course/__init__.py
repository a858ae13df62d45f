"""What the notebooks and the commands use beside utils.py: a module for each job.

Write `from course import utils` in here and in the command: `import utils` would be a
file of the user's where one comes first on the path."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

HERE = Path(__file__).parent
if not (HERE / "utils.py").exists():  # a checkout: it lies at the root (see setup.py)
    utils, path = sys.modules.get("utils"), str(HERE.parent / "utils.py")
    if getattr(utils, "__file__", None) != path:
        spec = spec_from_file_location("utils", path)
        utils = module_from_spec(spec)
        sys.modules.setdefault("utils", utils)  # notebooks get the same module
        spec.loader.exec_module(utils)
    sys.modules["course.utils"] = utils

"""A wheel has utils.py inside course/: at the top it would meet a utils.py of yours.

Everything else is in pyproject.toml. `pip install -e .` leaves the file where it is,
at the root, and notebooks import it from there."""

import shutil

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithUtils(build_py):
    def run(self):
        """Build afresh: what an older version left in build/ would come along."""
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()

    def find_modules(self):
        """Modules without a package: (package, module, file), built into course/."""
        return [("course", *names) for _, *names in super().find_modules()]


setup(cmdclass={"build_py": BuildWithUtils})

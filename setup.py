"""A wheel has the library alone, with utils.py inside it.

At the top of what is installed, utils.py would meet a file of yours of this name, and
so would the package course, which notebooks need. Everything else is in
pyproject.toml. `pip install -e .` leaves all of it where it is, and notebooks import
utils and course from there."""

import shutil

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildLibrary(build_py):
    def run(self):
        """Build afresh: what an older version left in build/ would come along."""
        shutil.rmtree(self.build_lib, ignore_errors=True)
        if not self.editable_mode:
            self.packages.remove("course")
        super().run()

    def find_modules(self):
        """Modules without a package, built into it: (package, module, file)."""
        return [("evaluate_retrieval", *names) for _, *names in super().find_modules()]


setup(cmdclass={"build_py": BuildLibrary})

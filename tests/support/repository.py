"""Git in a folder of a test, without the settings of who runs it."""

import subprocess


def git(folder, *words):
    """Run git with these words; CalledProcessError where it fails."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)

"""The command lines of the scripts that are run by hand."""

import runpy

import pytest

from course import corpus

MODULES = {"check.py", "machine.py", "prepare_collections.py"}  # without --help
SCRIPTS = {path.name for path in corpus.ROOT.glob("scripts/*.py")} - MODULES


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_a_script_says_what_it_does_and_takes(name, monkeypatch, capsys):
    path = str(corpus.ROOT / "scripts" / name)
    monkeypatch.setattr("sys.argv", [path, "--help"])
    monkeypatch.setattr("signal.signal", print)  # node.py would handle pytest's
    with pytest.raises(SystemExit, match=r"^0$"):
        runpy.run_path(path, run_name="__main__")
    assert f"usage: {name} [-h]" in capsys.readouterr().out

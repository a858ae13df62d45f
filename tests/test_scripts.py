"""The command lines of the scripts that are run by hand."""

import runpy

import pytest

from course import corpus

# a module, and a program that is copied to users
OTHERS = {"machine.py", "search.py"}
SCRIPTS = [*corpus.ROOT.glob("scripts/*.py")]


@pytest.mark.parametrize("name", sorted({path.name for path in SCRIPTS} - OTHERS))
def test_a_script_says_what_it_does_and_takes(name, monkeypatch, capsys):
    path = str(corpus.ROOT / "scripts" / name)
    monkeypatch.setattr("sys.argv", [path, "--help"])
    monkeypatch.setattr("signal.signal", print)  # node.py would handle pytest's
    with pytest.raises(SystemExit, match=r"^0$"):
        runpy.run_path(path, run_name="__main__")
    assert f"usage: {name} [-h]" in capsys.readouterr().out


@pytest.mark.parametrize(("names", "wanted"), [([], []), (["reranker"], ["reranker"])])
def test_models_takes_no_name_for_all_encoders(names, wanted, monkeypatch):
    monkeypatch.syspath_prepend(corpus.ROOT / "scripts")
    import machine
    import models

    asked = []
    actions = {lambda **given: asked.append(given): {"names": models.SOME}}
    [action] = actions
    action.__name__, action.__doc__ = "encoders", "Fetch."
    machine.act("x", actions, ["encoders", *names])
    assert asked == [{"names": wanted}]


def test_models_refuses_another_name(monkeypatch, capsys):
    monkeypatch.syspath_prepend(corpus.ROOT / "scripts")
    import machine
    import models

    with pytest.raises(SystemExit, match=r"^2$"):
        machine.act("x", models.ACTIONS, ["encoders", "no-such"])
    assert "'no-such' is none of all-mpnet-base-v2" in capsys.readouterr().err

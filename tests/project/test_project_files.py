"""What the project says of itself agrees: version, licences, checks before a commit."""

import re
import tomllib

import check_jsonschema
import pytest
import yaml
from click.testing import CliRunner

import evaluate_retrieval
from evaluate_retrieval.reading import places

PYPROJECT = tomllib.loads((places.ROOT / "pyproject.toml").read_text("utf-8"))
CITATION = yaml.safe_load((places.ROOT / "CITATION.cff").read_text("utf-8"))
RELEASE = re.compile(r"(?m)^## (\d+\.\d+) · (\d{4}-\d\d-\d\d)$")
SCHEMAS = {
    ".github/ISSUE_TEMPLATE/*.yml": "vendor.github-issue-forms",
    ".github/dependabot.yml": "vendor.dependabot",
    ".github/workflows/*.yml": "vendor.github-workflows",
    "CITATION.cff": "vendor.citation-file-format",
    "docker-compose.yml": "vendor.compose-spec",
}


def test_the_newest_release_is_the_version_and_the_one_to_cite():
    changelog = (places.ROOT / "CHANGELOG.md").read_text("utf-8")
    releases = RELEASE.findall(changelog)
    cited = (CITATION["version"], str(CITATION["date-released"]))
    assert releases[0] == cited
    assert evaluate_retrieval.__version__ == cited[0]
    dates = [date for _, date in releases]
    assert dates == sorted(dates, reverse=True)


def test_the_authors_are_those_to_cite():
    names = [author["name"] for author in CITATION["authors"]]
    assert [author["name"] for author in PYPROJECT["project"]["authors"]] == names


def test_each_licence_is_its_text_alone():
    first_lines = {
        "LICENSE": "MIT License",
        "LICENSE-CC-BY": "Attribution 4.0 International",
    }
    assert PYPROJECT["project"]["license-files"] == [*first_lines]
    for name, first_line in first_lines.items():
        text = (places.ROOT / name).read_text("utf-8")
        assert text.splitlines()[0] == first_line


def test_ruff_before_a_commit_is_the_ruff_of_the_tests():
    path = places.ROOT / ".pre-commit-config.yaml"
    repositories = yaml.safe_load(path.read_text("utf-8"))["repos"]
    [hook] = [repo for repo in repositories if "ruff" in repo["repo"]]
    pin = hook["rev"].removeprefix("v")
    assert f"ruff=={pin}" in PYPROJECT["dependency-groups"]["test"]


@pytest.mark.parametrize("pattern", SCHEMAS)
def test_files_for_other_programs_have_the_form_that_these_read(pattern):
    paths = [*places.ROOT.glob(pattern)]
    assert paths
    words = ["--builtin-schema", SCHEMAS[pattern], *map(str, paths)]
    checked = CliRunner().invoke(check_jsonschema.main, words)
    assert checked.exit_code == 0, checked.output

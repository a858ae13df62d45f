"""Write a file as a comment of this pull or merge request, over the one of last time.

comment.py FILE, in a job of GitHub or GitLab. GATE_TOKEN: what may write comments."""

import json
import os
import sys
from pathlib import Path
from urllib.request import Request, urlopen

MARK = "<!-- evaluate-retrieval -->"  # is not shown; it tells our comment
LONGEST = 60_000  # letters; GitHub takes no more than 65,536
A_PAGE = 100


def place() -> tuple[str, str, str, dict[str, str]]:
    """Where comments are listed, where one of them is, and how it is replaced."""
    env = os.environ
    if "GITLAB_CI" in env:
        project = f"{env['CI_API_V4_URL']}/projects/{env['CI_PROJECT_ID']}"
        notes = f"{project}/merge_requests/{env['CI_MERGE_REQUEST_IID']}/notes"
        return notes, notes, "PUT", {"PRIVATE-TOKEN": env["GATE_TOKEN"]}
    event = json.loads(Path(env["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    issues = f"{env['GITHUB_API_URL']}/repos/{env['GITHUB_REPOSITORY']}/issues"
    listed = f"{issues}/{event['pull_request']['number']}/comments"
    headers = {"Authorization": f"Bearer {env['GATE_TOKEN']}"}
    return listed, f"{issues}/comments", "PATCH", headers


def main(path: str) -> None:
    """Write it."""
    listed, one, replace, headers = place()

    def ask(method, url, body=None):
        data = json.dumps({"body": body}).encode() if body else None
        every = {"Content-Type": "application/json", **headers}
        request = Request(url, data, every, method=method)
        with urlopen(request, timeout=60) as reply:
            return json.load(reply)

    text = f"{MARK}\n{Path(path).read_text('utf-8')[:LONGEST]}"
    page = 1
    while comments := ask("GET", f"{listed}?per_page={A_PAGE}&page={page}"):
        for comment in comments:
            if comment["body"].startswith(MARK):
                ask(replace, f"{one}/{comment['id']}", text)
                return
        page += 1
    ask("POST", listed, text)


if __name__ == "__main__":
    main(sys.argv[1])

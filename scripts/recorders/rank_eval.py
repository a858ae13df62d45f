"""Record what a node's _rank_eval says of the body that `export` writes.

ELASTICSEARCH_URL names the node. It needs the modules rank-eval and lang-mustache,
which the distribution on Maven Central lacks. Up to 7.17.29 both are there as
org.elasticsearch.plugin:rank-eval-client and lang-mustache-client (with
com.github.spullara.mustache.java:compiler): put each into a folder of modules/ with a
plugin-descriptor.properties."""

import json
import os
import tempfile
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

import machine
import pandas as pd

from evaluate_retrieval import export

FOLDER = machine.ROOT / "tests/command/rank-eval"
INDEX = "rank-eval-check"


def asked(method, path, body=None):
    """What the node answers."""
    url = os.environ["ELASTICSEARCH_URL"]
    headers = {"Content-Type": "application/json"}
    data = json.dumps(body).encode() if body else None
    request = Request(f"{url}/{path}", data, headers, method=method)
    with urlopen(request, timeout=60) as reply:
        return json.load(reply)


if __name__ == "__main__":
    for row in pd.read_csv(FOLDER / "documents.csv").to_dict("records"):
        place = f"{INDEX}/_doc/{quote(row['id'])}?refresh=true"
        asked("PUT", place, {"text": row["text"]})
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "body.json"
        export(FOLDER, "rank-eval", index=INDEX, out=path)
        body = json.loads(path.read_text("utf-8"))
    answer = asked("POST", f"{INDEX}/_rank_eval", body)
    version = asked("GET", "")["version"]["number"]
    record = {"version": version, "body": body, "answer": answer}
    text = json.dumps(record, ensure_ascii=False)
    (FOLDER / "answer.json").write_text(f"{text}\n", "utf-8")
    asked("DELETE", INDEX)
    print(answer["metric_score"], answer["failures"])

"""Make the tables of other people's collections that notebooks 06, 14 and 15 read.

`make collections` prepares the collections. Claims need a node and `make
models`; grades and queries need COURSE_LLM=live and `make local-llm`, for
three hours. Copy the files into data/."""

import json
import sys
from pathlib import Path

import machine
import nbformat
import pandas as pd
from pydantic import Field, create_model

import utils
from course import corpus, elastic, llm, pooling, scoring

sys.path.append(str(machine.ROOT / "notebooks" / "more"))
import asking
import claims
import graders
import sums

DATA = corpus.ROOT / "data"
ASKING = corpus.ROOT / "notebooks" / "more" / "14-do-models-ask-as-people-do.ipynb"


def record_claims(into):
    """recorded-collections.json: nDCG@10 of each query by the searches of `claims`."""
    es = elastic.connect_elasticsearch()
    if not es:
        raise RuntimeError("a part of the searches needs a node")
    _, test, _ = corpus.load_splits(DATA)
    read = {name: claims.collection(name) for name in claims.NAMES + claims.VERSIONS}
    read["ours"] = corpus.load_documents(DATA), test["judged"]
    tables = {}
    for name, (documents, queries) in read.items():
        models = () if name in claims.VERSIONS else claims.MODELS
        searches = claims.searches(documents, es, models)
        values = claims.values_of(name, searches, queries).round(6)
        tables[name] = values.reset_index().to_dict("list")
    (into / claims.RECORD).write_text(json.dumps(tables))


def record_sums(into):
    """recorded-queries.csv: the features of each query, see `sums`."""
    tables = []
    for name in claims.NAMES:
        table = sums.features(*claims.collection(name))
        tables.append(table.assign(collection=name))
    pd.concat(tables).to_csv(into / sums.RECORD, index=False)


def record_grades(into, source):
    """recorded-dl19.csv and recorded-grades.csv: see `graders`.

    source: the folder of the files that were fetched, for graders of
    others."""
    check_live()
    documents, queries = claims.collection("dl19")
    table = read_grades(source / "dl19")
    drawn = drawn_pairs(table)
    p = p_relevant(documents, queries.set_index("query_id")["question"], drawn)
    table = table.join(pd.Series(p, drawn, name=graders.QWEN).round(4))
    table = table.join(ranks_of(documents, queries), how="outer").reset_index()
    table.convert_dtypes().to_csv(into / graders.RECORD, index=False)
    tables = pd.concat(map(graded_anew, asking.NAMES))
    tables.to_csv(into / graders.OLD_RECORD, index=False)


def check_live():
    """RuntimeError where no language model may be asked."""
    if not llm.is_live():
        raise RuntimeError("nobody to ask: COURSE_LLM=live is not set")


def graded_anew(name):
    """300 results of ten searches on an older collection, as OLD_RECORD has them."""
    documents, queries = claims.collection(name)
    queries = queries.assign(query_id=range(len(queries)))
    ranks = ranks_of(documents, queries).sample(300, random_state=1)
    table = ranks.notna().astype(int)
    listed = [int(id_ in queries["document"][query]) for query, id_ in table.index]
    table.insert(0, "people", listed)
    table["model"] = p_relevant(documents, queries["question"], table.index)
    return table.assign(collection=name).reset_index()


def read_grades(folder):
    """The grades of `graders.FILES` by pair, in the order of the file of people.

    folder: of the files of dl19, as they were fetched. ValueError where a
    grader has not one grade for each pair."""
    columns, grades = ["query", "run", "document", "grade"], {}
    for name, file in graders.FILES.items():
        grades[name] = pd.read_csv(
            folder / file, sep=r"\s+", names=columns, dtype=str, index_col=graders.PAIR
        )["grade"]
    return pd.DataFrame(grades).loc[grades["people"].index].astype(int)


def drawn_pairs(judged):
    """Pairs of each query at random, of a table by pair."""
    return judged.groupby("query").sample(graders.DRAWN, random_state=1).index


def ranks_of(documents, queries):
    """The rank of each pair among the first ten of ten searches, else NaN: by pair.

    Pairs are in the order of the queries, and then as the searches find
    them."""
    rankings = {
        name: utils.run_search(queries, search, 10)
        for name, search in scoring.ten_searches(documents).items()
    }
    ranks = {}
    for number, query in enumerate(queries["query_id"]):
        for name, of_queries in rankings.items():
            for rank, id_ in enumerate(of_queries[number], start=1):
                if id_:
                    ranks.setdefault((query, id_), {})[name] = rank
    index = pd.MultiIndex.from_tuples(ranks, names=graders.PAIR)
    return pd.DataFrame(ranks.values(), index, columns=list(rankings))


def p_relevant(documents, questions, pairs):
    """P(1) of each pair by the language model, an array: see `pooling.graded`.

    questions: by the query's id. pairs: an index of PAIR."""
    table = pairs.to_frame(index=False)
    table["query"] = table["query"].map(questions)
    return pooling.graded(table, documents, DATA / "recorded-verdicts.jsonl")


def record_queries(into):
    """recorded-places.csv: see `asking.recorded`. The prompt is notebook 14's."""
    check_live()
    shown = {}
    for cell in nbformat.read(ASKING, as_version=4).cells:
        if {"imports", "prompt"} & {*cell.metadata.get("tags", [])}:
            exec(cell.source, shown)
    text, (questions, queries) = shown["Text"], asking.KINDS
    two = list[text], Field(min_length=2, max_length=2)
    kinds = {
        questions: (200, shown["PROMPT"], shown["Questions"]),
        queries: (50, asking.TYPED_PROMPT, create_model("TypedQueries", queries=two)),
    }
    tables = [asked_about(name, kinds) for name in asking.NAMES]
    pd.concat(tables).to_csv(into / asking.RECORD, index=False)


def asked_about(name, kinds):
    """What a model asks about a collection, as `asking.recorded` has it.

    kinds: {kind: (number of documents, prompt, schema)}; a schema has one list
    of texts. 200 documents are drawn; a kind takes the first of them."""
    documents, _ = claims.collection(name)
    chosen = pd.Series(documents).sample(200, random_state=1).tolist()
    rows, path = [], DATA / "recorded-questions.jsonl"
    for kind, (number, prompt, schema) in kinds.items():
        prompts = [prompt.format(**document) for document in chosen[:number]]
        answers = llm.ask(prompts, schema, path, workers=8, timeout=600)
        for document, answer in zip(chosen, answers, strict=False):
            [texts] = answer.model_dump().values()
            rows += [(text, "all", document["id"], kind) for text in texts]
    table = pd.DataFrame(rows, columns=["question", "course", "document", "kind"])
    texts = table["document"].map(asking.texts_by_id(documents))
    table["shared"] = corpus.shared_words(table["question"], texts).round(3)
    pairs = pd.MultiIndex.from_arrays([table.index, table["document"]])
    ranks = ranks_of(documents, table.assign(query_id=table.index))
    table[ranks.columns] = ranks.reindex(pairs).fillna(0).astype(int).to_numpy()
    return table.drop(columns=["question", "course"]).assign(collection=name)


if __name__ == "__main__":
    folder = {"type": Path}
    actions = {
        record_claims: {"into": folder},
        record_sums: {"into": folder},
        record_grades: {"into": folder, "source": folder},
        record_queries: {"into": folder},
    }
    sys.exit(machine.act(__doc__, actions))

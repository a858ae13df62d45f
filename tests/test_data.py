"""Holds data/ to what data/README.md says of it."""

import ast
import json
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import sqlglot
from notebook_cells import namespace_of
from scipy.sparse.csgraph import connected_components

import utils

DATA = utils.ROOT / "data"
# Pairs of questions of different records whose cosine is above 0.95, each with the reason why both stay.
NEAR_DUPLICATES_ALLOWED = {
    frozenset(
        {
            "host.docker.internal is unknown on my Linux machine, what has to be added to compose?",
            "On Linux host.docker.internal isn't known, what do I add to the compose file?",
        }
    ): "two courses: another service in the compose file",
    frozenset(
        {
            "Where must .dockerignore be placed and what belongs in it?",
            "Where does the .dockerignore have to be placed?",
        }
    ): "two courses: other contents of the file",
}


@pytest.fixture(scope="module")
def documents():
    return utils.load_documents(DATA)


@pytest.fixture(scope="module")
def ground_truth():
    return utils.load_ground_truth(DATA)


def test_loading_warns_of_nothing(recwarn):
    utils.load_documents(DATA), utils.load_ground_truth(DATA)
    assert not [str(warning.message) for warning in recwarn]


def test_ids_are_the_recipe_and_unique(documents):
    assert [utils.document_id(document) for document in documents] == [document["id"] for document in documents]
    assert len({document["id"] for document in documents}) == len(documents)


def test_records_have_exactly_the_fields_and_no_stray_space(documents):
    for document in documents:
        assert list(document) == ["text", "section", "question", "course", "id"]
        assert all(value == value.strip() and value for value in document.values()), document["id"]


def test_size_and_spread_over_courses(documents):
    courses = Counter(document["course"] for document in documents)
    assert len(documents) >= 950
    assert courses["data-engineering"] >= 420
    assert courses["machine-learning"] >= 360
    assert courses["llm-engineering"] >= 145
    assert len({(document["course"], document["section"]) for document in documents}) >= 30


def test_lengths_are_those_of_a_real_faq(documents):
    lengths = [len(document["text"].split()) for document in documents]
    quartiles = np.percentile(lengths, [25, 50, 75])
    assert np.all(np.abs(quartiles - [31, 57, 92]) <= 5), quartiles
    assert 65 <= np.mean(lengths) <= 75
    assert max(lengths) >= 250
    assert 8 <= np.mean([len(document["question"].split()) for document in documents]) <= 10


def test_a_third_holds_a_command_code_a_path_or_an_error(documents):
    assert 0.30 <= np.mean(["`" in document["text"] for document in documents]) <= 0.42


def test_no_text_or_heading_stands_twice_in_a_course(documents):
    for field in ("question", "text"):
        twice = [key for key, n in Counter((d["course"], d[field].lower()) for d in documents).items() if n > 1]
        assert not twice


def test_sixty_questions_are_asked_in_several_courses_with_different_answers(documents):
    vectors = utils.embed([document["question"] for document in documents])
    courses = np.array([document["course"] for document in documents])
    alike = (vectors @ vectors.T > 0.8) & (courses[:, None] != courses)
    assert all(documents[i]["text"] != documents[j]["text"] for i, j in zip(*np.nonzero(alike), strict=True))
    _, group = connected_components(alike)
    assert (np.bincount(group) > 1).sum() >= 60


def test_fences_are_closed_and_snippets_parse(documents):
    checked = Counter()
    for document in documents:
        fences = re.findall(r"```(\w*)\n(.*?)```", document["text"], re.DOTALL)
        assert document["text"].count("```") == 2 * len(fences), document["id"]
        for language, code in fences:
            assert language, document["id"]
            checked[language] += 1
            if language == "python":
                ast.parse(code)
            if language == "sql":
                assert parses_as_sql(code), (document["id"], code)
            if language == "json":
                json.loads(code)
    assert checked["python"] > 50
    assert checked["sql"] > 15


def parses_as_sql(code):
    for dialect in ("postgres", "bigquery", "spark", "duckdb"):
        try:
            return bool(sqlglot.parse(code, read=dialect))
        except sqlglot.errors.SqlglotError:
            continue
    return False


def test_five_questions_a_record(documents, ground_truth):
    counts = ground_truth.groupby("document").size()
    assert set(counts) == {5}
    assert len(counts) == len(documents)


def test_questions_are_distinct_complete_and_no_placeholders(ground_truth):
    questions = ground_truth["question"]
    assert not utils.is_placeholder(questions).any()
    assert not questions.str.lower().duplicated().any()
    lengths = questions.str.split().str.len()
    assert 12 <= lengths.mean() <= 14.5
    assert lengths.min() >= 5


def test_questions_share_the_right_part_of_their_words(documents, ground_truth):
    words = {document["id"]: utils.content_words(utils.whole_text(document)) for document in documents}
    asked = ground_truth["question"].map(utils.content_words)
    overlap = [len(q & words[d]) / max(1, len(q)) for q, d in zip(asked, ground_truth["document"], strict=True)]
    assert 0.55 <= np.mean(overlap) <= 0.70


def test_no_opening_is_worn_out(ground_truth):
    openings = ground_truth["question"].str.lower().str.split().str[:2].str.join(" ")
    assert openings.value_counts(normalize=True).iloc[0] <= 0.12


def test_minsearch_finds_most_but_not_all(documents, ground_truth):
    from minsearch import Index

    index = Index(["question", "text", "section"], ["course"]).fit(documents)
    assert 0.70 <= utils.evaluate(ground_truth, utils.minsearch_search(index))["hit_rate"] <= 0.92


def test_near_duplicates_are_listed_and_justified(documents, ground_truth):
    texts = utils.embed([document["text"] for document in documents])
    i, j = np.nonzero(np.triu(texts @ texts.T, 1) > 0.95)
    assert [(documents[a]["id"], documents[b]["id"]) for a, b in zip(i, j, strict=True)] == []
    questions = utils.embed(ground_truth["question"])
    found = set()
    for start in range(0, len(questions), 1000):
        i, j = np.nonzero(questions[start : start + 1000] @ questions.T > 0.95)
        pairs = [(start + a, b) for a, b in zip(i, j, strict=True) if start + a < b]
        found |= {frozenset(ground_truth["question"][[a, b]]) for a, b in pairs}
    assert found == set(NEAR_DUPLICATES_ALLOWED)


def test_recorded_responses_agree_with_the_csv_row_by_row(documents, ground_truth):
    notebook = namespace_of("01-ground-truth", "prompt")
    prompts = [notebook["PROMPT"].format(**document) for document in documents]
    answers = utils.ask(prompts, notebook["Questions"], DATA / "recorded-questions.jsonl", None, utils.RECORDED)
    rows = [(q, d["course"], d["id"]) for d, answer in zip(documents, answers, strict=True) for q in answer.questions]
    assert rows == list(ground_truth.itertuples(index=False, name=None))


@pytest.mark.parametrize("name", ["recorded-questions", "recorded-facts", "recorded-verdicts"])
def test_recorded_responses_say_what_wrote_them_and_hold_no_probabilities(name):
    lines = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {line["model"] for line in lines} == {utils.RECORDED}
    assert len({line["key"] for line in lines}) == len(lines)
    assert not any({"p", "logprobs", "mass"} & set(line["response"]) for line in lines)


def test_judged_queries_keep_both_passes_and_a_grade_between_them(documents):
    judged = pd.read_csv(DATA / "judged-queries.csv", keep_default_na=False)
    assert judged["query_id"].nunique() >= 150
    assert not judged.duplicated(["query_id", "document"]).any()
    assert judged.groupby("query_id").size().min() >= 10
    courses = {document["id"]: document["course"] for document in documents}
    assert (judged["document"].map(courses) == judged["course"]).all()
    passes = judged[["pass_1", "pass_2"]]
    assert set(np.unique(passes)) == {0, 1, 2}
    assert judged["grade"].between(passes.min(axis=1), passes.max(axis=1)).all()
    assert (judged["pass_1"] != judged["pass_2"]).sum() > 20


def test_judged_queries_are_of_every_kind_and_not_generated_questions(ground_truth):
    queries = pd.read_csv(DATA / "judged-queries.csv", keep_default_na=False).drop_duplicates("query_id")
    assert set(queries["kind"]) == {"keywords", "error", "typo", "vague", "double", "natural", "broad"}
    assert not set(queries["query"].str.lower()) & set(ground_truth["question"].str.lower())
    relevant = pd.read_csv(DATA / "judged-queries.csv").query("grade > 0").groupby("query_id").size()
    assert (relevant > 1).mean() > 0.4


def test_counts_of_the_data_card_are_those_of_the_data():
    subprocess.run([sys.executable, utils.ROOT / "scripts" / "data_card.py", "--check"], check=True)

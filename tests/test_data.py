"""Holds data/ to what data/README.md says of it."""

import ast
import itertools
import json
import re
import warnings
from collections import Counter
from functools import partial

import data_card
import graded_answers
import graders
import numpy as np
import pages
import pandas as pd
import pytest
import sqlglot
from minsearch import Index
from notebook_cells import namespace_of
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

import utils
from course import answering, corpus, embedding, llm

DATA = corpus.ROOT / "data"
DOCUMENTS, GROUND_TRUTH = corpus.load_documents(DATA), corpus.load_ground_truth(DATA)
QWEN = "qwen2.5-coder-1.5b-instruct-q4_k_m"


def read(name):
    return pd.read_csv(DATA / name, dtype=str, keep_default_na=False)


def test_ids_are_the_recipe_and_records_have_exactly_the_fields(recwarn):
    corpus.load_documents(DATA), corpus.load_ground_truth(DATA)
    assert not recwarn.list
    assert [corpus.document_id(document) for document in DOCUMENTS] == [
        d["id"] for d in DOCUMENTS
    ]
    for document in DOCUMENTS:
        assert list(document) == ["text", "section", "question", "course", "id"]
        assert all(value == value.strip() and value for value in document.values()), (
            document["id"]
        )


def test_size_and_shape_are_those_of_a_real_faq():
    """Lengths of texts, sizes of sections, and how people write, as in a public FAQ."""
    frame = pd.DataFrame(DOCUMENTS)
    assert len(frame) >= 1_100
    assert not {435, 33} & {*frame["course"].value_counts(), frame["section"].nunique()}
    assert frame.groupby(["course", "section"]).size().max() >= 90
    lengths = frame["text"].str.split().str.len()
    assert np.all(
        np.abs(np.percentile(lengths, [5, 25, 50, 75]) - [10, 31, 57, 92]) <= 9
    )
    assert lengths.max() >= 250
    text = frame["text"]
    least = {r"\b(?:I|my|My)\b": 0.12, "http": 0.10, "\n": 0.45}
    most = {";": 0.20, r"(?i)\b(?:nothing|nobody)\b": 0.05}
    assert all(
        text.str.contains(pattern).mean() >= share for pattern, share in least.items()
    )
    assert all(
        text.str.contains(pattern).mean() <= share for pattern, share in most.items()
    )


def test_no_text_or_heading_stands_twice_in_a_course_but_problems_do():
    nearest = []
    for _, some in pd.DataFrame(DOCUMENTS).groupby("course"):
        for field in ("question", "text"):
            assert some[field].str.lower().is_unique
        both = some["question"] + " " + some["text"]
        vectors = TfidfVectorizer(stop_words="english").fit_transform(both)
        cosines = (vectors @ vectors.T).toarray()
        np.fill_diagonal(cosines, 0)
        nearest += list(cosines.max(axis=1))
    assert np.quantile(nearest, 0.9) >= 0.45
    vectors = embedding.embed([document["question"] for document in DOCUMENTS])
    courses = np.array([document["course"] for document in DOCUMENTS])
    alike = (vectors @ vectors.T > 0.8) & (courses[:, None] != courses)
    _, group = connected_components(alike)
    assert (np.bincount(group) > 1).sum() >= 50  # asked in several courses


def test_fences_are_closed_and_snippets_parse():
    checked, bigquery = Counter(), partial(sqlglot.parse, read="bigquery")
    for document in DOCUMENTS:
        fences = re.findall(r"```(\w*)\n(.*?)```", document["text"], re.DOTALL)
        marks = re.findall(r"(?m)^\s*```", document["text"])
        assert len(marks) == 2 * len(fences), document["id"]
        for language, code in fences:
            checked[language] += 1
            {"python": ast.parse, "sql": bigquery, "json": json.loads}.get(
                language, str
            )(code)
    assert checked["python"] > 50
    assert checked["sql"] > 15


def test_generated_questions_are_those_of_people():
    asked, document = GROUND_TRUTH["question"], GROUND_TRUTH["document"]
    assert document.value_counts().between(3, 5).all()
    assert document.nunique() == len(DOCUMENTS)
    assert not corpus.is_placeholder(asked).any()
    assert (
        not pd.DataFrame([asked.str.lower(), GROUND_TRUTH["course"]])
        .T.duplicated()
        .any()
    )
    assert 10 <= asked.str.split().str.len().mean() <= 14
    openings = (
        asked.str.lower().str.split().str[:2].str.join(" ").value_counts(normalize=True)
    )
    assert openings.iloc[0] <= 0.06
    texts = document.map({d["id"]: corpus.whole_text(d) for d in DOCUMENTS})
    heading = corpus.shared_words(
        asked, document.map({d["id"]: d["question"] for d in DOCUMENTS})
    )
    assert 0.27 <= heading.mean() <= 0.40
    assert (heading == 0).mean() <= 0.22
    assert 0.50 <= corpus.shared_words(asked, texts).mean() <= 0.70
    yes_no = (
        r"(?i)(?:is|are|was|do|does|did|can|could"
        r"|should|would|will|may|must|has|have|am)\b"
    )
    assert asked.str.match(yes_no).mean() <= 0.24
    index = Index(["question", "text", "section"], ["course"]).fit(DOCUMENTS)
    none, copied = utils.minsearch_search(index), {"question": 3.0, "section": 0.5}
    rate = utils.evaluate(GROUND_TRUTH, none)["hit_rate"]
    lost = (
        rate
        - utils.evaluate(GROUND_TRUTH, utils.minsearch_search(index, copied))[
            "hit_rate"
        ]
    )
    assert 0.01 <= lost <= 0.09
    assert 0.70 <= rate <= 0.92


def test_the_ground_truth_is_the_recorded_questions_after_the_gate():
    notebook = namespace_of("14-do-models-ask-as-people-do", "prompt")
    prompts = [notebook["PROMPT"].format(**document) for document in DOCUMENTS]
    answers = llm.ask(prompts, notebook["Questions"], DATA / "recorded-questions.jsonl")
    gate = {(row.question, row.document): row for row in read("gate.csv").itertuples()}
    assert {row.decision for row in gate.values()} == {"keep", "mend"}
    assert all(
        row.reason and bool(row.mended) == (row.decision == "mend")
        for row in gate.values()
    )
    pairs = zip(DOCUMENTS, answers, strict=True)
    rows = [(q, d["course"], d["id"]) for d, answer in pairs for q in answer.questions]
    assert set(gate) <= {(question, id_) for question, _, id_ in rows}
    expected = []
    for question, course, id_ in rows:
        decided = gate.get((question, id_))
        if not decided or decided.decision != "drop":
            expected.append(((decided and decided.mended) or question, course, id_))
    ours = GROUND_TRUTH[utils.GROUND_TRUTH_COLUMNS]
    assert expected == list(ours.itertuples(index=False, name=None))
    assert set(read("first-prompt-questions.csv")["document"]) <= {
        d["id"] for d in DOCUMENTS
    }


def test_other_right_answers_are_other_records_of_the_same_course():
    courses = {document["id"]: document["course"] for document in DOCUMENTS}
    several = GROUND_TRUTH[GROUND_TRUTH["also"] != ""]
    assert 0.1 < len(several) / len(GROUND_TRUTH) < 0.3
    for row in several.itertuples():
        also = row.also.split()
        assert row.document not in also
        assert len(also) == len(set(also))
        assert {courses[id_] for id_ in also} == {row.course}


@pytest.mark.parametrize(
    "name",
    ["recorded-questions", "recorded-facts", "recorded-verdicts", "recorded-answers"],
)
def test_recorded_responses_say_who_gave_them_and_only_a_model_has_log_probabilities(
    name,
):
    text = (DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert len({line["key"] for line in lines}) == len(lines)
    only_model = name in ("recorded-verdicts", "recorded-answers")
    writers = {QWEN} if only_model else {QWEN, llm.RECORDED}
    assert {line["model"] for line in lines} == writers
    for line in lines:
        digits = line["response"].get("logprobs", {})
        assert not digits or line["model"] == QWEN
        assert all(token.strip().isdecimal() and p <= 0 for token, p in digits.items())


def test_contexts_overlap_and_every_stated_fact_is_of_a_set():
    sets = json.loads((DATA / "continuous-set.json").read_text(encoding="utf-8"))
    others = json.loads((DATA / "essay-contexts.json").read_text(encoding="utf-8"))
    stated = read("fact-annotations.csv")
    assert [len(entry["golden"]) for entry in sets] == [4, 3, 3, 3, 3, 3]
    kinds = ["digest", "near-duplicate", "contradict", "off-topic"]
    for entry in sets[1:]:
        assert entry["others"] == [f"{entry['essay']}-{kind}" for kind in kinds]
        assert set(entry["others"]) <= set(others)
    own = {entry["essay"]: entry["golden"] + entry["others"] for entry in sets}
    kept = stated[[row.context in own[row.essay] for row in stated.itertuples()]]
    assert (kept.groupby("fact").size() > 1).sum() / 106 >= 0.35
    assert not stated["context"].str.endswith(("contradict", "off-topic")).any()
    assert not stated.duplicated(["fact", "context"]).any()


# The searches whose answers were read
READ = [
    "no context",
    "copied title boost",
    "BM25 with stems, tuned",
    "vectors",
    "hybrid",
    "right records, filled up",
]


def test_each_query_that_is_answered_has_one_to_four_facts_and_its_contexts():
    queries, qrels = corpus.load_judged_queries(DATA)
    grades = dict(zip(queries["query_id"], qrels, strict=True))
    facts, contexts = read("answer-facts.csv"), read("answer-contexts.csv")
    assert facts.groupby("query_id").size().between(1, 4).all()
    assert not facts.duplicated().any()
    asked = set(contexts["query_id"])
    answerable = {query_id for query_id in asked if any(grades[query_id].values())}
    assert (len(asked), len(answerable)) == (160, 120)
    assert set(facts["query_id"]) == answerable
    for row in contexts[contexts["search"] == "right records"].itertuples():
        assert {grades[row.query_id][id_] for id_ in row.records.split()} == {2}
    known = set(answering.load_contexts(DATA)["prompt"].map(key_of))
    lines = (DATA / "recorded-answers.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["key"] for line in lines} == known


def on_pages(folder):
    tokens = pages.tokens_of(pages.build(corpus.load_documents(folder))[0])
    return pages.load_answers(folder, tokens, pages.ways_of(tokens))


@pytest.mark.parametrize(
    ("of", "load"), [("answer", answering.load_contexts), ("page-answer", on_pages)]
)
def test_each_answer_has_two_readings_of_each_fact(of, load):
    facts = read("answer-facts.csv").groupby("query_id").size()
    asked = load(DATA)
    shown = asked[asked["query_id"].isin(facts.index)]
    path = DATA / f"recorded-{of}s.jsonl"
    found = llm.recorded_responses(shown["prompt"], "answer", path, QWEN)
    said = [response["answer"] for response in found]
    keys = shown["prompt"].map(key_of)[[text != "I don't know." for text in said]]
    readings = read(f"{of}-readings.csv").set_index("key")
    assert not readings.index.has_duplicates
    assert set(keys) == set(readings.index)
    for row in readings.itertuples():
        assert re.fullmatch(rf"[01x]{{{facts[row.query_id]}}}", row.first), row
        assert re.fullmatch(rf"[01x]{{{facts[row.query_id]}}}", row.second), row


def test_each_fact_is_stated_by_a_record_of_its_query():
    coverage = read("answer-coverage.csv")
    facts = read("answer-facts.csv")
    number = facts.groupby("query_id").cumcount() + 1
    assert coverage["query_id"].tolist() == facts["query_id"].tolist()
    assert coverage["fact"].astype(int).tolist() == number.tolist()
    grades = corpus.load_judged_queries(DATA)
    grades = dict(zip(grades[0]["query_id"], grades[1], strict=True))
    for row in coverage.itertuples():
        assert all(grades[row.query_id][id_] > 0 for id_ in row.records.split()), row
        assert any(grades[row.query_id][id_] == 2 for id_ in row.records.split()), row


def key_of(prompt):
    return llm.request_key(QWEN, prompt, "answer")


def test_graded_answers_are_figures_of_three_systems_by_two_or_three_people():
    table = graded_answers.recorded_verdicts(DATA)
    assert len(table) == 477
    by_question = table.groupby("question")["system"].agg(set)
    assert len(by_question) == 159
    assert all(systems == {*graded_answers.SYSTEMS.values()} for systems in by_question)
    assert table["faithfulness"].str.fullmatch("[1-4]{2,3}").all()
    assert (table["faithfulness"].str.len() == 3).sum() == 465
    for quality in graded_answers.QUALITIES:
        assert (table[quality].str.len() == table["graders"].str.len()).all()
    assert set(table["collection"]) == {*graded_answers.CORPORA.values()}
    person = table[table["system"] == "person"]  # whose answer is the reference
    assert (person[["ROUGE-L", "words of reference"]] == 1).all(axis=None)
    shares = table[["RAGAS faithfulness", "a model's score", "words in passages"]]
    assert shares.stack().between(0, 1).all()
    without = table[table["passages"] == 0]  # a rule, and no judgement
    assert without["question"].nunique() == 9
    assert without["RAGAS faithfulness"].isin([0, 1]).all()
    asked = table[graded_answers.BY_MODEL].notna()
    assert (asked.sum(axis=1).isin([0, 2])).all()
    assert not asked[(table["system"] == "person") | (table["passages"] == 0)].any(
        axis=None
    )


def test_hard_pairs_are_eight_edits_of_eighty_facts():
    hard = read("hard-pairs.csv")
    labels = {
        "paraphrase": "support",
        "implied": "support",
        "partial": "partial",
        "modal": "none",
    }
    labels |= dict.fromkeys(["number", "name", "negated", "other words"], "contradict")
    labels["own words"] = "support"
    assert (hard["edit"].map(labels) == hard["label"]).all()
    assert (hard.groupby("fact").size() == 8).all()
    assert hard["fact"].nunique() == 80
    edits = hard["edit"].replace("negated", "modal")
    assert (hard.assign(edit=edits).groupby("fact")["edit"].nunique() == 8).all()
    assert hard["context"].is_unique
    assert hard["context"].str.split().str.len().between(30, 80).all()


def test_word_overlap_alone_does_not_tell_what_supports_a_fact():
    hard = read("hard-pairs.csv")
    hard["overlap"] = corpus.shared_words(hard["fact"], hard["context"])
    clear = hard[hard["label"].isin(["support", "contradict"])]
    assert 0.4 <= roc_auc_score(clear["label"] == "support", clear["overlap"]) <= 0.6
    by_edit = hard.groupby("edit")["overlap"].mean()
    assert by_edit["own words"] > 0.8
    assert by_edit["other words"] < 0.3


def test_no_passage_tells_by_itself_that_it_supports_a_fact():
    hard = read("hard-pairs.csv")
    supports = hard["label"] == "support"
    held = hard["essay"].isin(hard["essay"].unique()[3:])
    length = hard["context"].str.split().str.len()
    for half in (held, ~held):
        for label in ("partial", "contradict", "none"):
            rows = half & hard["label"].isin(["support", label])
            assert 0.45 <= roc_auc_score(supports[rows], length[rows]) <= 0.55, label
    words = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1_000))
    for half in (held, ~held):
        words.fit(hard.loc[~half, "context"], supports[~half])
        p = words.predict_proba(hard.loc[half, "context"])[:, 1]
        assert 0.4 <= roc_auc_score(supports[half], p) <= 0.6


def test_judged_queries_are_of_every_kind_and_keep_both_passes():
    judged = read("judged-queries.csv").astype(
        {"grade": int, "pass_1": int, "pass_2": int}
    )
    queries = judged.drop_duplicates("query_id")
    assert len(queries) >= 460
    kinds = {
        "keywords",
        "error",
        "typo",
        "vague",
        "double",
        "natural",
        "broad",
        "paste",
        "short",
    }
    assert set(queries["kind"]) == kinds
    assert queries["kind"].value_counts().min() >= 30
    assert (
        not queries[["query", "course"]]
        .apply(lambda text: text.str.lower())
        .duplicated()
        .any()
    )
    assert queries.loc[queries["kind"] == "paste", "query"].str.count("\n").min() >= 2
    assert (
        queries.loc[queries["kind"] == "short", "query"].str.split().str.len().max()
        <= 3
    )
    # a pasted message is the same for everybody
    typed = queries[queries["kind"] != "error"]
    assert not set(typed["query"].str.lower()) & set(
        GROUND_TRUTH["question"].str.lower()
    )
    assert not judged.duplicated(["query_id", "document"]).any()
    # ten of every search, at the least
    assert judged.groupby("query_id").size().min() >= 10
    courses = {document["id"]: document["course"] for document in DOCUMENTS}
    assert (judged["document"].map(courses) == judged["course"]).all()
    passes = judged[["pass_1", "pass_2"]]
    assert set(np.unique(passes)) == {0, 1, 2}
    between = judged["grade"].between(passes.min(axis=1), passes.max(axis=1))
    assert (~between).sum() == 5  # corrected later; the passes stay as they were
    assert (judged["pass_1"] != judged["pass_2"]).sum() > 100
    relevant = judged.groupby("query_id")["grade"].apply(
        lambda grades: (grades > 0).sum()
    )
    assert (relevant == 0).sum() >= 60
    assert (relevant > 1).mean() > 0.4


def test_queries_that_meet_the_rule_of_the_data_card_have_one_need():
    """They share half of their best-graded records, or of their relevant ones."""
    queries, qrels = corpus.load_judged_queries(DATA)
    sets = []
    for qrel in qrels:
        best = max(qrel.values())
        relevant = {id_ for id_, grade in qrel.items() if grade > 0}
        sets.append(({id_ for id_ in relevant if qrel[id_] == best}, relevant))
    pairs = 0
    for one, other in itertools.combinations(range(len(queries)), 2):
        shares = [
            len(a & b) / max(1, len(a | b))
            for a, b in zip(sets[one], sets[other], strict=True)
        ]
        if max(shares) >= 0.5:
            assert queries["need"][one] == queries["need"][other]
            pairs += 1
    assert pairs == 151


def test_the_spanish_data_are_whole_and_keep_both_passes():
    folder = DATA / "es"
    with warnings.catch_warnings(action="error"):
        documents, asked = (
            corpus.load_documents(folder),
            corpus.load_ground_truth(folder),
        )
        queries, qrels = corpus.load_judged_queries(folder)
    assert len(documents) >= 300
    assert (asked.groupby("document").size() == 3).all()
    assert asked["document"].nunique() == len(documents)
    assert asked["question"].is_unique
    assert corpus.unique_ids(documents) == [document["id"] for document in documents]
    assert (len(queries), sum(not any(qrel.values()) for qrel in qrels)) == (108, 9)
    judged = pd.read_csv(folder / "judged-queries.csv")
    assert judged["grade"].isin([0, 1, 2]).all()
    assert (judged["pass_1"] != judged["pass_2"]).sum() == 50
    again = pd.read_csv(folder / "queries-on-english-records.csv")
    assert set(again["query_id"]) == set(read("judged-queries.csv")["query_id"])
    same = pd.read_csv(folder / "questions-on-english-records.csv")
    assert set(same["english"]) <= set(GROUND_TRUTH["question"])


def test_the_grades_of_dl19_are_whole_and_hold_no_text():
    table = graders.recorded_grades()
    whole = ["people", "FLAN-T5-large", "Llama-3.3-70B", "baseline"]
    columns = [*graders.GRADED_PAIR, *whole, "Qwen-1.5B", *graders.TEN]
    assert list(table) == columns
    assert not table.duplicated(graders.GRADED_PAIR).any()
    assert table[graders.GRADED_PAIR].map(str.isdecimal).all(axis=None)
    given = table[whole]
    judged = given.notna().all(axis=1)
    assert (judged.sum(), (~judged).sum()) == (9_260, 70)
    assert given[~judged].isna().all(axis=None)
    assert given[judged].isin([0, 1, 2, 3]).all(axis=None)
    asked = table[table["Qwen-1.5B"].notna()]
    assert set(asked["query"].value_counts()) == {40}
    assert asked["Qwen-1.5B"].between(0, 1).all()
    assert judged[asked.index].all()
    for name in graders.TEN:
        ranks = table[table[name].notna()].groupby("query")[name].agg(sorted)
        assert len(ranks) == 43
        assert all(found == list(range(1, 11)) for found in ranks)
    assert table.loc[~judged, graders.TEN].notna().any(axis=1).all()


def test_counts_and_leaderboard_are_those_of_data_and_notebooks():
    for path, text in data_card.texts().items():
        assert path.read_text("utf-8") == text, f"{path}: run scripts/data_card.py"


@pytest.mark.parametrize("path", sorted(DATA.glob("*.jsonl")), ids=lambda p: p.stem)
def test_each_recorded_response_has_its_checksum(path):
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert records
    assert all(record["check"] == llm.checksum(record) for record in records)

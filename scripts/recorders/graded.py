"""Notebook 16: what judges say of the answers of MTRAG that people graded."""

import re
import string

import pandas as pd
from n16_graded_answers import GOOD, NO_GRADE, QUALITIES, RECORD_FILE

from course import answering, our_data
from evaluate_retrieval.reading import corpus, files
from evaluate_retrieval.reading.writing import write_table
from evaluate_retrieval.searching import embedding
from recorders import collections

FILE = "mtrag/reference_subset_with_human_evaluations.json"  # of `make collections`
SYSTEMS = {
    "gpt-4o": "GPT-4o",
    "llama-3.1-405b-instruct": "Llama 3.1 405B",
    "reference": "person",
}
CORPORA = {  # of passages: a part of their name, and what they are about
    "clapnq": "Wikipedia",
    "fiqa": "finance",
    "govt": "government",
    "ibmcloud": "technical manuals",
}
IN_FILE = {  # judges whose figures the file has: our name and theirs
    "RAGAS faithfulness": "rl_f",
    "a model's score": "rb_llm",
    "BERTScore precision": "Bert-KPrec",
    "BERTScore recall": "Bert-Rec",
    "ROUGE-L": "RougeL",
}
TEXTS = ["conversation", "answer", "reference", "shown"]
DRAWN = 50  # questions whose answers our model judged


def with_judges(path, verdicts):
    """The table of `recorded_verdicts`, from FILE at path.

    Our model is asked as `llm.respond` does, recorded at verdicts; see
    `by_model`."""
    answers = with_counts(read_answers(path))
    scores = by_model(drawn_answers(answers), verdicts)
    return answers.join(scores).drop(columns=TEXTS)


def read_answers(path):
    """The answers of FILE with their texts: a DataFrame, a row for each answer.

    Columns: those of `recorded_verdicts` that the file has, and the TEXTS: conversation
    (the user's turns so far, a line each), answer, reference (the person's
    answer) and shown (a list of passages). KeyError for a file of another
    form."""
    [content] = files.read_json(path)
    passages = {
        passage["document_id"]: f"{passage.get('title', '')} {passage['text']}".strip()
        for passage in content["documents"]
    }
    tasks = {task["task_id"]: task for task in content["tasks"]}
    people = {
        person
        for entry in content["evaluations"]
        for person in entry["annotations"]["faithfulness"]
    }
    letters = dict(zip(sorted(people), string.ascii_lowercase, strict=False))
    rows = []
    for entry in content["evaluations"]:
        task = tasks[entry["task_id"]]
        given = entry["annotations"]
        [part] = [name for name in CORPORA if name in task["Collection"]]
        shown = [passages[context["document_id"]] for context in task["contexts"]]
        graders = sorted({person for name in QUALITIES for person in given[name]})
        row = {
            "question": entry["task_id"],
            "collection": CORPORA[part],
            "system": SYSTEMS[entry["model_id"]],
            "passages": len(shown),
            "graders": "".join(map(letters.get, graders)),
        }
        for quality in QUALITIES:
            grades = [given[quality].get(who, {"value": NO_GRADE}) for who in graders]
            row[quality] = "".join(grade["value"] for grade in grades)
        for name, key in IN_FILE.items():
            [figure] = given[key].values()
            row[name] = round(float(figure["value"]), 6)
        turns = [turn["text"] for turn in task["input"] if turn["speaker"] == "user"]
        row["conversation"] = "\n".join(turns)
        row["answer"] = entry["model_response"]
        row["reference"] = task["targets"][0]["text"]
        row["shown"] = shown
        rows.append(row)
    return pd.DataFrame(rows)


def with_counts(answers):
    """Answers of `read_answers` with the judges that count, a column each.

    words in passages: share of the answer's content words that a passage has.
    words of reference: share of the reference's that the answer has. The
    cosines are of all-MiniLM-L6-v2, to the nearest passage (0 without one) and
    to the reference; it reads the first 256 tokens. length: in words."""
    answer = answers["answer"]
    reference = answers["reference"]
    vectors = embedding.embed(answer)
    all_shown = answers["shown"].str.join(" ")
    passages = answers["shown"].explode().dropna()
    places = passages.index
    to_passages = (vectors[places] * embedding.embed(passages)).sum(axis=1)
    nearest = pd.Series(to_passages, places).groupby(level=0).max()
    counts = {
        "words in passages": corpus.shared_words(answer, all_shown),
        "words of reference": corpus.shared_words(reference, answer),
        "cosine to passages": nearest.reindex(answers.index, fill_value=0),
        "cosine to reference": (vectors * embedding.embed(reference)).sum(axis=1),
        "length": answer.str.split().str.len(),
    }
    digits = {name: 4 if "cosine" in name else 6 for name in counts}
    return answers.assign(**counts).round(digits)


def sentences_of(text):
    """The sentences of a text, a list, cut by code: after . ! or ?, and at lines.

    Without a letter it is none, and the number of a list stays with its
    text."""
    text = re.sub(r"(?m)^\s*(?:[-*•]|\d+[.)])\s+", "", text)
    parts = re.split(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n+", text)
    return [part.strip() for part in parts if part and re.search(r"[A-Za-z]", part)]


def drawn_answers(answers):
    """The models' answers to DRAWN questions, drawn with a seed, that have passages.

    They come in the order in which they were drawn: more of them begin
    alike."""
    answers = answers[(answers["passages"] > 0) & (answers["system"] != "person")]
    drawn = answers["question"].drop_duplicates().sample(frac=1, random_state=1)[:DRAWN]
    return pd.concat([answers[answers["question"] == question] for question in drawn])


def by_model(answers, path):
    """What our model says of answers of `read_answers`: columns BY_MODEL.

    fact by fact: the mean of P(the answer states it) over the sentences of the
    reference, as `answering.fact_scores`. good or bad: P(1) for GOOD. It is
    asked as `llm.respond` does, recorded at path. RuntimeError counts what has
    no reply."""
    model = answering.ANSWERED_BY
    facts = answers["reference"].map(sentences_of)
    scores = answering.fact_scores(answers["answer"], facts, path, model)
    pairs = zip(answers["conversation"], answers["answer"], strict=True)
    prompts = [GOOD.format(question=turns, answer=answer) for turns, answer in pairs]
    columns = {
        "fact by fact": [p.mean() for p in scores],
        "good or bad": answering.digit_scores(prompts, path, model),
    }
    return pd.DataFrame(columns, answers.index).round(4)


def graded():
    """What judges say of answers that people graded."""
    verdicts = our_data.FOLDER / "graded-verdicts.jsonl"
    table = with_judges(collections.FETCHED / FILE, verdicts)
    write_table(table, our_data.FOLDER / RECORD_FILE)

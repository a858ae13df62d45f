"""Test the readers of three collections of today, on small files of their forms."""

import json
import zipfile

import pandas as pd
import pytest
import today

from course import corpus
from evaluate_retrieval import read

THREADS = """<root>
<qapair>
<rephr>
How do I clean a lamp?
</rephr>
<rephr> </rephr>
<rephr>*</rephr>
<rephr>lamp &lt;b&gt; is dirty</rephr>
<question>
Cleaning lamps
</question>
<answer>  With a dry
cloth. </answer>
<answer>=Never with water</answer>
</qapair>
<qapair><rephr>Where do cats sleep?</rephr><question>Cats</question>
<answer>On lamps.</answer></qapair>
</root>
"""
CONSUMERS = """<?xml version="1.0" encoding="UTF-8"?>
<Set>
<NLM-QUESTION qid="TQ7"><Original-Question><SUBJECT>cough</SUBJECT>
<MESSAGE>I cough
at night.</MESSAGE></Original-Question><NLM-Summary>What helps?</NLM-Summary>
</NLM-QUESTION>
<NLM-QUESTION qid="TQ8"><Original-Question><MESSAGE>And me?</MESSAGE>
</Original-Question><NLM-Summary>Nothing?</NLM-Summary></NLM-QUESTION>
</Set>
"""
ANSWERS = {
    "AnswerID": ["ADAM_1", "CDC_2", "ADAM_1"],
    "Answer": [
        "Question: What is a cough ?\nURL: http://x.y/z\nAnswer: A noise.\n\nOften.",
        "Question: What helps ?\nURL: http://x.y/w\nAnswer: Honey.",
        "Question: What is a cough ?\nURL: http://x.y/z\nAnswer: A noise.\n\nOften.",
    ],
}
JUDGED = "7 2-Related ADAM_1\n7 3-Incomplete ADAM_1\n7 4-Excellent CDC_2\n"


def liveqa(folder, judged=JUDGED):
    (folder / today.CONSUMERS).write_text(CONSUMERS)
    with zipfile.ZipFile(folder / today.ANSWERS, "w") as archive:
        archive.writestr("a/All.csv", pd.DataFrame(ANSWERS).to_csv(index=False))
        archive.writestr("a/All-qrels_x.txt", judged)
        archive.writestr("__MACOSX/a/._All.csv", b"\x00")


def test_threads_become_answers_with_titles_and_the_needs_of_their_queries(
    tmp_path, capsys
):
    (tmp_path / today.THREADS).write_text(THREADS)
    folder = read.convert(tmp_path, tmp_path / "into")
    said = capsys.readouterr().out
    assert "paraphrases left out: 1 blank and 1 that are only *" in said
    documents = corpus.load_documents(folder)
    assert [one["id"] for one in documents] == ["t001-a1", "t001-a2", "t002-a1"]
    assert documents[1]["text"] == "=Never with water"
    assert {one["question"] for one in documents[:2]} == {"Cleaning lamps"}
    queries, qrels = corpus.load_judged_queries(folder)
    assert queries["query_id"].tolist() == ["t001-q01", "t001-q04", "t002-q01"]
    assert queries["question"].tolist()[1] == "lamp <b> is dirty"
    assert queries["need"].tolist() == ["t001", "t001", "t002"]
    assert qrels == [{"t001-a1": 1, "t001-a2": 1}] * 2 + [{"t002-a1": 1}]


def test_a_consumers_question_is_asked_as_it_was_sent_and_as_a_summary(
    tmp_path, capsys
):
    liveqa(tmp_path)
    folder = read.convert(tmp_path, tmp_path / "into")
    assert "1 of 2 pairs have two grades; the higher one" in capsys.readouterr().out
    one, two = corpus.load_documents(folder)
    assert (one["question"], one["text"]) == ("What is a cough ?", "A noise. Often.")
    assert two["id"] == "CDC_2"
    queries, qrels = corpus.load_judged_queries(folder)
    asked = dict(zip(queries["kind"], queries["question"], strict=True))
    assert asked == {"message": "cough I cough at night.", "summary": "What helps?"}
    assert queries["need"].tolist() == ["7", "7"]
    assert qrels == [{"ADAM_1": 1, "CDC_2": 2}] * 2


def test_a_grade_that_nobody_gives_is_an_error(tmp_path):
    liveqa(tmp_path, "7 5-Great CDC_2\n")
    with pytest.raises(ValueError, match=r"Answers\.zip: damaged: .*none of 1-Incorr"):
        read.convert(tmp_path, tmp_path / "into")


def test_passages_keep_the_queries_that_are_judged(tmp_path):
    passages = [{"docid": "5", "doc": "a lamp"}, {"docid": "6", "doc": "a cat"}]
    lines = "".join(f"{json.dumps(one)}\n" for one in passages)
    (tmp_path / today.PASSAGES).write_text(lines)
    (tmp_path / "2019qrels-pass.txt").write_text("1 Q0 5 3\n1 Q0 6 0\n")
    (tmp_path / "msmarco-test2019-queries.tsv").write_text("1\tlight\n2\tdogs\n")
    folder = read.convert(tmp_path, tmp_path / "into")
    queries, qrels = corpus.load_judged_queries(folder)
    assert queries["question"].tolist() == ["light"]
    assert qrels == [{"5": 3, "6": 0}]
    assert len(pd.read_csv(folder / "queries.csv")) == 1


@pytest.mark.parametrize("name", [today.THREADS, today.ANSWERS])
def test_a_damaged_file_is_an_error_that_names_it(tmp_path, name):
    (tmp_path / name).write_text("<root><qapair>")
    with pytest.raises(ValueError, match=f"{name}: damaged"):
        read.convert(tmp_path, tmp_path / "into")

"""Notebooks 07 and 12: what a model answers from the records that searches found."""

import n12_pages as pages

from course import answering, llm, our_data


def ask(rows, name):
    """Ask for the answer to each prompt of a table, and say how many are missing."""
    prompts = rows["prompt"]
    call = answering.answer_call()
    by = answering.ANSWERED_BY
    path = our_data.FOLDER / name
    replies = llm.respond(list(prompts), "answer", path, call, workers=2, by=by)
    print(f"{replies.count(None):,} of {len(prompts):,} prompts have no answer yet")


def answers():
    """The answers that data/answer-contexts.csv lists."""
    ask(answering.load_contexts(our_data.FOLDER), "recorded-answers.jsonl")


def page_answers():
    """The answers that data/page-answers.csv lists."""
    documents = our_data.load_documents(our_data.FOLDER)
    tokens = pages.tokens_of(pages.build(documents)[0])
    rows = pages.load_answers(our_data.FOLDER, tokens, pages.ways_of(tokens))
    ask(rows, "recorded-page-answers.jsonl")

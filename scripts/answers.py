"""Ask a language model for the answers that data/answer-contexts.csv lists.

Each row has a query, a search, and the records that the model is shown. Run with
COURSE_LLM=live, OPENAI_BASE_URL and OPENAI_MODEL (`make local-llm` prints them). It
goes on where it was stopped. Answers go to data/live-responses.jsonl."""

import pandas as pd

import answering
import corpus
import llm

DATA = corpus.ROOT / "data"


def prompts():
    """The contexts, a DataFrame, with a column prompt."""
    documents = {d["id"]: d for d in corpus.load_documents(DATA)}
    queries = corpus.load_judged_queries(DATA)[0].set_index("query_id")
    table = pd.read_csv(DATA / "answer-contexts.csv", keep_default_na=False)
    asked = []
    for row in table.itertuples():
        query = queries.loc[row.query_id]
        records = [documents[id_] for id_ in row.records.split()]
        prompt = answering.prompt_of(query["question"], query["course"], records)
        asked.append(prompt)
    return table.assign(prompt=asked)


if __name__ == "__main__":
    call = answering.answer_call(*llm.client(timeout=600))
    asked = prompts()["prompt"].tolist()
    path = DATA / "recorded-answers.jsonl"
    answers = llm.respond(asked, "answer", path, call, workers=2)
    print(f"{sum(map(bool, answers)):,} of {len(asked):,} prompts have an answer")

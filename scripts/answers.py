"""Ask a language model for the answers that data/answer-contexts.csv lists.

Each row has a query, a search, and the records that the model is shown. Run with
COURSE_LLM=live, OPENAI_BASE_URL and OPENAI_MODEL (`make local-llm` prints them). It
goes on where it was stopped. Answers go to data/live-responses.jsonl."""

import pandas as pd

import corpus
import llm

DATA = corpus.ROOT / "data"
LONGEST = 160  # tokens of an answer


def prompt_of(question, course, records):
    """The one prompt. The records come first: a longer list begins as a short one."""
    parts = [f"You answer questions of students of the online course {course}."]
    if records:
        parts.append("Use only these records of the course's FAQ:")
    for number, record in enumerate(records, 1):
        parts.append(f"Record {number}: {record['question']}\n{record['text']}")
    parts.append(
        "Answer the question below in one to three sentences. Give the commands and "
        "names that help. Only if nothing here helps with it, reply: I don't know."
    )
    parts.append(f"Question: {question}\nAnswer:")
    return "\n\n".join(parts)


def prompts():
    """The contexts, a DataFrame, with a column prompt."""
    documents = {d["id"]: d for d in corpus.load_documents(DATA)}
    queries = corpus.load_judged_queries(DATA)[0].set_index("query_id")
    table = pd.read_csv(DATA / "answer-contexts.csv", keep_default_na=False)
    asked = []
    for row in table.itertuples():
        query = queries.loc[row.query_id]
        records = [documents[id_] for id_ in row.records.split()]
        asked.append(prompt_of(query["question"], query["course"], records))
    return table.assign(prompt=asked)


def main():
    client, model = llm.client(timeout=600)

    def call(prompt):
        messages = [{"role": "user", "content": prompt}]
        options = {"max_tokens": LONGEST, "temperature": 0}
        answer = client.chat.completions.create(
            model=model, messages=messages, **options
        )
        choice, usage = answer.choices[0], answer.usage
        return {
            "answer": choice.message.content.strip(),
            "finish": choice.finish_reason,
            "tokens": [usage.prompt_tokens, usage.completion_tokens],
        }

    asked = prompts()["prompt"].tolist()
    answers = llm.respond(asked, "answer", DATA / "recorded-answers.jsonl", call, 2)
    print(f"{sum(map(bool, answers)):,} of {len(asked):,} prompts have an answer")


if __name__ == "__main__":
    main()

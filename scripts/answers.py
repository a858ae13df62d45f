"""Ask a language model for the answers that data/answer-contexts.csv lists.

Each row has a query, a search, and the records that the model is shown. Run with
COURSE_LLM=live, OPENAI_BASE_URL and OPENAI_MODEL (`make local-llm` prints them). It
goes on where it was stopped. Answers go to data/live-responses.jsonl."""

import machine

from course import answering, corpus, llm

DATA = corpus.ROOT / "data"

if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    asked = answering.load_contexts(DATA)["prompt"].tolist()
    path = DATA / "recorded-answers.jsonl"
    call = answering.answer_call()
    answers = llm.respond(asked, "answer", path, call, workers=2)
    print(f"{sum(map(bool, answers)):,} of {len(asked):,} prompts have an answer")

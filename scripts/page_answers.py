"""Ask a language model for the answers of notebook 12, from four ways of cutting.

Run with COURSE_LLM=live, OPENAI_BASE_URL and OPENAI_MODEL (`make local-llm` prints
them). It goes on where it was stopped. Answers go to data/live-responses.jsonl. Where
data/page-answers.csv is gone, sixty queries are drawn first, of sixty needs, and
searched: a row for each query and way, with the chunks that fit into the budget."""

import machine
import pages
import pandas as pd

from course import answering, corpus, llm

DATA = corpus.ROOT / "data"
TABLE = DATA / "page-answers.csv"


def drawn(n=60, seed=1):
    """n queries with facts, each of another need, as by `load_judged_queries`."""
    needs_facts = pd.read_csv(DATA / "answer-facts.csv")["query_id"]
    queries, qrels = corpus.load_judged_queries(DATA)
    queries = queries.assign(document=qrels)
    queries = queries[queries["query_id"].isin(needs_facts)]
    queries = queries.sample(frac=1, random_state=seed).drop_duplicates("need")
    return queries.head(n).reset_index(drop=True)


def searched(queries):
    """The chunks that a model is shown of each way, a row for each query and way."""
    found, _ = pages.build(corpus.load_documents(DATA))
    tokens = pages.tokens_of(found)
    ways, rows = pages.ways_of(found, tokens), []
    for way in pages.ANSWERED:
        cut = ways[way]
        rankings = pages.rankings_of(cut, found, tokens, queries)["sum"]
        fits = pages.fitting(rankings, cut, pages.costs_of(cut), pages.ANSWER_BUDGET)
        for query_id, numbers in zip(queries["query_id"], fits, strict=True):
            rows.append((query_id, way, " ".join(map(str, numbers))))
    table = pd.DataFrame(rows, columns=["query_id", "way", "chunks"])
    return table.sort_values("query_id", kind="stable")


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    if not TABLE.exists():
        searched(drawn()).to_csv(TABLE, index=False)
    asked = pages.load_answers(DATA)["prompt"].tolist()
    path = DATA / "recorded-page-answers.jsonl"
    answers = llm.respond(asked, "answer", path, answering.answer_call(), workers=2)
    print(f"{sum(map(bool, answers)):,} of {len(asked):,} prompts have an answer")

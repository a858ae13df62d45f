"""Notebook 17: nDCG@10 of each turn of MTRAG's conversations, by what is sent."""

import n17_turns as turns
import pandas as pd

import utils
from course import answering, llm, our_data
from evaluate_retrieval.reading import corpus, files, language
from evaluate_retrieval.searching import scoring
from recorders import collections

SENT = {"questions": "history", "lastturn": "last turn", "rewrite": "rewrite"}
FORMS = [*turns.THREE, "model's rewrite", "first and last", *turns.FOUND_WORDS]
REWRITES = "rewrites.jsonl"  # in data/ of who asks: they repeat other people's texts
LONGEST = 80  # tokens of a rewritten question


def load(domain, folder=collections.PREPARED / "turns"):
    """The documents of a domain, and its turns: see `collections.load`."""
    documents, queries = collections.load(folder, domain)
    return documents, queries.assign(turn=queries["turn"].astype(int))


def rewritten(queries, path):
    """Each question as a small local model rewrites it, with the history: a Series.

    A first turn stays as it is. It asks as `llm.respond` does."""
    is_later = queries["history"] != ""
    pairs = queries.loc[is_later, ["history", "question"]].to_dict("records")
    prompts = [turns.REWRITE.format(**pair) for pair in pairs]
    options = {"workers": 2, "by": answering.ANSWERED_BY}
    call = llm.text_call(LONGEST)
    replies = llm.respond_to_all(prompts, "rewrite", path, call, **options)
    texts = queries["question"].copy()
    texts[is_later] = [reply["text"] for reply in replies]
    return texts


def three(parts):
    """BM25, vectors and their sum, of two score functions: a dict."""
    both = scoring.weighted_sum(parts, [0.2, 0.8])
    return dict(zip(turns.SEARCHES, [*parts, both], strict=True))


def falling(scores, weight):
    """Score function: those of all questions of a turn, summed.

    The last one counts once, and each one before as `weight` times the next."""

    def total(queries):
        latest_first = queries["asked"].map(lambda asked: asked[::-1])
        ages = range(latest_first.str.len().max())
        texts = [latest_first.str[age] for age in ages]
        times = [weight**age * texts[age].notna().to_numpy() for age in ages]
        by_age = [scores(queries.assign(question=text.fillna(""))) for text in texts]
        for blocks in zip(*by_age, strict=True):
            rows, columns, _ = blocks[0]
            weighted = [times[age][rows, None] * blocks[age][2] for age in ages]
            yield rows, columns, sum(weighted)

    return total


def rare_words(documents):
    """The words of each document that the fewest documents have: a dict of id: list.

    The rarest first."""
    texts = list(map(corpus.heading_and_text, documents))
    words = [dict.fromkeys(of_text) for of_text in language.words_of(texts, stem=False)]
    n_with = pd.Series([word for of_text in words for word in of_text]).value_counts()
    n_with = n_with.to_dict()
    pairs = zip(documents, words, strict=True)
    return {d["id"]: sorted(w, key=n_with.get) for d, w in pairs}


def with_words_of_found(queries, search, rare):
    """A column for each of `turns.N_WORDS`: the question, and words of what was found.

    Found: in the first document for the question before, as it was asked."""
    earlier = queries["asked"].str[-2]
    has_one = earlier.notna()
    found = search(queries[has_one].assign(question=earlier[has_one]), k=1)[:, 0]
    words = pd.Series([rare[id_] for id_ in found], queries.index[has_one])
    columns = {}
    for n in turns.N_WORDS:
        added = words.str[:n].str.join(" ").reindex(queries.index, fill_value="")
        columns[f"found words, {n}"] = queries["question"] + " " + added
    return queries.assign(**columns)


def values_of(queries, rankings):
    """nDCG@10 of each turn. What is outside the pool counts, and is not found."""
    return utils.score(queries, rankings, 10)["ndcg"].round(4)


def values(documents, queries):
    """nDCG@10 of each turn by search and form: a DataFrame with two levels of columns.

    queries: see `turns.with_forms`."""
    parts = scoring.text_and_vectors(documents)
    rare = rare_words(documents)
    table = {}
    plain = three(parts)
    falls = {w: three([falling(part, w) for part in parts]) for w in turns.WEIGHTS}
    for name in turns.SEARCHES:
        search = utils.search_by_scores(plain[name], documents)
        asked = with_words_of_found(queries, search, rare)
        by_form = {f: turns.sending(plain[name], f) for f in FORMS if f in asked}
        both = [by_form["last turn"], by_form["rewrite"]]
        by_form["fused"] = scoring.rrf_scores(both, 60)
        by_form |= {f"falling, {w}": falls[w][name] for w in turns.WEIGHTS}
        for form, scores in by_form.items():
            search = utils.search_by_scores(scores, documents, k=10)
            rankings = utils.run_search(asked, search, 10)
            table[name, form] = values_of(asked, rankings)
    return pd.DataFrame(table)


def values_of_retrievers(domain, queries, folder):
    """The same of what three retrievers found in the whole collections, see SENT.

    And of how many relevant documents each found by any form: "relevant"."""
    table = {}
    relevant = queries["document"].map(set)
    table["relevant", "all"] = relevant.map(len)
    for retriever, name in turns.RETRIEVERS.items():
        by_any = [set() for _ in queries.index]
        for file, form in SENT.items():
            rows = files.read_json(folder / f"{retriever}_{domain}_{file}.jsonl")
            hits = {row["task_id"]: row["contexts"] for row in rows}
            rankings = [
                [hit["document_id"] for hit in hits[id_]] for id_ in queries["query_id"]
            ]
            table[name, form] = values_of(queries, rankings)
            by_any = [a.union(ids) for a, ids in zip(by_any, rankings, strict=True)]
        pairs = zip(relevant, by_any, strict=True)
        table["relevant", name] = [len(ids & found) for ids, found in pairs]
    return pd.DataFrame(table)


def as_record(queries, values):
    """A table of values as a dict that JSON can hold, see `turns.recorded_values`."""
    columns = {"conversation": pd.factorize(queries["conversation"])[0].tolist()}
    columns["turn"] = queries["turn"].tolist()
    for search, form in values:
        columns[f"{search} | {form}"] = values[search, form].tolist()
    return columns


def conversations():
    """nDCG@10 of each turn of conversations, by what is sent and by search."""
    tables = {}
    for domain in turns.DOMAINS:
        documents, queries = load(domain)
        queries["model's rewrite"] = rewritten(queries, our_data.FOLDER / REWRITES)
        ours = values(documents, turns.with_forms(queries))
        folder = collections.FETCHED / "turns"
        theirs = values_of_retrievers(domain, queries, folder)
        tables[domain] = as_record(queries, ours.join(theirs))
    collections.keep(tables, turns.RECORD)

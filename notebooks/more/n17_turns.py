"""Which query to send for a turn of a conversation: forms, rules, and their values.

MTRAG has conversations in two domains, Wikipedia and money. `make collections`
fetches them, and scripts/record.py records the values. A turn has a question, and
a history: what the same user asked before, a line each."""

import json

import n06_claims as claims
import pandas as pd

import utils
from course import answering, llm, our_data
from evaluate_retrieval.measuring import comparing, intervals
from evaluate_retrieval.reading import corpus, files, language
from evaluate_retrieval.searching import scoring

DOMAINS = {"clapnq": "Wikipedia", "fiqa": "money"}
PREPARED = claims.PREPARED / "turns"
RECORD = "recorded-turns.json"
SEARCHES = "BM25", "vectors", "sum"
RETRIEVERS = {"bm25": "their BM25", "bge": "their BGE", "elser": "their ELSER"}
SENT = {"questions": "history", "lastturn": "last turn", "rewrite": "rewrite"}
WEIGHTS = (0.1, 0.25, 0.5, 0.75)  # of the question before, against the one after it
N_WORDS = (3, 5, 10)  # of the first document of the turn before
THREE = ["last turn", "history", "rewrite"]
TWO = ["last turn", "model's rewrite"]
FOUND_WORDS = [f"found words, {n}" for n in N_WORDS]
FORMS = [*THREE, "model's rewrite", "first and last", *FOUND_WORDS]
RULES = ["first and last", *(f"falling, {w}" for w in WEIGHTS), *FOUND_WORDS]
REWRITES = "rewrites.jsonl"  # in data/ of who asks: they repeat other people's texts
LONGEST = 80  # tokens of a rewritten question
REWRITE = """A user talks with an assistant. Rewrite the user's last question, so that
it can be understood without the earlier ones: say what words such as "it" or
"there" stand for. Add nothing else. If it can be understood as it is, repeat it.
Reply with the question alone.

Earlier questions:
{history}

Last question: {question}

Rewritten:"""


# --- Conversations, and their forms ------------------------------------------


def load(domain, folder=PREPARED):
    """The documents of a domain, and its turns: see `claims.load`."""
    documents, queries = claims.load(folder, domain)
    return documents, queries.assign(turn=queries["turn"].astype(int))


def rewritten(queries, path):
    """Each question as a small local model rewrites it, with the history: a Series.

    A first turn stays as it is. It asks as `llm.respond` does."""
    is_later = queries["history"] != ""
    pairs = queries.loc[is_later, ["history", "question"]].to_dict("records")
    prompts = [REWRITE.format(**pair) for pair in pairs]
    options = {"workers": 2, "by": answering.ANSWERED_BY}
    call = llm.text_call(LONGEST)
    replies = llm.respond_to_all(prompts, "rewrite", path, call, **options)
    texts = queries["question"].copy()
    texts[is_later] = [reply["text"] for reply in replies]
    return texts


def with_forms(queries):
    """Queries with a column for each text that could be sent, beside their rewrite."""
    before = queries["history"].map(str.splitlines)
    last = queries["question"].map(lambda question: [question])
    return queries.assign(
        **{
            "asked": before + last,  # a list, the first question first
            "last turn": queries["question"],
            "history": (before + last).str.join(" "),
            "first and last": (before.str[:1] + last).str.join(" "),
        }
    )


# --- Scores ------------------------------------------------------------------


def three(parts):
    """BM25, vectors and their sum, of two score functions: a dict."""
    both = scoring.weighted_sum(parts, [0.2, 0.8])
    return dict(zip(SEARCHES, [*parts, both], strict=True))


def sending(scores, form):
    """A score function that sends a column of the queries instead of the question."""
    return lambda queries: scores(queries.assign(question=queries[form]))


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
    texts = [*map(corpus.heading_and_text, documents)]
    words = [dict.fromkeys(of_text) for of_text in language.words_of(texts, stem=False)]
    n_with = pd.Series([word for of_text in words for word in of_text]).value_counts()
    n_with = n_with.to_dict()
    pairs = zip(documents, words, strict=True)
    return {d["id"]: sorted(w, key=n_with.get) for d, w in pairs}


def with_words_of_found(queries, search, rare):
    """A column for each of N_WORDS: the question, and words of what was found before.

    Found: the first document for the question before, as it was asked."""
    earlier = queries["asked"].str[-2]
    has_one = earlier.notna()
    found = search(queries[has_one].assign(question=earlier[has_one]), k=1)[:, 0]
    words = pd.Series([rare[id_] for id_ in found], queries.index[has_one])
    columns = {}
    for n in N_WORDS:
        added = words.str[:n].str.join(" ").reindex(queries.index, fill_value="")
        columns[f"found words, {n}"] = queries["question"] + " " + added
    return queries.assign(**columns)


# --- Values ------------------------------------------------------------------


def values_of(queries, rankings):
    """nDCG@10 of each turn. What is outside the pool counts, and is not found."""
    return utils.score(queries, rankings, 10)["ndcg"].round(4)


def values(documents, queries):
    """nDCG@10 of each turn by search and form: a DataFrame with two levels of columns.

    queries: see `with_forms`."""
    parts = scoring.text_and_vectors(documents)
    rare = rare_words(documents)
    table = {}
    plain = three(parts)
    falls = {w: three([falling(part, w) for part in parts]) for w in WEIGHTS}
    for name in SEARCHES:
        search = utils.search_by_scores(plain[name], documents)
        asked = with_words_of_found(queries, search, rare)
        by_form = {f: sending(plain[name], f) for f in FORMS if f in asked}
        both = [by_form["last turn"], by_form["rewrite"]]
        by_form["fused"] = scoring.rrf_scores(both, 60)
        by_form |= {f"falling, {w}": falls[w][name] for w in WEIGHTS}
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
    for retriever, name in RETRIEVERS.items():
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


# --- What was recorded -------------------------------------------------------


def as_record(queries, values):
    """A table of values as a dict that JSON can hold, see `recorded_values`."""
    columns = {"conversation": pd.factorize(queries["conversation"])[0].tolist()}
    columns["turn"] = queries["turn"].tolist()
    for search, form in values:
        columns[f"{search} | {form}"] = values[search, form].tolist()
    return columns


def recorded_values(domain):
    """nDCG@10 of each turn: a DataFrame with columns of search and form.

    The index has the number of the conversation and of the turn. The searches are
    ours in the pool, and RETRIEVERS in the whole collection, as MTRAG recorded
    them."""
    record = json.loads((our_data.FOLDER / RECORD).read_text("utf-8"))[domain]
    table = pd.DataFrame(record).set_index(["conversation", "turn"])
    names = table.columns.str.split(" | ", regex=False).map(tuple)
    return table.set_axis(pd.MultiIndex.from_tuples(names), axis=1)


# --- Comparisons -------------------------------------------------------------


def follow_ups(table):
    """The rows of turns that are not the first of their conversation."""
    return table[table.index.get_level_values("turn") > 1]


def differences(tables, pairs, searches=SEARCHES):
    """What one form gains over another: a dict of domain: DataFrame.

    tables: of `recorded_values`, by domain. pairs: a dict of label: two forms. A
    row for each pair and search, as of `intervals.differences`, which draws whole
    conversations. p is corrected for all rows of all domains (Holm). smallest:
    the difference that so many conversations show four times in five."""
    by_domain = {}
    for domain, table in tables.items():
        groups = table.index.get_level_values("conversation")
        gains = {
            f"{label}, {search}": table[search, first] - table[search, second]
            for label, (first, second) in pairs.items()
            for search in searches
        }
        by_domain[domain] = intervals.differences(gains, groups)
        by_domain[domain]["smallest"] = [
            intervals.smallest_difference(gain, groups) for gain in gains.values()
        ]
    return comparing.as_one_family(by_domain)


def lost_after_the_first(table, search, form):
    """Follow-ups minus the first turn of each conversation that has both: a Series."""
    is_first = table.index.get_level_values("turn") == 1
    means = table[search, form].groupby(["conversation", is_first]).mean().unstack()
    return (means[False] - means[True]).dropna()


def with_chosen_rule(tables):
    """The tables with one more form: "best rule", as the *other* domain has chosen it.

    tables: a dict of two. And which rule it is: a DataFrame, a row for each domain
    and a column for each search."""
    rules = {}
    chosen = {}
    for domain, elsewhere in zip(tables, [*tables][::-1], strict=True):
        means = tables[elsewhere].mean()
        rules[domain] = {search: means[search][RULES].idxmax() for search in SEARCHES}
        best = {
            (search, "best rule"): tables[domain][search, rule]
            for search, rule in rules[domain].items()
        }
        chosen[domain] = tables[domain].join(pd.DataFrame(best))
    return chosen, pd.DataFrame.from_dict(rules, orient="index")


def on_the_mean(tables, search, first, second):
    """What a form gains over another on the mean of the domains: a dict.

    As of `intervals.mean_of_these`: it speaks of these domains only."""
    of_search = [table[search].droplevel("turn") for table in tables.values()]
    gains = [table[first] - table[second] for table in of_search]
    return intervals.mean_of_these(*claims.parts(gains))

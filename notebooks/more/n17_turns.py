"""Which query to send for a turn of a conversation: forms, and their values.

MTRAG has conversations in two domains, Wikipedia and money. `make collections`
fetches them, and scripts/recorders/conversations.py records the values of the forms.
A turn has a question, and a history: what the same user asked before, a line each."""

import n06_claims as claims
import numpy as np
import pandas as pd

from course import our_data
from evaluate_retrieval.measuring import comparing, intervals

DOMAINS = {"clapnq": "Wikipedia", "fiqa": "money"}
RECORD = "recorded-turns.json"
SEARCHES = "BM25", "vectors", "sum"
RETRIEVERS = {"bm25": "their BM25", "bge": "their BGE", "elser": "their ELSER"}
WEIGHTS = (0.1, 0.25, 0.5, 0.75)  # of the question before, against the one after it
N_WORDS = (3, 5, 10)  # of the first document of the turn before
THREE = ["last turn", "history", "rewrite"]
TWO = ["last turn", "model's rewrite"]
FOUND_WORDS = [f"found words, {n}" for n in N_WORDS]
RULES = ["first and last", *(f"falling, {w}" for w in WEIGHTS), *FOUND_WORDS]
REWRITE = """A user talks with an assistant. Rewrite the user's last question, so that
it can be understood without the earlier ones: say what words such as "it" or
"there" stand for. Add nothing else. If it can be understood as it is, repeat it.
Reply with the question alone.

Earlier questions:
{history}

Last question: {question}

Rewritten:"""


# --- Conversations, and their forms ------------------------------------------


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


def sending(scores, form):
    """A score function that sends a column of the queries instead of the question."""
    return lambda queries: scores(queries.assign(question=queries[form]))


# --- What was recorded -------------------------------------------------------


def recorded_values(domain):
    """nDCG@10 of each turn: a DataFrame with columns of search and form.

    The index has the number of the conversation and of the turn. The searches are
    ours in the pool, and RETRIEVERS in the whole collection, as MTRAG recorded
    them."""
    record = our_data.recorded(RECORD)[domain]
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


def share_gone(table, search):
    """Which share of the loss after the first turn is gone with the rewrite: a dict.

    share, with low and high: the middle 95 % of draws of whole conversations."""
    both = ["last turn", "rewrite"]
    lost = [lost_after_the_first(table, search, form) for form in both]
    drawn = intervals.draws(len(lost[0])) @ np.transpose(lost)
    share = 1 - drawn[:, 1] / drawn[:, 0]
    low, high = np.quantile(share[1:], [0.025, 0.975])
    return {"share": share[0], "low": low, "high": high}


def with_chosen_rule(tables):
    """The tables with one more form: "best rule", as the *other* domain has chosen it.

    tables: a dict of two. And which rule it is: a DataFrame, a row for each domain
    and a column for each search."""
    rules = {}
    chosen = {}
    for domain, elsewhere in zip(tables, list(tables)[::-1], strict=True):
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

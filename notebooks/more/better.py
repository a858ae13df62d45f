"""What searches with larger models, a reranker, or in Spanish found: here or recorded.

Of each search the metric of each query is kept. A search whose models are on this
machine (`make models`) runs; for the others data/recorded-searches.json is read."""

import itertools
import json
from functools import cache, partial
from importlib.util import find_spec

import numpy as np
import pandas as pd
from minsearch import Index

import utils
from course import corpus, embedding, experiments, pooling, scoring

OURS, MPNET = "all-MiniLM-L6-v2", "all-mpnet-base-v2"
BGE, USE, RERANKER = "bge-small-en-v1.5", "use-multilingual", "reranker"
FIRST = 20  # results of the first stage that the reranker reads
WEIGHTS = [0.3, 0.1, 0.2, 0.4, 0.5, 0.7, 1.0]  # of the reranker, mixed in
INPUTS = {
    "input_ids": "ids",
    "attention_mask": "attention_mask",
    "token_type_ids": "type_ids",
}
RECORD = "recorded-searches.json"


def places():
    """Where each model's figures come from: a dict of model: "here" or "recorded"."""
    onnx = find_spec("onnxruntime") and find_spec("onnxruntime_extensions")
    found = {OURS: "here"}
    for name in (MPNET, BGE, USE, RERANKER):
        is_here = onnx and (embedding.MODELS / name).exists()
        found[name] = "here" if is_here else "recorded"
    return found


def few(halves, n=200):
    """The halves with at most n generated questions: a reranker is slow."""
    generated = halves["generated"].sample(n, random_state=1, ignore_index=True)
    return halves | {"generated": generated}


def in_spanish(test):
    """Typed and generated queries on the English records, by language and kind."""
    folder = corpus.ROOT / "data" / "es"
    typed = pd.read_csv(folder / "queries-on-english-records.csv")
    asked = pd.read_csv(folder / "questions-on-english-records.csv")
    needs = corpus.load_ground_truth(corpus.ROOT / "data").groupby("document")["need"]
    asked["need"] = asked["document"].map(needs.first())
    judged = test["judged"].merge(typed, on="query_id").reset_index(drop=True)
    english = asked.assign(question=asked["english"])
    return {
        "English": {"generated": english, "judged": judged},
        "Spanish": {
            "generated": asked,
            "judged": judged.assign(question=judged["query"]),
        },
    }


def results_of(documents, development, test):
    """What each search found: a dict by name, as in the record. New ones are written
    into the folder of results; a copy of that file in data/ is the record."""
    recorded = json.loads((corpus.ROOT / "data" / RECORD).read_text("utf-8"))
    here = {name for name, place in places().items() if place == "here"}
    if here != {OURS}:
        measured = _Measured(documents, development, test, here, recorded)
        recorded = measured.everything()
        path = corpus.results_folder() / RECORD
        path.write_text(json.dumps(recorded), encoding="utf-8")
    return recorded


class _Measured:
    """The record, with what was measured here in place of what was recorded."""

    def __init__(self, documents, development, test, here, recorded):
        self.documents, self.here, self.results = documents, here, dict(recorded)
        self.halves = development, test
        self.choices = dict(recorded["choices"])
        self.text = scoring.bm25_scores(documents, heading=2)
        self.whole = [corpus.heading_and_text(document) for document in documents]

    def everything(self):
        self.models()
        self.sums()
        if RERANKER in self.here:
            self.reranking()
        if USE in self.here:
            self.spanish()
        return self.results | {"choices": self.choices}

    def search(self, scores, **options):
        return utils.search_by_scores(scores, self.documents, k=10, **options)

    def vectors(self, model):
        """A score function by this model's vectors of title and answer."""
        name = None if model == OURS else model
        vectors = embedding.embed(self.whole, name)
        return scoring.vector_scores(vectors, self.documents, name)

    def measure(self, name, search, halves=None):
        """Keep the metric of each query of a search."""
        for kind, queries in (halves or self.halves[1]).items():
            deep = partial(search, k=experiments.DEPTH[kind])
            rankings = utils.run_search(queries, deep, experiments.DEPTH[kind])
            self.keep(name, kind, queries, rankings)

    def choose(self, name, build, settings, choosing, halves):
        """The same with the setting that is best on the queries that choose."""
        for kind, queries in halves.items():
            rankings, by_fold, _ = experiments.cross_fit(
                build,
                settings,
                choosing[kind],
                queries,
                experiments.K[kind],
                experiments.BY[kind],
                experiments.DEPTH[kind],
            )
            self.keep(name, kind, queries, rankings)
            self.choices.setdefault(name, {})[kind] = by_fold.tolist()

    def keep(self, name, kind, queries, rankings):
        if kind == "judged":
            both = pooling.two_estimates(queries, rankings, experiments.K[kind])
            new = {
                "judged": both["ndcg"].round(4).tolist(),
                "condensed": both["condensed"].round(4).tolist(),
                "judged_at_k": round(float(both["judged_at_k"].mean()), 4),
            }
        else:
            scores = utils.score(queries, rankings, experiments.K[kind])
            hits = round(float(scores["hit_rate"].mean()), 4)
            new = {
                kind: scores[experiments.BY[kind]].round(4).tolist(),
                "hit_rate": hits,
            }
        self.results[name] = self.results.get(name, {}) | new

    def models(self):
        for model in self.here - {RERANKER}:
            self.measure(model, self.search(self.vectors(model)))
        if BGE in self.here:
            name = f"{BGE}, no prompt"
            self.measure(name, self.search(self.without_prompt))

    def without_prompt(self, queries):
        """bge with its queries embedded as if they were documents."""
        vectors = embedding.embed(self.whole, BGE)
        asked = embedding.embed(queries["question"], BGE)
        for rows, columns in utils.blocks_of(queries, self.documents):
            yield rows, columns, asked[rows] @ vectors[columns].T

    def sums(self):
        """BM25 with up to three models; weights in fifths, all that add up to one."""
        if not {BGE, MPNET} <= self.here:
            return
        parts = [self.text, *map(self.vectors, (OURS, BGE, MPNET))]
        parts = [_remembered(part) for part in parts]
        steps = [w for w in itertools.product(range(6), repeat=4) if sum(w) == 5]
        numbers = {"two in a sum": 2, "three in a sum": 3, "four in a sum": 4}

        def summed(weights):
            total = scoring.weighted_sum(parts, [weight / 5 for weight in weights])
            return self.search(total)

        for name, n in numbers.items():
            settings = [weights for weights in steps if not any(weights[n:])]
            self.choose(name, summed, settings, *self.halves)

    def reranking(self):
        """A weak and a strong first stage, alone, reranked, and mixed."""
        index = Index(["question", "text", "section"], ["course"]).fit(self.documents)
        weak = utils.minsearch_scores(index, {"question": 3, "section": 0.5})
        strong = scoring.weighted_sum([self.text, self.vectors(OURS)], [0.2, 0.8])
        some, some_test = map(few, self.halves)
        for name, first in {"weak stage": weak, "strong stage": strong}.items():

            def mixed(weight, first=first):
                return self.search(self.reranked(first, weight))

            self.measure(name, self.search(first), some_test)
            self.measure(f"{name}, reranked", mixed(1), some_test)
            self.choose(f"{name}, mixed in", mixed, WEIGHTS, some, some_test)

    def reranked(self, first, weight):
        """A score function: the best of another one, mixed with the reranker."""

        def scores(queries):
            asked = queries["question"].tolist()
            for rows, columns, block in first(queries):
                best = utils.top_k(block, min(FIRST, len(columns)))
                pairs = zip(rows, best, strict=True)
                cross = [
                    [self.crossed(asked[row], column) for column in columns[found]]
                    for row, found in pairs
                ]
                of_first = scoring.standardise(np.take_along_axis(block, best, 1))
                of_cross = scoring.standardise(np.array(cross))
                mixed = (1 - weight) * of_first + weight * of_cross
                ranked = block.astype(float) - 1e6  # below, in the order they had
                np.put_along_axis(ranked, best, mixed, 1)
                yield rows, columns, ranked

        return scores

    @cache  # noqa: B019  one object a run
    def crossed(self, question, column):
        """The log odds of the class "relevant", by the reranker.

        Each pair by itself: in a batch of 8-bit integers the scale of one would
        depend on its neighbours."""
        tokenizer, model = _reranker()
        part = tokenizer.encode(question, self.whole[column])
        given = {name: [getattr(part, attribute)] for name, attribute in INPUTS.items()}
        [logits], *_ = model.run(None, given)
        return logits[1] - logits[0]

    def spanish(self):
        several = {"text": self.text, OURS: self.vectors(OURS), USE: self.vectors(USE)}
        for language, halves in in_spanish(self.halves[1]).items():
            for name, scores in several.items():
                search = self.search(scores, above=-1)
                self.measure(f"{name}, {language}", search, halves)


@cache
def _reranker():
    """The tokenizer and the session of the cross-encoder."""
    import onnxruntime
    from tokenizers import Tokenizer

    folder = embedding.MODELS / RERANKER
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(512)
    return tokenizer, onnxruntime.InferenceSession(folder / "model.onnx")


def _remembered(scores):
    """A score function that computes the blocks of the same queries once."""
    blocks = {}

    def again(queries):
        key = hash(tuple(queries["question"]))
        if key not in blocks:
            blocks[key] = list(scores(queries))
        return iter(blocks[key])

    return again

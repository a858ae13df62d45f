"""What is measured: a metric of the first k results, for each kind of queries."""

from dataclasses import dataclass

from course import experiments, utils
from evaluate_retrieval.screen import METRICS


@dataclass(frozen=True)
class Measure:
    """A metric of the first k results of queries of a kind.

    kind: "judged" or "generated". by: of METRICS. As text it is a label, such
    as nDCG@10. ValueError for a k below 1."""

    kind: str = "judged"
    by: str = "ndcg"
    k: int = 10

    def __post_init__(self):
        utils.check_k(self.k)

    def __str__(self):
        return f"{METRICS[self.by]}@{self.k}"

    @property
    def depth(self):
        """How many results of each search are kept: what is below k refills it."""
        return max(experiments.DEPTH[self.kind], 2 * self.k)


def measures_of(by=None, k=None):
    """The `Measure` of each kind of queries, a dict. Without by or k it is ours."""
    return {
        kind: Measure(kind, by or experiments.BY[kind], usual if k is None else k)
        for kind, usual in experiments.K.items()
    }

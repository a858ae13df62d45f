"""What came out of a folder: facts, each computed once, and their sentences."""

from dataclasses import dataclass, field

import pandas as pd

from evaluate_retrieval.commands import report
from evaluate_retrieval.judging import agreed
from evaluate_retrieval.measuring import decision, graders, steps, verdicts
from evaluate_retrieval.measuring.noise import Noise
from evaluate_retrieval.measuring.plan import Plan
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import FEW, LEFT_OUT, MARGIN, UNITS


@dataclass(frozen=True)
class Evaluated:
    """What came out of a folder, each computed once. Without queries the rest is None.

    files: paths that matter. pair: two names, see `steps.pair_of`, and figures: see
    `pairs.summary`, or None where both names are one; first: see
    `pairs.first_relevant`. failures: see `pairs.failures`. judge_next: see
    `next_pairs.next_to_judge`. plan: see `verdicts.planned`. since: see
    `since.since_last`. runs: see `history.runs_of`. margin: of the metric, by which it
    was decided. segments: see `segments.segments_of`. run_id: of the manifest. noise:
    by search, see `noise.noises_of`."""

    folder: Folder
    files: list
    candidates: steps.Candidates | None = None
    results: steps.Results | None = None
    verdict: decision.Decision | None = None
    pair: tuple = ()
    figures: dict | None = None
    first: dict = field(default_factory=dict)
    failures: pd.DataFrame | None = None
    judge_next: pd.DataFrame = field(default_factory=pd.DataFrame)
    plan: Plan | None = None
    since: list = field(default_factory=list)
    runs: list = field(default_factory=list)
    margin: float = MARGIN
    segments: list = field(default_factory=list)
    run_id: str = ""
    noise: dict[str, Noise] = field(default_factory=dict)

    @property
    def agreement(self) -> pd.DataFrame:
        """How far people agree who graded the same pairs: see `agreed.agreement_of`."""
        return agreed.agreement_of(self.folder.judgements)

    @property
    def says(self) -> str:
        """The decision, and what it takes to decide, in words."""
        if self.verdict is None:
            return report.advice(self.folder)
        return " ".join([self.verdict.says, *self.more])

    @property
    def changes(self) -> list[str]:
        """What has changed since the last run, in words: a list."""
        return list(map(sentences.since, self.since))

    @property
    def more(self) -> list[str]:
        """What it takes to decide, in words: a list."""
        verdict = self.verdict
        texts = [LEFT_OUT] * self.folder.only_answered
        if verdict and verdict.graded and verdict.n >= FEW:  # fewer decide nothing
            texts.append(sentences.graders(verdict.graded, graders.DRAWS))
        if self.segments:
            unit = UNITS[self.folder.decides]
            texts.append(sentences.segments(self.segments, self.pair[0], unit))
        if self.plan and verdict:
            unit = UNITS[verdict.kind]
            texts.append(sentences.plan(self.plan, str(verdict.rival), unit))
        growing = self.results and self.results.whole.judgements == "growing"
        if verdict and verdict.rivals and growing and len(self.judge_next):
            n_queries = self.judge_next["query_id"].nunique()
            minutes = verdicts.minutes_of(self.judge_next)
            texts.append(
                sentences.list_to_judge(len(self.judge_next), n_queries, minutes)
            )
        return texts

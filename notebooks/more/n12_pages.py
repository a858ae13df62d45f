"""Long pages of short records, ways of cutting them, and what each cut brings.

Labels name words, and not chunks: a *span* is a range of tokens of a page, and
a grade of a record is a grade of its span. So the same labels serve every way
of cutting. Tokens are those of all-MiniLM-L6-v2, numbered through all pages.

A page is a dict of id, course, title and text. A *cut* is a DataFrame with a
row for each chunk and the columns page (its number), first and last (tokens,
last not included), prefix (a text that is put before the chunk's own, or "")
and extra (how many tokens the prefix has)."""

import itertools
import math
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tokenizers import Tokenizer

import utils
from course import answering, our_data
from evaluate_retrieval.searching import embedding, scoring

PAGE = 780  # words of a page, about, without titles
READ = 254  # tokens that the model reads of a text, without the two of its own
BUDGETS = [500, 1_000, 2_000, 4_000]  # tokens that a language model is shown
RECORD = "recorded-pages.json"
DEEP = 120  # chunks that are ranked for a query
ANSWERED = ["128 tokens", "128 tokens, headings", "512 tokens", "whole page"]
ANSWER_BUDGET = 1_000  # tokens of pages in the prompts of the recorded answers
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
PAGE_HEADING = re.compile(r"(?m)^##+ (.*)$")


# --- Pages and spans ---------------------------------------------------------


def build(documents, seed=1):
    """Pages of the records of a section each, and the span of each record.

    The records of a section are shuffled with the seed; each has its title
    above its text. Returns a list of pages, and a DataFrame of page (its
    number), record (its id), start and end in characters: the record's title
    and text."""
    records = pd.DataFrame(documents).sample(frac=1, random_state=seed)
    pages = []
    spans = []
    for (course, section), of_section in records.groupby(["course", "section"]):
        n_words = of_section["text"].str.split().str.len()
        n_pages = max(1, round(n_words.sum() / PAGE))
        part_of = (n_words.cumsum() * n_pages / (n_words.sum() + 1)).astype(int)
        for part, of_page in of_section.groupby(part_of):
            title = f"{section}, part {part + 1}" if n_pages > 1 else section
            text = f"# {title}\n\n"
            for record in of_page.itertuples():
                start = len(text)
                text += f"## {record.question}\n\n{record.text}\n"
                spans.append((len(pages), record.id, start, len(text) - 1))
                text += "\n"
            page = {"id": f"{course}: {title}", "course": course, "title": title}
            pages.append(page | {"text": text})
    return pages, pd.DataFrame(spans, columns=["page", "record", "start", "end"])


@dataclass(frozen=True)
class Tokens:
    """The tokens of all pages: arrays of page, and of start and end in characters."""

    pages: list
    page: np.ndarray
    start: np.ndarray
    end: np.ndarray


def encoded_texts(texts):
    """The `tokenizers.Encoding` of each text, by the embedding model, whole."""
    path = embedding.model_folder() / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer.encode_batch(texts, add_special_tokens=False)


def tokens_of(pages):
    """The `Tokens` of pages, by the tokenizer of the embedding model."""
    parts = encoded_texts([page["text"] for page in pages])
    offsets = [np.array(part.offsets).reshape(-1, 2) for part in parts]
    page = np.repeat(range(len(pages)), list(map(len, offsets)))
    start, end = np.concatenate(offsets).T
    return Tokens(pages, page, start, end)


def to_tokens(spans, tokens):
    """Spans of characters as spans of tokens: columns record, page, first and last.

    A token belongs to a span if it begins in it."""
    in_tokens = spans[["record", "page"]].copy()
    keys = tokens.page * 10**7 + tokens.start
    for name, column in {"first": "start", "last": "end"}.items():
        in_tokens[name] = np.searchsorted(keys, spans["page"] * 10**7 + spans[column])
    return in_tokens


def numbers_of(ranges):
    """The numbers of all tokens in ranges of (first, last), sorted, each one once."""
    return np.unique(np.concatenate([np.arange(*pair) for pair in ranges]))


def relevant_tokens(queries, spans):
    """The numbers of the tokens that answer each query: a list of arrays.

    They are those of the records with its best grade. spans: see `to_tokens`."""
    ranges = spans.set_index("record")[["first", "last"]]
    relevant = []
    for qrel in queries["document"]:
        best = max(qrel.values())
        ids = [id_ for id_, grade in qrel.items() if grade == best]
        relevant.append(numbers_of(ranges.loc[ids].to_numpy()))
    return relevant


# --- Ways of cutting ---------------------------------------------------------


def cut_of(rows):
    """A cut of chunks without a prefix. rows: page, first and last of each."""
    cut = pd.DataFrame(rows, columns=["page", "first", "last"])
    return cut.assign(prefix="", extra=0)


def _bounds(tokens):
    """The number of each page, its first token, and one behind its last: rows."""
    counts = np.bincount(tokens.page)
    last = counts.cumsum()
    return zip(range(len(counts)), last - counts, last, strict=True)


def fixed(tokens, size, overlap=0):
    """Chunks of `size` tokens; each shares `overlap` tokens with the one before."""
    rows = []
    for page, first, last in _bounds(tokens):
        starts = range(first, max(first + 1, last - overlap), size - overlap)
        rows += [(page, start, min(start + size, last)) for start in starts]
    return cut_of(rows)


def sentences(tokens):
    """Each sentence or line is a chunk, by punctuation and line breaks."""
    rows = []
    for page, first, last in _bounds(tokens):
        text = tokens.pages[page]["text"]
        ends = [match.end() for match in SENTENCE.finditer(text)]
        places = np.searchsorted(tokens.start[first:last], [0, *ends, len(text)])
        edges = first + np.unique(places)
        rows += [(page, start, end) for start, end in itertools.pairwise(edges)]
    return cut_of(rows)


def merged(cut, size):
    """Neighbours on a page put together, as long as they have `size` tokens at most.

    A longer one stays as it is."""
    rows = []
    for page, first, last in cut[["page", "first", "last"]].itertuples(index=False):
        if rows and rows[-1][0] == page and last - rows[-1][1] <= size:
            rows[-1] = (page, rows[-1][1], last)
        else:
            rows.append((page, first, last))
    return cut_of(rows)


def by_record(spans):
    """Each record is a chunk: a cut by headings."""
    return cut_of(spans[["page", "first", "last"]].to_numpy())


def with_headings(cut, tokens):
    """The same cut, with the title of the page and the last heading before each chunk.

    The heading that a chunk begins with is not repeated."""
    prefixes = []
    starts = tokens.start[cut["first"]]
    for number, start in zip(cut["page"], starts, strict=True):
        page = tokens.pages[number]
        headings = PAGE_HEADING.finditer(page["text"])
        above = [heading[1] for heading in headings if heading.start() < start]
        titles = [page["title"], *above[-1:]]
        prefixes.append("" if start == 0 else ". ".join(titles) + ". ")
    return cut.assign(prefix=prefixes, extra=list(map(len, encoded_texts(prefixes))))


def texts_of(cut, tokens):
    """The text of each chunk, with its prefix: a list."""
    starts = tokens.start[cut["first"]]
    ends = tokens.end[cut["last"] - 1]
    rows = zip(cut["page"], cut["prefix"], starts, ends, strict=True)
    texts = [page["text"] for page in tokens.pages]
    return [prefix + texts[page][start:end] for page, prefix, start, end in rows]


def costs_of(cut):
    """How many tokens each chunk costs, its prefix included: a Series."""
    return cut["last"] - cut["first"] + cut["extra"]


def ways_of(tokens):
    """The ways of cutting that notebook 12 compares: a dict of name: cut.

    Without the cut by meaning, which is recorded."""
    lines = sentences(tokens)
    ways = {f"{size} tokens": fixed(tokens, size) for size in (64, 128, 254, 512)}
    for size, overlap in [(128, 13), (128, 26), (254, 25), (254, 51)]:
        share = f"{100 * overlap / size:.0f} %"
        ways[f"{size} tokens, overlap {share}"] = fixed(tokens, size, overlap)
    for size in (128, 254):
        ways[f"sentences, {size} tokens"] = merged(lines, size)
        plain = ways[f"{size} tokens"]
        ways[f"{size} tokens, headings"] = with_headings(plain, tokens)
    ways["whole page"] = fixed(tokens, len(tokens.page))
    return ways


# --- What a search brings ----------------------------------------------------


def vectors_of(cut, tokens):
    """Unit vectors of the chunks, (n, dimension).

    Where the model cannot read a chunk with its prefix at once, it is the mean
    of the vectors of equal parts, each with the prefix."""
    rows = []
    chunks = []
    for chunk, row in enumerate(cut.itertuples(index=False)):
        n_parts = math.ceil((row.last - row.first) / (READ - row.extra))
        edges = np.linspace(row.first, row.last, n_parts + 1).astype(int)
        for first, last in itertools.pairwise(edges):
            rows.append(row._replace(first=first, last=last))
            chunks.append(chunk)
    vectors = embedding.embed(texts_of(pd.DataFrame(rows), tokens))
    sums = np.zeros((len(cut), vectors.shape[1]), dtype=np.float32)
    np.add.at(sums, chunks, vectors)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def rankings_of(cut, tokens, queries, weight=0.8):
    """The numbers of the chunks, best first: (n_queries, DEEP). -1 is no chunk.

    By BM25 with stems and vectors. weight: of the vectors; with 0 none are
    made."""
    texts = texts_of(cut, tokens)
    documents = [
        {
            "id": str(number),
            "course": tokens.pages[page]["course"],
            "question": "",
            "section": "",
            "text": text,
        }
        for number, (page, text) in enumerate(zip(cut["page"], texts, strict=True))
    ]
    scores = scoring.bm25_scores(documents)
    if weight:
        by_vectors = scoring.vector_scores(vectors_of(cut, tokens), documents)
        scores = scoring.weighted_sum([scores, by_vectors], [1 - weight, weight])
    ids = utils.search_by_scores(scores, documents, k=DEEP)(queries)
    return np.where(ids == "", "-1", ids).astype(int)


def shown(ranking, cut, budget):
    """The chunks of a ranking that fit into a budget of tokens: rows of the cut.

    They are taken in their order until the budget is spent, and of the last
    one its beginning."""
    chunks = cut.iloc[[number for number in ranking if number >= 0]]
    missing = (costs_of(chunks).cumsum() - budget).clip(lower=0)
    chunks = chunks.assign(last=chunks["last"] - missing)
    return chunks[chunks["last"] > chunks["first"]]


def recalled(rankings, cut, relevant, budgets=BUDGETS):
    """The share of the relevant tokens that is shown: (n_queries, n_budgets).

    Chunks are taken as by `shown`. What two of them share is paid twice and
    counts once. relevant: see `relevant_tokens`."""
    recall = []
    for ranking, tokens in zip(rankings, relevant, strict=True):
        chunks = cut.iloc[ranking[ranking >= 0]]
        first, last = chunks[["first", "last"]].to_numpy().T
        paid = costs_of(chunks).cumsum().to_numpy()
        token = tokens[:, None]
        is_inside = (first <= token) & (token < last)
        # the budget from which on a token is shown
        prices = np.where(is_inside, paid - (last - 1 - token), np.inf)
        prices = prices.min(axis=1, initial=np.inf)
        recall.append([np.mean(prices <= budget) for budget in budgets])
    return np.array(recall)


def recorded_pages(version):
    """What was measured for the searches of each way: a dict of search: dict of way.

    version: "near" or "away", where the titles of a page are: arrays,
    (n_queries, n_budgets), of `recalled`. "liveqa": arrays, (n_queries,), of
    nDCG@10 of LiveQA-Med's long answers, each of which scores as its best
    chunk; "liveqa, condensed" and "liveqa, judged_at_k": see
    `metric.two_estimates`."""
    by_search = {}
    for name, values in our_data.recorded(RECORD)[version].items():
        way, _, search = name.rpartition("|")
        by_search.setdefault(search, {})[way] = np.array(values) / 1_000
    return by_search


def recorded_needs():
    """The need of each query of LiveQA-Med in the record, a Series."""
    return pd.Series(our_data.recorded(RECORD)["liveqa_needs"])


def load_answers(folder, tokens, ways):
    """What a model was shown of each way, from page-answers.csv: a row an answer.

    tokens, ways: of the pages of `build`. Columns: query_id, way, chunks
    (numbers), question, course, need and prompt."""

    def records_of(row):
        chunks = shown(map(int, row.chunks.split()), ways[row.way], ANSWER_BUDGET)
        return [{"question": "", "text": text} for text in texts_of(chunks, tokens)]

    return answering.with_prompts(folder, "page-answers.csv", records_of)

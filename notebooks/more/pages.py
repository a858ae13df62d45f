"""Long pages made of short records, ways of cutting them, and what each cut finds.

Labels name words, and not chunks: a *span* is a range of
tokens of a page, and a grade of a record is a grade of its span. So the same labels
serve every way of cutting. Tokens are those of all-MiniLM-L6-v2.

Tokens of all pages are numbered through. A *cut* is a DataFrame with a row for each
chunk and the columns page (a number), first and last (tokens, last not included), and
prefix: a text that is put before the chunk's own, or ""."""

import itertools
import json
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

import utils
from course import answering, corpus, embedding, scoring

PAGE = 780  # words of a page, about, without titles
READ = 254  # tokens that the model reads of a text, without the two of its own
BUDGETS = [500, 1_000, 2_000, 4_000]  # tokens that a language model is shown
DEEP = 120  # chunks that are ranked for a query
RECORD = "recorded-pages.json"
ANSWERED = ["128 tokens", "128 tokens, headings", "512 tokens", "whole page"]
ANSWER_BUDGET = 1_000  # tokens of pages in the prompts of the recorded answers
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
HEADING = re.compile(r"(?m)^##+ (.*)$")


# --- Pages and spans ---------------------------------------------------------


def build(documents, headings="near", seed=1):
    """Pages of the records of a section each: two lists, and the spans.

    headings: "near" puts a record's title above its text, "away" puts all titles of a
    page at its top, as a list. The records of a section are shuffled with the seed.
    Returns pages, dicts of id, course, title and text; and a DataFrame of spans:
    page (its number), record, start and end, in characters. A span has the record's
    text, and its heading where that is near."""
    if headings not in ("near", "away"):
        raise ValueError(f"headings: {headings!r} is not 'near' or 'away'")
    frame = pd.DataFrame(documents).sample(frac=1, random_state=seed)
    pages, spans = [], []
    for (course, section), records in frame.groupby(["course", "section"]):
        n_words = records["text"].str.split().str.len()
        n_pages = max(1, round(n_words.sum() / PAGE))
        number = (n_words.cumsum() * n_pages / (n_words.sum() + 1)).astype(int)
        for part, some in records.groupby(number):
            title = f"{section}, part {part + 1}" if n_pages > 1 else section
            text, found = _page(title, some, headings)
            spans += [(len(pages), *one) for one in found]
            pages.append(
                {
                    "id": f"{course}: {title}",
                    "course": course,
                    "title": title,
                    "text": text,
                }
            )
    columns = ["page", "record", "start", "end"]
    return pages, pd.DataFrame(spans, columns=columns)


def _page(title, records, headings):
    """The text of a page, and the record, start and end of each span."""
    text, spans = f"# {title}\n\n", []
    if headings == "away":
        text += "".join(f"- {one}\n" for one in records["question"]) + "\n"
    for record in records.itertuples():
        start = len(text)
        if headings == "near":
            text += f"## {record.question}\n\n"
        text += f"{record.text}\n"
        spans.append((record.id, start, len(text) - 1))
        text += "\n"
    return text, spans


def as_pages(documents):
    """Documents as pages, a list: the title is the heading at the top."""
    return [
        {
            "id": one["id"],
            "course": one["course"],
            "title": one["question"],
            "text": f"# {one['question']}\n\n{one['text']}",
        }
        for one in documents
    ]


@dataclass(frozen=True)
class Tokens:
    """The tokens of all pages: arrays of page, and of start and end in characters."""

    page: np.ndarray
    start: np.ndarray
    end: np.ndarray


def tokens_of(pages):
    """The `Tokens` of pages, by the tokenizer of the embedding model."""
    tokenizer = embedding.embedding_model().tokenizer
    how = {"add_special_tokens": False, "return_offsets_mapping": True}
    found = tokenizer([page["text"] for page in pages], verbose=False, **how)
    offsets = [np.array(one).reshape(-1, 2) for one in found["offset_mapping"]]
    page = np.repeat(np.arange(len(pages)), [len(one) for one in offsets])
    start, end = np.concatenate(offsets).T
    return Tokens(page, start, end)


def to_tokens(spans, tokens):
    """Spans of characters as spans of tokens: columns record, page, first and last.

    A token belongs to a span if it begins in it."""
    found = spans[["record", "page"]].copy()
    for name, column in {"first": "start", "last": "end"}.items():
        keys = tokens.page * 10**7 + tokens.start
        found[name] = np.searchsorted(keys, spans["page"] * 10**7 + spans[column])
    return found


def to_characters(cut, tokens):
    """Start and end of each chunk in the text of its page: an array, (n, 2)."""
    first, last = cut["first"].to_numpy(), cut["last"].to_numpy()
    return np.stack([tokens.start[first], tokens.end[last - 1]], axis=1)


def wanted_of(queries, spans):
    """The spans that a query wants: for each query an array, (n, 2), of tokens.

    Those of the records with the query's best grade. spans: see `to_tokens`. ValueError
    for a query whose records have no span."""
    where = dict(zip(spans["record"], spans[["first", "last"]].to_numpy(), strict=True))
    found = []
    for query, qrel in zip(queries["question"], queries["document"], strict=True):
        best = max(qrel.values())
        some = [where[id_] for id_, grade in qrel.items() if grade == best > 0]
        if not some:
            raise ValueError(f"query {query!r}: no record that it wants is on a page")
        found.append(np.array(sorted(map(tuple, some))))
    return found


# --- Ways of cutting ---------------------------------------------------------


def _cut(rows, prefixes=""):
    table = pd.DataFrame(rows, columns=["page", "first", "last"])
    return table.assign(prefix=prefixes)


def _bounds(tokens):
    """The first token of each page, and one behind its last: two arrays."""
    counts = np.bincount(tokens.page)
    last = counts.cumsum()
    return last - counts, last


def fixed(tokens, size, overlap=0):
    """Chunks of `size` tokens; each shares `overlap` tokens with the one before."""
    rows = []
    for page, (first, last) in enumerate(zip(*_bounds(tokens), strict=True)):
        starts = range(first, max(first + 1, last - overlap), size - overlap)
        rows += [(page, start, min(start + size, last)) for start in starts]
    return _cut(rows)


def whole(tokens):
    """Each page is one chunk."""
    ends = zip(*_bounds(tokens), strict=True)
    return _cut([(page, *both) for page, both in enumerate(ends)])


def sentences(pages, tokens):
    """Each sentence or line is a chunk, by punctuation and line breaks."""
    first_of, last_of = _bounds(tokens)
    rows = []
    for number, page in enumerate(pages):
        ends = [found.end() for found in SENTENCE.finditer(page["text"])]
        starts = tokens.start[first_of[number] : last_of[number]]
        places = np.unique(np.searchsorted(starts, [0, *ends, len(page["text"])]))
        places = first_of[number] + places
        rows += [(number, a, b) for a, b in itertools.pairwise(places)]
    return _cut(rows)


def merged(cut, size):
    """Neighbours on a page put together, as long as they have `size` tokens at most.

    A longer one stays as it is."""
    rows = []
    for page, first, last in cut[["page", "first", "last"]].itertuples(index=False):
        if rows and rows[-1][0] == page and last - rows[-1][1] <= size:
            rows[-1] = (page, rows[-1][1], last)
        else:
            rows.append((page, first, last))
    return _cut(rows)


def by_record(spans):
    """Each record is a chunk: where headings are near, that is a cut by headings."""
    return _cut(spans[["page", "first", "last"]].to_numpy())


def with_headings(cut, pages, tokens):
    """The same cut, with the title of the page and the last heading before each chunk.

    The heading that a chunk begins with is not repeated."""
    prefixes = []
    starts = to_characters(cut, tokens)[:, 0]
    for page, start in zip(cut["page"], starts, strict=True):
        text = pages[page]["text"]
        before = [one[1] for one in HEADING.finditer(text) if one.start() < start]
        names = [pages[page]["title"], *before[-1:]]
        prefixes.append("" if start == 0 else ". ".join(names) + ". ")
    return cut.assign(prefix=prefixes)


def texts_of(cut, pages, tokens):
    """The text of each chunk, with its prefix: a list."""
    ends = to_characters(cut, tokens)
    rows = zip(cut["page"], cut["prefix"], ends, strict=True)
    return [prefix + pages[page]["text"][a:b] for page, prefix, (a, b) in rows]


def ways_of(pages, tokens):
    """The ways of cutting that notebook 12 compares: a dict of name: cut.

    Without `by_meaning`, which has to embed each sentence."""
    lines = sentences(pages, tokens)
    found = {f"{size} tokens": fixed(tokens, size) for size in (64, 128, 254, 512)}
    for size, overlap in [(128, 13), (128, 26), (254, 25), (254, 51)]:
        share = f"{100 * overlap / size:.0f} %"
        found[f"{size} tokens, overlap {share}"] = fixed(tokens, size, overlap)
    for size in (128, 254):
        found[f"sentences, {size} tokens"] = merged(lines, size)
        plain = found[f"{size} tokens"]
        found[f"{size} tokens, headings"] = with_headings(plain, pages, tokens)
    found["whole page"] = whole(tokens)
    return found


# --- Searches ----------------------------------------------------------------


def chunks_as_documents(cut, pages, tokens):
    """The chunks as documents that a search can take: a list of dicts.

    The id is the number of the chunk."""
    texts = texts_of(cut, pages, tokens)
    rows = zip(cut["page"], texts, strict=True)
    return [
        {
            "id": str(number),
            "course": pages[page]["course"],
            "question": "",
            "section": "",
            "text": text,
        }
        for number, (page, text) in enumerate(rows)
    ]


def vectors_of(cut, pages, tokens):
    """Unit vectors of the chunks, (n, dimension).

    Where the model cannot read a chunk with its prefix at once, it is the mean of the
    vectors of equal parts, each with the prefix."""
    parts, owner = [], []
    columns = ["page", "first", "last", "prefix"]
    room = READ - _n_tokens(cut["prefix"])
    for number, row in enumerate(cut[columns].itertuples(index=False)):
        n_parts = -(-(row.last - row.first) // room[number])
        edges = np.linspace(row.first, row.last, n_parts + 1).astype(int)
        for first, last in itertools.pairwise(edges):
            parts.append((row.page, first, last, row.prefix))
        owner += [number] * n_parts
    table = pd.DataFrame(parts, columns=columns)
    of_parts = embedding.embed(texts_of(table, pages, tokens))
    sums = np.zeros((len(cut), of_parts.shape[1]), dtype=np.float32)
    np.add.at(sums, owner, of_parts)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def _n_tokens(texts):
    """How many tokens each text has: an array."""
    tokenizer = embedding.embedding_model().tokenizer
    lengths = {text: len(tokenizer.tokenize(text)) for text in {*texts}}
    return np.array([lengths[text] for text in texts], dtype=int)


def rankings_of(cut, pages, tokens, queries, vectors=True):
    """The numbers of the chunks, best first, by search: a dict of (n_queries, DEEP).

    BM25 with stems, and with vectors also these, and the sum with 0.8 for them. -1 is
    no chunk."""
    documents = chunks_as_documents(cut, pages, tokens)
    scores = {"BM25": scoring.bm25_scores(documents)}
    if vectors:
        values = vectors_of(cut, pages, tokens)
        scores["vectors"] = scoring.vector_scores(values, documents)
        both = scores["BM25"], scores["vectors"]
        scores["sum"] = scoring.weighted_sum(both, [0.2, 0.8])
    found = {}
    for name, function in scores.items():
        search = utils.search_by_scores(function, documents, k=DEEP)
        found[name] = np.where((ids := search(queries)) == "", "-1", ids).astype(int)
    return found


# --- What is found -----------------------------------------------------------


def costs_of(cut):
    """How many tokens each chunk costs, its prefix included: an array."""
    return (cut["last"] - cut["first"]).to_numpy() + _n_tokens(cut["prefix"])


def recalled(rankings, cut, costs, wanted, budgets=BUDGETS):
    """The share of the wanted tokens that is retrieved: (n_queries, n_budgets).

    Chunks are taken in their order until the budget is spent, and of the last one its
    beginning. What two chunks share is paid twice and counts once. wanted: see
    `wanted_of`. costs: see `costs_of`."""
    first, last = cut["first"].to_numpy(), cut["last"].to_numpy()
    extra = costs - (last - first)
    found = np.zeros((len(rankings), len(budgets)))
    for row, (ranking, spans) in enumerate(zip(rankings, wanted, strict=True)):
        total = (spans[:, 1] - spans[:, 0]).sum()
        for column, budget in enumerate(budgets):
            ranges = _taken(ranking, first, last, extra, budget)
            ranges = [tokens for _, *tokens in ranges]
            found[row, column] = _overlap(ranges, spans) / total
    return found


def _taken(ranking, first, last, extra, budget):
    """The chunks that fit into a budget: a list of number, first and last token."""
    ranges, left = [], budget
    for number in ranking:
        if number < 0 or left <= extra[number]:
            break
        left -= extra[number]
        end = min(last[number], first[number] + left)
        ranges.append((number, first[number], end))
        left -= end - first[number]
    return ranges


def fitting(rankings, cut, costs, budget):
    """The numbers of the chunks that a model is shown: a list for each query.

    They are those of `recalled`, the last one cut where the budget is spent."""
    first, last = cut["first"].to_numpy(), cut["last"].to_numpy()
    extra = costs - (last - first)
    taken = [_taken(ranking, first, last, extra, budget) for ranking in rankings]
    return [[number for number, *_ in some] for some in taken]


def shown(numbers, cut, costs, found, tokens, budget):
    """The texts of some chunks, best first, as a model is shown them: a list.

    The last one ends where the budget is spent. found: the pages."""
    first, last = cut["first"].to_numpy(), cut["last"].to_numpy()
    taken = _taken(numbers, first, last, costs - (last - first), budget)
    numbers, first, last = np.array(taken, dtype=int).reshape(-1, 3).T
    table = cut.iloc[numbers].assign(first=first, last=last)
    return texts_of(table, found, tokens)


def _overlap(ranges, spans):
    """How many tokens of the spans are in any of the ranges. Spans do not overlap."""
    return sum(
        max(0, min(b, last) - max(a, first))
        for a, b in joined(ranges)
        for first, last in spans
    )


def joined(ranges):
    """The same tokens as ranges that do not overlap: a sorted list of [first, last]."""
    found = []
    for first, last in sorted(map(tuple, ranges)):
        if found and first <= found[-1][1]:
            found[-1][1] = max(found[-1][1], last)
        else:
            found.append([first, last])
    return found


def recorded(version):
    """What was measured for the searches of each way: a dict of search: dict of way.

    version: "near" or "away", see `build`: arrays, (n_queries, n_budgets), of
    `recalled`. "liveqa": arrays, (n_queries,), of nDCG@10 of LiveQA-Med's long answers,
    each of which scores as its best chunk."""
    text = (corpus.ROOT / "data" / RECORD).read_text("utf-8")
    found = {}
    for name, values in json.loads(text)[version].items():
        way, _, search = name.rpartition("|")
        found.setdefault(search, {})[way] = np.array(values) / 1_000
    return found


def recorded_needs():
    """The need of each query of LiveQA-Med in the record, a list."""
    text = (corpus.ROOT / "data" / RECORD).read_text("utf-8")
    return json.loads(text)["liveqa_needs"]


# --- What reaches the answer -------------------------------------------------


def load_answers(folder=None):
    """What a model was shown of each way, from page-answers.csv: a row an answer.

    Columns: query_id, way, chunks (numbers), question, course, need and prompt. The
    pages have their titles near the texts."""
    folder = corpus.data_folder(folder)
    queries, _ = corpus.load_judged_queries(folder)
    table = pd.read_csv(folder / "page-answers.csv", dtype=str, keep_default_na=False)
    columns = ["query_id", "question", "course", "need"]
    table = table.merge(queries[columns], how="left", validate="many_to_one")
    found, _ = build(corpus.load_documents(folder))
    tokens = tokens_of(found)
    ways = ways_of(found, tokens)
    costs = {way: costs_of(ways[way]) for way in table["way"].unique()}
    prompts = []
    for row in table.itertuples():
        numbers = [int(number) for number in row.chunks.split()]
        of_way = ways[row.way], costs[row.way]
        texts = shown(numbers, *of_way, found, tokens, ANSWER_BUDGET)
        records = [{"question": "", "text": text} for text in texts]
        prompts.append(answering.prompt_of(row.question, row.course, records))
    return table.assign(prompt=prompts)

"""What a search returned: the ids of documents, in the forms that people have.

They are in tables: add a name to one if an engine has another. Only the standard
library is needed, so a file may run under another Python than ours, see `serve`."""

# so that no type is evaluated: an older Python does not know `str | None`
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from math import inf
from numbers import Integral, Number, Real
from operator import itemgetter
from typing import Any

MOST_RESULTS = 100_000  # of a query that are read; a generator may never end
GIVES = "return a list of ids, or of documents with an id, best first"
NO_LISTS = (str, bytes, Mapping, Set)  # though one can go through them
# The forms of answers, and who has them. Names are looked for in this order: of lists
# in a dict or an object,
LISTS = [
    "hits",  # Elasticsearch, OpenSearch, Algolia, Meilisearch, Typesense
    "ids",  # ours, Chroma
    "body",  # Elastic's client
    "results",
    "documents",
    "points",
    "objects",  # Weaviate's client
]
# in a dict alone, since an array has data, too,
IN_DICTS = [
    *("source_documents", "source_nodes", "context"),  # chains of LangChain, LlamaIndex
    *("response", "grouped", "groups", "doclist", "docs"),  # Solr
    *("matches", "chunk_search_results"),  # Pinecone, R2R
    *("root", "children"),  # Vespa
    *("retrievalResults", "responses"),  # Bedrock, _msearch
    *("result", "output"),  # Qdrant, LangServe
    *("data", "Get", "value"),  # OpenAI, Milvus, Weaviate, Azure
]
OF_CLASSES = {"grouped", "Get"}  # here a list has a name of theirs
# of ids, and of what they may be inside of. A point of Qdrant is a number or a UUID, so
# what its payload has comes before that
IDS = ["id", "_id", "id_", "node_id", "doc_id", "document_id", "docid", "docId"]
IDS += ["documentId", "objectID", "file_id", "chunk_id", "uuid"]
FIRST_INSIDE = ["payload"]
INSIDE = ["node", "document", "metadata", "entity", "fields", "properties", "_source"]
INSIDE += ["attributes", "_additional", "location", "s3Location"]
# where nothing else is an id: these, and keys such as HotelId and product_id
LAST = ["source", "file_path", "filename", "file_name", "uri", "url", "path", "sku"]
ENDS_AS_ID = re.compile("_id$|I[dD]$")
DEEPEST = 3  # an id is looked for so far inside a result
VESPA = re.compile("id:[^:]*:[^:]*:[^:]*:(.+)")  # of a document, whose own id is last
COUNTS = {"total", "count", "took", "found"}  # in an answer without a list
CALL = ["asked", "tokens", "milliseconds"]  # what a call may tell, beside its ids
PRICES = ["price", "cost"]  # what an answer, or a call, may say that it costs
# keys of our own form
PROTOCOL = {"ids", "error", "is form", "wait", "rises", "elsewhere", *CALL, *PRICES}
SCORES = ["score", "_score", "@search.score", "relevance"]  # a higher one is better
NO_PATHS: Mapping[str, str] = {}


class SearchError(ValueError):
    """A search says that it failed."""


class FormError(ValueError):
    """What a search returned is no ranking."""


class BusyError(FormError):
    """A search asks to wait: so many seconds, which is the second argument."""

    def __str__(self):
        return str(self.args[0])


def fail_if_error(line: Any) -> None:
    """FormError, BusyError or SearchError where an answer is an error."""
    problem = isinstance(line, dict) and (line.get("error") or line.get("errors"))
    if problem and isinstance(line.get("wait"), (int, float)):
        raise BusyError(str(problem), line["wait"])
    if problem:
        raise (FormError if line.get("is form") else SearchError)(str(problem))


def ids_of(results: Any, paths: Mapping[str, str] = NO_PATHS) -> list[str]:
    """The ids of what a search returned, best first.

    Lists and what one can go through once, also in an object or a dict, see
    LISTS; a table with a column of IDS; a dict of scores by id, highest first.
    "" at the end is no result. paths: of columns.toml, such as {"list":
    "result.points", "id": "payload.doc_id"}: where the results lie in an answer, and
    the id in a result that is no id itself. An answer in our own form has its list
    where that says. FormError for anything else; SearchError where the answer is an
    error."""
    return read_of(results, paths)[0]


def read_of(
    results: Any, paths: Mapping[str, str]
) -> tuple[list[str], dict[str, list[str]], list[Any]]:
    """The ids of `ids_of`, those that lie elsewhere in the results, and the scores.

    Elsewhere is a dict by path, as there may be an id of a point, and one of the
    document. Scores are those of results that have one; FormError where one is NaN:
    results cannot be in its order."""
    fail_if_error(results)
    is_ours = isinstance(results, Mapping) and results.keys() <= PROTOCOL
    if "list" in paths and not is_ours:
        results = at_path(results, paths["list"])
    hits = list(islice(listed(results), MOST_RESULTS))
    ids_by_path = [places_of(inside(hit, paths.get("id", ""))) for hit in hits]
    ids = [next(iter(places.values())) for places in ids_by_path]
    while ids and not ids[-1]:
        ids.pop()
    names = dict.fromkeys(path for places in ids_by_path for path in list(places)[1:])
    elsewhere = {
        path: [places.get(path, "") for places in ids_by_path] for path in names
    }
    scores = [score for hit in hits for score in scores_given(hit)]
    if any(score != score for score in scores):
        raise FormError("a score is NaN, so the results have no order")
    return ids, elsewhere, scores


def scores_given(result: object) -> list[Any]:
    """The score of a result, in a list: of a pair, or see SCORES. Empty without one."""
    if isinstance(result, (str, int)):
        return []
    is_pair = isinstance(result, Sequence) and len(result) == 2
    values = [result[1]] if is_pair else [part(result, name) for name in SCORES]
    return [value for value in values if isinstance(value, Number)][:1]


def inside(result: object, path: str) -> Any:
    """What lies at a path in a result; the result, where that is an id itself."""
    is_id = isinstance(result, (str, Number)) or not path
    return result if is_id else at_path(result, path)


def at_path(value: Any, path: str) -> Any:
    """What lies at a path such as result.points, or groups[].docs: of each group.

    FormError names what is there."""
    first, is_of_each, of_each = path.partition("[]")
    if is_of_each:
        members = listed(at_path(value, first))
        return [hit for each in members for hit in listed(at_path(each, of_each))]
    for key in filter(None, path.split(".")):
        inner = part(value, key)
        if inner is None:
            there = (
                value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
            )
            listing = ", ".join(map(str, there)) or in_short(value)
            raise FormError(f'the path "{path}": there is no {key!r} in {listing}')
        value = inner
    return value


def answer_of(results: Any, paths: Mapping[str, str] = NO_PATHS) -> dict[str, Any]:
    """What a search returned, as the protocol has it: a dict of ids or of calls.

    It rises where a result has a higher score than the one before it. paths: see
    `ids_of`."""
    try:
        if isinstance(results, Mapping) and "calls" in results:
            several = list(listed(results["calls"]))
            calls = calls_of(several, paths)
            answer = {"calls": calls, **(tokens_in([results]) or tokens_in(calls))}
            if any(map(has_price, [results, *several])):
                answer["price"] = True
            return answer
        ids, elsewhere, scores = read_of(results, paths)
    except RecursionError:
        raise FormError("what it returned is nested too deeply") from None
    # our own program has looked, and gives ids alone
    told = results if isinstance(results, Mapping) else {}
    rises = any(scores[n - 1] < scores[n] for n in range(1, len(scores)))
    answer: dict[str, Any] = {"ids": ids, **tokens_in([results])}
    if rises or told.get("rises") is True:
        answer["rises"] = True
    if has_price(told):
        answer["price"] = True
    if isinstance(told.get("elsewhere"), dict):
        elsewhere = told["elsewhere"]
    if elsewhere:
        answer["elsewhere"] = {path: ids_of(elsewhere[path]) for path in elsewhere}
    return answer


def has_price(answer: Any) -> bool:
    """Whether an answer or a call says what it costs, and that is something."""
    return any(part(answer, name) for name in PRICES)


def tokens_in(answers: Iterable[Any]) -> dict[str, float]:
    """The tokens of answers or calls, in a dict; {} where one does not tell them."""
    counts = [part(answer, "tokens") for answer in answers]
    are_counts = all(isinstance(n, Real) and 0 <= n < inf for n in counts)
    return {"tokens": float(sum(counts))} if are_counts else {}


def calls_of(calls: Any, paths: Mapping[str, str] = NO_PATHS) -> list[dict]:
    """Several calls for one query: dicts with ids, and with what CALL has of them.

    FormError where they are no list, or where one has no ids."""
    told = []
    for call in listed(calls):
        parts = {name: call[name] for name in CALL if part(call, name) is not None}
        told.append({**parts, "ids": ids_of(call, paths)})
    return told


def listed(results: Any) -> Iterable:
    """What one can go through of what a search returned. FormError if nothing."""
    if hasattr(results, "to_dict") and hasattr(results, "columns"):
        return results.to_dict("records")
    is_dict = isinstance(results, Mapping)
    for name in LISTS + (IN_DICTS if is_dict else []):
        inner = part(results, name)
        if inner is not None and not callable(inner):
            return inner_list(name, inner)
    if is_dict and results and all(isinstance(n, Number) for n in results.values()):
        if results.keys() <= COUNTS:
            raise FormError(f"it returned {in_short(results)}: counts, and no ids")
        return sorted(results.items(), key=itemgetter(1), reverse=True)
    if isinstance(results, NO_LISTS) or not isinstance(results, Iterable):
        raise FormError(f"it returned {in_short(results)}; {GIVES}")
    if isinstance(results, list) and len(results) == 1 and is_of_objects(results[0]):
        return results[0]  # the list of our query
    return results


def is_of_objects(value: object) -> bool:
    """Whether a value is a list without texts and numbers."""
    is_list = isinstance(value, list)
    return is_list and not any(isinstance(each, (str, Number)) for each in value)


def inner_list(name: str, inner: Any) -> Iterable:
    """What one can go through of what has a name of LISTS."""
    fail_if_error(inner)
    if name == "groups":
        return [hit for group in listed(inner) for hit in listed(group)]
    if name == "root" and isinstance(inner, dict):  # it has no children if all is empty
        return listed(inner.get("children", []))
    if name in OF_CLASSES and isinstance(inner, dict) and len(inner) == 1:
        return listed(*inner.values())
    # one query was asked: of what has a list or an answer for each, there is one
    if isinstance(inner, list) and len(inner) == 1:
        is_of_ids = name == "ids" and isinstance(inner[0], list)
        if is_of_ids or isinstance(part(inner[0], "hits"), (list, dict)):
            return inner_list("", inner[0])
    return listed(inner)


def part(result: object, name: str) -> Any:
    """The key of a dict, or the attribute of an object, or None."""
    if isinstance(result, Mapping):
        return result.get(name)
    return None if isinstance(result, str) else getattr(result, name, None)


def is_id(value: object) -> bool:
    """Whether a value is a text or a whole number. To Python, True is one, too."""
    return isinstance(value, (str, Integral)) and not isinstance(value, bool)


def places_of(result: object) -> dict[str, str]:
    """The ids of a result, by where they lie, the likeliest first.

    A result may be an id, a pair or a row that begins with one, or what has one, see
    IDS and INSIDE. FormError where there is none."""
    if is_id(result):
        return {"": str(result)}
    if isinstance(result, Sequence) and result and not isinstance(result, NO_LISTS):
        return places_of(result[0])
    places = dict(places_under(result, "", DEEPEST))
    if not places:
        raise FormError(f"there is no id in {in_short(result)}; {GIVES}")
    likely = {path: places[path] for path in places if path.split(".")[-1] in IDS}
    return likely | places


def places_under(result: object, path: str, depth: int) -> Iterator[tuple[str, str]]:
    """Paths and ids in a result, so many levels deep."""
    keys = map(str, result) if isinstance(result, Mapping) else ()
    names = [*IDS, *LAST, *filter(ENDS_AS_ID.search, keys)]
    for inner_names, id_names in ((FIRST_INSIDE, names), (INSIDE, [])):
        for name in inner_names:
            inner = part(result, name)
            if depth and inner is not None and not isinstance(inner, (str, Number)):
                yield from places_under(inner, f"{path}{name}.", depth - 1)
        for name in id_names:
            value = part(result, name)
            if is_id(value) and value != "":
                vespa = VESPA.match(str(value))
                yield path + name, vespa[1] if vespa else str(value)


def in_a_line(error: BaseException) -> str:
    """The kind of an error and what it says, 3,000 characters at most."""
    return f"{type(error).__name__}: {' '.join(str(error).split()):.3000}"


def in_short(value: object) -> str:
    """The kind of a value, and a bit of it."""
    return f"{type(value).__name__}: {' '.join(repr(value).split()):.60}"

"""Labels that outlive an edit: which of today's documents is the one that was judged?

A text is its words, in order, each as a number of 32 bits: you can test whether a word
is in it, and not read it. The lowest bit says whether an edit of the word may turn the
meaning: numbers, negations and commands do, see MARK. The twelve highest bits are those
of its consonants: a word that was misspelt has the same ones, as a rule."""

import base64
import logging
import re
import zlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval import utils
from evaluate_retrieval.judging.judged_texts import (
    packed_once,
    read_texts,
    says_how_many,
)
from evaluate_retrieval.reading import corpus, language, trec
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.joining import PAIR
from evaluate_retrieval.reading.listing import JUDGED, TEXTS
from evaluate_retrieval.reading.writing import write_table

NEGATIONS = {
    "english": "not no never none nor neither without cannot unless except only",
    "german": "nicht kein keine keinen keinem keiner nie niemals ohne außer nur",
    "french": "ne pas jamais sans aucun aucune sauf seulement",
    "spanish": "no nunca ni jamás sin ningún ninguna salvo solo sólo",
    "italian": "non mai senza nessun nessuna tranne solo",
    "portuguese": "não nunca nem sem nenhum nenhuma exceto só",
    "dutch": "niet geen nooit zonder behalve alleen",
}
NO = frozenset(" ".join(NEGATIONS.values()).split())
TOKEN = rf"[{language.NO_BLANKS}]|[^\s{language.NO_BLANKS}]+"
ENDS = ".,;:!?\"'()[]“”„‘’«»…*`"  # of a word, and no part of it
MARK = r"\d|[_/\\=$|@#{}<>]|^-|\w\.\w|[a-z][A-Z]|n['’]t$"
VOWELS = "[aeiouyäöüáéíóúàèìòùâêîôû]"
FREQUENT = 50  # documents; two neighbouring words that more of them have find none
TEXTS_AT_ONCE = 500  # texts that are looked up at once
# Shares of pairs of neighbouring words. docs/how-to/labels.md has what they give.
HAS = 0.75  # of a text that another has, to be in it
ALIKE = 0.4  # of what two texts have together, to be one that was edited
NEAR = 0.75  # of the best one's share, for a second one to be as likely
OUTCOMES = ["same", "moved", "edited", "split", "merged", "ambiguous", "gone"]
# An id with the begin and the end of a chunk in its document; what follows is of itself
OFFSETS = r"(.+?)[_-](\d+)-(\d+)(?:-\d+-\d+)?"
SAFE = ("same", "moved")
EDITED = ("edited", "split", "merged")
UNKNOWN = "unknown"  # nobody has kept what was judged
log = logging.getLogger(__name__)


# --- What was judged ---------------------------------------------------------


@lru_cache(maxsize=1_000_000)
def _number(token):
    """A token as a number of 32 bits, see the text of this module."""
    is_mark = bool(re.search(MARK, token)) or token.lower() in NO
    word = token if is_mark else token.lower()
    consonants = "".join(sorted({*re.sub(VOWELS, "", word)})) or word
    skeleton = zlib.crc32(consonants.encode("utf-8", "replace")) >> 20 << 20
    return skeleton | zlib.crc32(word.encode("utf-8", "replace")) & 0xFFFFE | is_mark


def numbered_words(document: utils.Document) -> np.ndarray:
    """The words of a document's title and text, an array of numbers.

    Capitals and marks of punctuation make no difference, except in commands."""
    text = corpus.heading_and_text(document)
    tokens = (token.strip(ENDS) for token in re.findall(TOKEN, text))
    return np.array([_number(token) for token in tokens if token], dtype="<u4")


def packed(words: np.ndarray) -> str:
    """An array of words as a text, for a file."""
    return base64.b16encode(words.tobytes()).decode()


def unpacked(text: str) -> np.ndarray:
    """The array of words of a text of `packed`."""
    return np.frombuffer(base64.b16decode(text), dtype="<u4")


def texts_of(documents: utils.Documents, judgements: pd.DataFrame) -> pd.DataFrame:
    """What judgements are of: a DataFrame with PAIR and words, a row for each pair.

    words: `numbered_words` the document, `packed`. A judgement whose document is not
    there has no row."""
    by_id = {document["id"]: document for document in documents}
    judged = judgements[PAIR].drop_duplicates()
    judged = judged[judged["document"].isin(by_id)]
    words = {id_: packed(numbered_words(by_id[id_])) for id_ in {*judged["document"]}}
    return judged.assign(words=judged["document"].map(words))


def remembered(folder: Folder) -> pd.DataFrame:
    """What was judged, as far as TEXTS keeps it: a DataFrame as of `texts_of`.

    ValueError where it is damaged, see `judged_texts.read_texts`."""
    path = folder.source / TEXTS
    if not path.is_file():
        return pd.DataFrame(columns=[*PAIR, "words"], dtype=object)
    return read_texts(path)


def remember(folder: Folder, again: Collection[tuple[str, str]] = ()) -> list[str]:
    """Keep what was judged of pairs that have no text yet: sentences on it.

    It goes into TEXTS beside the documents. again: pairs of query_id and document
    that were judged just now, whatever was kept before; they need not be among the
    folder's. Nothing is kept where the documents are one file, or have no texts; nor
    where the file is damaged: what is missing there is of a text that is gone."""
    now = pd.DataFrame(list(again), columns=PAIR)
    judged = pd.concat([folder.judgements[PAIR], now])
    if not (folder.source.is_dir() and folder.has_texts and len(judged)):
        return []
    try:
        before = remembered(folder)
    except (OSError, ValueError) as error:
        return [f"what was judged is not kept: {error}"]
    before = before[~before.set_index(PAIR).index.isin(list(again))]
    texts = texts_of(folder.documents, judged)
    texts = texts.merge(before, "left", PAIR, suffixes=("", "_before"))
    is_new = texts["words_before"].isna()
    sentences = []
    if n := sum(is_new):
        table = pd.concat([before, texts[is_new][before.columns]])
        path = folder.source / TEXTS
        try:
            if len(before) and not says_how_many(path):
                told = f"{TEXTS} did not say how many rows it has: if rows are missing,"
                sentences = [f"{told} today's texts count as judged from now on"]
            write_table(packed_once(table), path)
            sentences += [f"{TEXTS} keeps what was judged: {n:,} new pairs"]
        except OSError as error:  # a folder may be for reading only
            sentences = [f"what was judged of {n:,} pairs is not kept: {error}"]
    if n := sum(~is_new & (texts["words"] != texts["words_before"])):
        advice = "evaluate-retrieval labels FOLDER says which"
        sentences.append(f"{n:,} judged texts were edited since: {advice}")
    return sentences


# --- What became of it -------------------------------------------------------


def _neighbours(texts):
    """The pairs of neighbouring words of each text, arrays of different numbers."""
    # a text of one word gets a pair, too, or nothing would be like it
    padded = [np.append(words, [0] * (len(words) < 2)).astype("u8") for words in texts]
    return [np.unique(words[:-1] << np.uint64(32) | words[1:]) for words in padded]


def _matrices(old, new):
    """Pairs of neighbouring words of old texts and new ones: two sparse matrices.

    A row for each text. Without pairs that more than FREQUENT new ones have."""
    pairs = _neighbours([*old, *new])
    numbers, columns = np.unique(np.concatenate(pairs), return_inverse=True)
    starts = np.cumsum([0, *map(len, pairs)])
    ones = np.ones(len(columns), dtype=np.int32)
    shape = len(pairs), len(numbers)
    matrix = scipy.sparse.csr_matrix((ones, columns, starts), shape=shape)
    # what every text has would pair each old one with each new one
    is_rare = matrix[len(old) :].getnnz(axis=0) <= FREQUENT
    matrix = matrix[:, is_rare]
    return matrix[: len(old)], matrix[len(old) :]


def matched(
    old_ids: Sequence[str], old: Sequence[np.ndarray], new: Mapping[str, np.ndarray]
) -> pd.DataFrame:
    """What became of each old text: a DataFrame with a row for each, in order.

    old_ids: the id that each had; an id may have had several texts. old: their
    words, see `numbered_words`. new: a dict of id: words. Columns: outcome, of
    OUTCOMES; share, of neighbouring words that both texts have together;
    becomes, a list of ids, the likeliest first. same: its id has its words. moved:
    another id has. edited: one text is like it. split: several texts are parts of
    it, and have most of it. merged: a longer text has it. ambiguous: several are as
    likely. gone: none is."""
    ids = list(new)
    by_words = {}
    rows = {}
    open_ = []
    for id_, words in new.items():
        by_words.setdefault(words.tobytes(), []).append(id_)
    for place, (id_, words) in enumerate(zip(old_ids, old, strict=True)):
        exact = by_words.get(words.tobytes(), [])
        if id_ in exact:
            rows[place] = "same", 1.0, [id_]
        elif exact:
            rows[place] = "moved" if len(exact) == 1 else "ambiguous", 1.0, exact
        else:
            open_.append(place)
    if open_ and new:
        old_pairs, new_pairs = _matrices([old[at] for at in open_], list(new.values()))
        sizes = new_pairs.getnnz(axis=1)
        for start in range(0, len(open_), TEXTS_AT_ONCE):
            block = old_pairs[start : start + TEXTS_AT_ONCE]
            shared = block @ new_pairs.T
            for row, n in enumerate(block.getnnz(axis=1)):
                part = shared[row]
                place = open_[start + row]
                names = [ids[column] for column in part.indices]
                counts = part.data, sizes[part.indices]
                rows[place] = _outcome(old_ids[place], n, names, *counts)
    rows = [rows.get(place, ("gone", 0.0, [])) for place in range(len(old))]
    return pd.DataFrame(rows, columns=["outcome", "share", "becomes"])


def _outcome(id_, n, ids, both, sizes):
    """The outcome of a text with n pairs of words, its share, and what it became.

    ids: of the documents that share some. both: how many each shares. sizes: how
    many each has."""
    if not ids:
        return "gone", 0.0, []
    alike = both / (n + sizes - both)
    in_new = both / n
    of_new = both / sizes
    parts = np.flatnonzero((of_new >= HAS) & (in_new < HAS))
    # far more than the whole text together: these are copies, and no parts
    if len(parts) > 1 and HAS <= in_new[parts].sum() <= 2 - HAS:
        return "split", in_new[parts].sum(), [ids[part] for part in parts]
    is_edited = alike.max() >= ALIKE
    best = alike.argmax()
    if not is_edited or in_new[best] >= HAS > of_new[best]:
        best = in_new.argmax()
        outcome = "merged"
        share = in_new
        if in_new[best] < HAS:
            return "gone", alike.max(), []
    else:
        outcome = "edited"
        share = alike
    near = np.flatnonzero(share >= NEAR * share[best])
    near = near[np.argsort(-share[near], kind="stable")]
    likely = [ids[place] for place in near]
    if outcome == "edited" and id_ in likely:
        likely = [id_]
    return outcome if len(likely) == 1 else "ambiguous", share[best], likely


def usual_words(new: Mapping[str, np.ndarray]) -> set[int]:
    """Words that two or more of the texts have. new: a dict of id: words."""
    counts = Counter()
    for words in new.values():
        counts.update({*words.tolist()})
    return {word for word, n in counts.items() if n > 1}


def is_safe(
    new: np.ndarray, old: np.ndarray, is_relevant: bool, usual: set[int]
) -> bool:
    """Whether the grade of an old text may stand for the new one, which was edited.

    new, old: words. No number, negation or command may have changed. Of a relevant
    text no word may be gone, of one that is not relevant none may be new, unless it
    was misspelt and has been mended. usual: see `usual_words`; a misspelt word is
    none."""
    old = old.tolist()
    new = new.tolist()
    # autojunk would leave words out that a long text has often
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    edits = [change for change in changes if change[0] != "equal"]
    deleted = [word for _, start, end, _, _ in edits for word in old[start:end]]
    added = [word for _, _, _, start, end in edits for word in new[start:end]]
    if any(word & 1 for word in [*deleted, *added]):
        return False
    must_pair, partners = (deleted, added) if is_relevant else (added, deleted)
    for word in must_pair:
        spelt = [
            each
            for each in partners
            if each >> 20 == word >> 20 and not {each, word} <= usual
        ]
        if not spelt:
            return False
        partners.remove(spelt[0])
    return True


def followed(
    judgements: pd.DataFrame, texts: pd.DataFrame, documents: utils.Documents
) -> pd.DataFrame:
    """What became of each judgement: a DataFrame with its rows, and four columns.

    judgements: with PAIR and grade. texts: see `remembered`. documents: today's.
    outcome: of OUTCOMES, or UNKNOWN where the text was not kept; share; becomes, see
    `matched`; is_safe: whether the grade may be carried over to all of becomes. An
    UNKNOWN one is kept as it is where its id is there. Nothing is safe where two
    judgements of a query come to one document with different grades."""
    new = {document["id"]: numbered_words(document) for document in documents}
    table = judgements.reset_index(drop=True).merge(texts, "left", PAIR)
    table["is_relevant"] = table["grade"] > 0
    keys = ["document", "words", "is_relevant"]
    judged = table[keys].dropna().drop_duplicates()
    matches = judged[keys[:2]].drop_duplicates(ignore_index=True)
    matches["old"] = list(map(unpacked, matches["words"]))
    matches = matches.join(
        matched(list(matches["document"]), list(matches["old"]), new)
    )
    judged = judged.merge(matches)
    usual = usual_words(new)
    judged["is_safe"] = [
        row.outcome in SAFE
        or (
            row.outcome in EDITED
            and all(
                is_safe(new[id_], row.old, row.is_relevant, usual)
                for id_ in row.becomes
            )
        )
        for row in judged.itertuples()
    ]
    table = table.merge(judged, "left", keys)
    table = table.drop(columns=["words", "old", "is_relevant"])
    is_kept = table["outcome"].notna()
    as_it_is = table["document"].map(lambda id_: [id_] if id_ in new else [])
    table["outcome"] = table["outcome"].where(is_kept, UNKNOWN)
    table["becomes"] = table["becomes"].where(is_kept, as_it_is)
    table["is_safe"] = table["is_safe"].where(is_kept, as_it_is.str.len() > 0)
    return _without_conflicts(table)


def _without_conflicts(table):
    """The table of `followed`: two grades of a query for one document are not safe."""
    table = table.assign(is_safe=table["is_safe"].astype(bool))
    safe = table[table["is_safe"]].explode("becomes")
    n_grades = safe.groupby(["query_id", "becomes"])["grade"].transform("nunique")
    table.loc[safe.index[n_grades > 1], "is_safe"] = False
    return table


def followed_cuts(judgements: pd.DataFrame, documents: utils.Documents) -> pd.DataFrame:
    """What became of judgements of chunks that were cut anew, see `followed`.

    By the offsets in their ids, see OFFSETS: a share is that of the old chunk which
    the new ones have. A relevant chunk is safe where one new chunk has all of it, and
    one that is not relevant in chunks that are part of it."""
    chunks = {}
    rows = []
    for document in documents:
        name, span = _span_of(document["id"])
        chunks.setdefault(name, {})[document["id"]] = span
    for id_, grade in judgements[["document", "grade"]].itertuples(index=False):
        name, old = _span_of(id_)
        spans = chunks.get(name, {})
        shared = {
            new: len(range(max(old.start, span.start), min(old.stop, span.stop)))
            for new, span in spans.items()
        }
        becomes = sorted(filter(shared.get, shared), key=shared.get, reverse=True)
        same = [new for new in becomes if spans[new] == old]
        whole = [new for new in becomes if shared[new] == len(old)]
        if same:
            outcome = "same" if id_ in same else "moved"
            becomes = same[:1]
        elif whole:
            outcome = "merged"
            becomes = whole if grade > 0 else becomes
        else:
            outcome = "split" if becomes else "gone"
        are_parts = all(shared[new] == len(spans[new]) for new in becomes)
        is_safe = whole if grade > 0 else becomes and are_parts
        share = sum(shared[new] for new in becomes) / max(1, len(old))
        rows.append((outcome, share, becomes, bool(is_safe)))
    columns = ["outcome", "share", "becomes", "is_safe"]
    table = pd.DataFrame(rows, judgements.index, columns)
    return _without_conflicts(judgements.join(table).reset_index(drop=True))


def _span_of(id_):
    """The document of a chunk, and the range of the chunk in it."""
    if match := re.fullmatch(OFFSETS, id_):
        return match[1], range(int(match[2]), int(match[3]))
    raise ValueError(f"{id_!r} does not end in offsets, as in d1_0-1374")


def carried(table: pd.DataFrame) -> pd.DataFrame:
    """The judgements that are carried over, each of its new document.

    table: see `followed`."""
    safe = table[table["is_safe"]].explode("becomes")
    safe = safe.assign(document=safe["becomes"])
    safe = safe.drop(columns=["outcome", "share", "becomes", "is_safe"])
    return safe.drop_duplicates(PAIR, ignore_index=True)


def to_judge(table: pd.DataFrame) -> pd.DataFrame:
    """The pairs that a person has to judge, see `followed`: corpus.TO_JUDGE."""
    queue = table[~table["is_safe"]].explode("becomes").dropna(subset="becomes")
    queue = queue.assign(document=queue["becomes"], drawn="labels")
    done = carried(table).set_index(PAIR).index
    queue = queue[~queue.set_index(PAIR).index.isin(done)]
    return queue.drop_duplicates(PAIR)[corpus.TO_JUDGE]


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """How many judgements have each outcome, of `followed`.

    Columns: judgements; carried, of these; to_judge, by a person."""
    is_queued = ~table["is_safe"] & (table["becomes"].str.len() > 0)
    table = table.assign(judgements=1, carried=table["is_safe"], to_judge=is_queued)
    counts = table.groupby("outcome")[["judgements", "carried", "to_judge"]].sum()
    return counts.reindex([*OUTCOMES, UNKNOWN]).dropna().astype(int)


def sentence(counts: pd.DataFrame, is_written: bool) -> str:
    """The counts of `counted` in words."""
    n, n_carried, n_to_judge = counts.sum()
    text = (
        f"{n_carried:,} of {n:,} judgements outlive the edits, {n_to_judge:,} have to "
        f"be judged again, and {n - n_carried - n_to_judge:,} have no document."
    )
    if not is_written:
        return f"{text} --write carries over what is safe."
    advice = "Copy them into the folder; then “judge” asks for the others."
    return f"{text} {JUDGED} and {TEXTS} have the first. {advice}"


def write(
    table: pd.DataFrame,
    folder: Folder,
    out: Path,
    carry: bool = False,
    is_other: bool = False,
) -> list[Path]:
    """Write labels.csv, a row for each judgement; the paths that were written.

    table: see `followed`. folder: of today's documents. carry: also JUDGED and TEXTS,
    with what is carried over, and what has to be judged, for `judge`. is_other: table
    is of another folder's judgements; then those of this one count first. But of a
    pair that both have, and whose text this one has not kept, table decides."""
    becomes = table["becomes"].map(lambda ids: " ".join(map(trec.quoted, ids)))
    files = {"labels.csv": table.assign(becomes=becomes)}
    if carry:
        judged = carried(table)
        if is_other:
            own = followed(folder.judgements, remembered(folder), folder.documents)
            decided = own.set_index(PAIR).index.isin(table.set_index(PAIR).index)
            own = own[(own["outcome"] != UNKNOWN) | ~decided]
            judged = pd.concat([carried(own), judged])
            judged = judged.drop_duplicates(PAIR, ignore_index=True).fillna("")
        files |= {JUDGED: judged, "judge-next.csv": to_judge(table)}
        files[TEXTS] = packed_once(texts_of(folder.documents, judged))
    for name, rows in files.items():
        write_table(rows, out / name)
    return [out / name for name in files]

"""The words of a text as numbers: you can test whether a word is in it, not read it.

A number has 32 bits. The lowest one says whether an edit of the word may turn the
meaning: numbers, negations and commands do, see MARK. TITLE_ENDS stands between the
words of the title and those of the text. Files of version 1.3 have none: their words
were taken from the text as it was written, with Markdown (`former_words`)."""

import base64
import re
import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np

from evaluate_retrieval import utils
from evaluate_retrieval.judging.plain import plain_text
from evaluate_retrieval.reading import corpus, language

TITLE_ENDS = 0
NEGATIONS = {
    "english": "not no never none nor neither without cannot unless except only",
    "german": "nicht kein keine keinen keinem keiner nie niemals ohne außer nur",
    "french": "ne pas jamais sans aucun aucune sauf seulement",
    "spanish": "no nunca ni jamás sin ningún ninguna salvo solo sólo",
    "italian": "non mai senza nessun nessuna tranne solo",
    "portuguese": "não nunca nem sem nenhum nenhuma exceto só",
    "dutch": "niet geen nooit zonder behalve alleen",
}
# Words that come and go. None turns a meaning, as "after", "from" or "must" may
PASSING = {
    "english": "a an the this that these those it its it's there here i we you he she "
    "they my our your their us them is are was were be been being am has have had do "
    "does did will would can could of in on at to for by and or so then also just "
    "please now very which who what how as if let let's i'm you're we're they're we'll "
    "you'll we've you've that's there's e.g i.e etc via well simply easily currently "
    "about see read learn use using",
    "german": "der die das den dem des ein eine einen einem einer eines dieser diese "
    "dieses ich du er sie es wir ihr man mein dein sein unser ist sind war waren wird "
    "werden hat haben kann können und oder auch so dann hier dort bitte nun in im an "
    "am auf zu zum zur für dass wie z.b",
    "french": "le la les l un une des du de d ce cet cette ces je tu il elle nous vous "
    "ils elles mon ton son notre votre leur est sont était être ont avoir peut et ou "
    "aussi alors ici là en dans à au aux pour que qui",
    "spanish": "el la los las un una unos unas este esta estos estas ese esa yo tú él "
    "ella nosotros ustedes su sus mi es son era ser ha han puede y o también aquí en "
    "de del al para que",
    "italian": "il lo la gli le un uno una questo questa questi queste io lui lei noi "
    "voi loro suo sua è sono era essere ha hanno può e o anche qui in di del al per "
    "che",
    "portuguese": "o os as um uma este esta estes estas isto eu ele ela nós vocês seu "
    "sua é são era ser tem pode e ou também aqui em na de da ao para que",
    "dutch": "de het een deze dit die dat ik je jij hij zij wij is zijn was waren "
    "wordt heeft hebben kan en of ook dan hier in op aan te voor",
}
NO = frozenset(" ".join(NEGATIONS.values()).split())
TOKEN = rf"[{language.NO_BLANKS}]|[^\s{language.NO_BLANKS}]+"
ENDS = ".,;:!?\"'()[]“”„‘’«»…*`"  # of a word, and no part of it
# Where words end, beside blanks: brackets, quotes, commas, a slash between two words
BETWEEN = r"[()\[\]{}\"“”„«»`;|—…]|,(?!\d)|'(?!\w)|(?<!\w)'|(?<=[^\W\d_])/(?=[^\W\d_])"
IS_WORD = re.compile(r"[^\W_]|[=<>+*%&]")
MARK = r"\d|[_/\\=$|@#{}<>]|^-|\w\.\w|n['’]t$"
FORMER_MARK = rf"{MARK}|[a-z][A-Z]"
VOWELS = "[aeiouyäöüáéíóúàèìòùâêîôû]"


@lru_cache(maxsize=1_000_000)
def number_of(word: str) -> int:
    """A word as a number of 32 bits, see the text of this module.

    Capitals make no difference, except in options of commands, such as -D."""
    lower = word.lower()
    is_mark = bool(re.search(MARK, word)) or lower in NO
    spelt = word if word.startswith("-") else lower
    return zlib.crc32(spelt.encode("utf-8", "replace")) & 0xFFFFFFFE | is_mark


def words_in(text: str) -> list[str]:
    """The words of a text as a reader sees it, see `plain_text`."""
    text = re.sub(BETWEEN, " ", plain_text(text).replace("’", "'"))
    words = [token.strip(f"{ENDS}_@") for token in re.findall(TOKEN, text)]
    return [word for word in words if IS_WORD.search(word)]


def words_of_document(document: utils.Document) -> list[str]:
    """The words of a document's title, "" where it ends, and those of its text."""
    return [*words_in(document["question"]), "", *words_in(document["text"])]


def numbered_words(document: utils.Document) -> np.ndarray:
    """The words of a document's title and text, an array of numbers."""
    return numbered(words_of_document(document), number_of)


def numbered(words: Iterable[str], number: Callable[[str], int]) -> np.ndarray:
    """Words as an array of numbers. number: a function of a word."""
    return np.array(list(map(number, words)), dtype="<u4")


# --- As version 1.3 kept them ------------------------------------------------


@lru_cache(maxsize=1_000_000)
def former_number_of(word: str) -> int:
    """A word as a number of version 1.3; the twelve highest bits are of consonants."""
    is_mark = bool(re.search(FORMER_MARK, word)) or word.lower() in NO
    word = word if is_mark else word.lower()
    consonants = "".join(sorted({*re.sub(VOWELS, "", word)})) or word
    skeleton = zlib.crc32(consonants.encode("utf-8", "replace")) >> 20 << 20
    return skeleton | zlib.crc32(word.encode("utf-8", "replace")) & 0xFFFFE | is_mark


def former_words_of_document(document: utils.Document) -> list[str]:
    """The words of a document as version 1.3 took them."""
    text = corpus.heading_and_text(document)
    words = (token.strip(ENDS) for token in re.findall(TOKEN, text))
    return [word for word in words if word]


def former_words(document: utils.Document) -> np.ndarray:
    """The words of a document as version 1.3 kept them, an array of numbers."""
    return numbered(former_words_of_document(document), former_number_of)


def is_former(words: np.ndarray) -> bool:
    """Whether an array of words is of version 1.3."""
    return TITLE_ENDS not in words


# --- In files ----------------------------------------------------------------


def packed(words: np.ndarray) -> str:
    """An array of words as a text, for a file."""
    return base64.b16encode(words.tobytes()).decode()


def unpacked(text: str) -> np.ndarray:
    """The array of words of a text of `packed`."""
    return np.frombuffer(base64.b16decode(text), dtype="<u4")

"""A corpus that grows old by rules, and what became of each record.

`scripts/evidence/labels.py` looks at which labels outlive it."""

import re

import numpy as np

RULES = {  # how often each is applied; where it cannot be, the record stays
    "as it was": 0.3,
    "typo mended": 0.1,
    "typo made": 0.04,
    "sentence added": 0.1,
    "sentence dropped": 0.08,
    "number changed": 0.08,
    "negated": 0.05,
    "word replaced": 0.05,
    "words in another order": 0.04,
    "split": 0.05,
    "merged": 0.06,
    "deleted": 0.05,
}
KEEPS_RELEVANT = ["as it was", "typo mended", "typo made", "sentence added", "merged"]
KEEPS_IRRELEVANT = [*KEEPS_RELEVANT[:3], "sentence dropped", "split"]
SENTENCE_END = r"(?<=[.!?])\s+"
VERBS = r"\b(is|are|can|will|should|do|does|must|has|have)\b"


def misspelt(word, rng):
    """A word with two letters swapped, one left out, doubled, or another vowel."""
    at = rng.integers(1, len(word) - 1)
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    vowel = re.sub("[aeiou]", "aeiou"[rng.integers(5)], word, count=1)
    doubled = word[:at] + word[at] + word[at:]
    return rng.choice([swapped, word[:at] + word[at + 1 :], doubled, vowel])


def edited(text, rule, rng, texts):
    """A text as it was, and as a rule has edited it. texts: of all records."""
    words = text.split(" ")
    sentences = re.split(SENTENCE_END, text)
    at = rng.integers(len(sentences))
    long_words = [n for n, word in enumerate(words) if word.isalpha() and len(word) > 4]
    if rule in ("typo mended", "typo made", "word replaced") and long_words:
        place = rng.choice(long_words)
        word = misspelt(words[place], rng)
        if rule == "word replaced":
            donors = re.findall(r"[a-z]{5,}", str(rng.choice(texts))) or [word]
            word = rng.choice(donors)
        changed = " ".join([*words[:place], word, *words[place + 1 :]])
        return (changed, text) if rule == "typo mended" else (text, changed)
    if rule == "sentence added":
        donor = re.split(SENTENCE_END, str(rng.choice(texts)))
        return text, f"{text} {rng.choice(donor)}"
    if rule == "sentence dropped" and len(sentences) > 2:
        return text, " ".join([*sentences[:at], *sentences[at + 1 :]])
    if rule == "number changed":
        return text, re.sub(r"\d", lambda digit: str(9 - int(digit[0])), text, count=1)
    if rule == "negated":
        return text, re.sub(VERBS, r"\1 not", text, count=1)
    if rule == "words in another order":
        return text, " ".join(rng.permutation(words))
    return text, text


def aged(documents, seed=1):
    """The records before and after, and what became of each: two lists and a dict.

    Half of the records get another id. The dict has for each id a rule, and a list of
    ids that it became. A rule that changed nothing is "as it was"."""
    rng = np.random.default_rng(seed)
    texts = [each["text"] for each in documents]
    rules = rng.choice(list(RULES), len(documents), p=list(RULES.values()))
    before = []
    after = []
    truth = {}

    def keep(document, text):
        is_new = rng.random() < 0.5 or document["id"] in ids
        id_ = f"{document['id']}-{len(after)}" if is_new else document["id"]
        ids.add(id_)
        after.append({**document, "id": id_, "text": text})
        return [id_]

    ids = set()
    waiting = None  # a record that the next one takes in
    for document, rule in zip(documents, rules, strict=True):
        old, new = edited(document["text"], rule, rng, texts)
        before.append({**document, "text": old})
        sentences = re.split(SENTENCE_END, new)
        if waiting:
            rule = "merged"
            whole = f"{waiting['text']}\n{document['question']}\n{document['text']}"
            before[-1] = document
            became = keep(waiting, whole)
            truth[waiting["id"]] = (rule, became)
            waiting = None
        elif rule == "merged" and len(before) < len(documents):
            waiting = document
            continue
        elif rule == "deleted":
            became = []
        elif rule == "split" and len(sentences) > 3:
            half = len(sentences) // 2
            parts = " ".join(sentences[:half]), " ".join(sentences[half:])
            became = keep(document, parts[0]) + keep(document, parts[1])
        else:
            became = keep(document, new)
            rule = rule if old != new else "as it was"
        truth[document["id"]] = rule, became
    return before, after, truth

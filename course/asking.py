"""Let a model ask about other people's documents, and see where searches find them."""

import numpy as np
import pandas as pd

import utils
from course import corpus, formats, llm, scoring


def asked_in(folder, kinds, path):
    """What a model asks about a collection, and where ten searches find the document.

    folder: of the collection. kinds: {kind: (number of documents, prompt, schema)}; a
    schema has one list of texts. 200 documents are drawn; a kind takes the first of
    them. path: as `llm.ask` takes it. Returns a DataFrame: document, kind, shared (how
    many of the content words are the document's), a column for each search with the
    rank, 1 to 10, or 0, and collection."""
    documents, _ = formats.read_collection(folder)
    chosen = pd.Series(documents).sample(200, random_state=1).tolist()
    rows = []
    for kind, (number, prompt, schema) in kinds.items():
        some = chosen[:number]
        prompts = [prompt.format(**document) for document in some]
        answers = llm.ask(prompts, schema, path, workers=8, timeout=600)
        for document, answer in zip(some, answers, strict=True):
            [texts] = answer.model_dump().values()
            whose = document["course"], document["id"], kind
            rows += [(text, *whose) for text in texts]
    asked = pd.DataFrame(rows, columns=["question", "course", "document", "kind"])
    texts = asked["document"].map(texts_of(documents))
    asked["shared"] = corpus.shared_words(asked["question"], texts).round(3)
    for name, search in scoring.ten_searches(documents).items():
        found = utils.relevance(utils.run_search(asked, search, 10), asked["document"])
        asked[name] = np.where(found.any(axis=1), found.argmax(axis=1) + 1, 0)
    return asked.drop(columns=["question", "course"]).assign(collection=folder.name)


def texts_of(documents):
    """What questions share words with: {id: heading and text}."""
    return {document["id"]: corpus.heading_and_text(document) for document in documents}

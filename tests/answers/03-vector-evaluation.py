# More answers to the exercises of notebook 03: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.

# %% 1 right
def nearest(text):
    scores = [vector @ embedding.embed([text])[0] for vector in vectors["question"]]
    return texts["question"][int(np.argmax(scores))]


# %% 1 right
def nearest(text):
    encoded = embedding.embed([text])
    place = (encoded @ vectors["question"].T).argsort(axis=1)[0, -1]
    return documents[place]["question"]


# %% 1 wrong
# The text itself: right for a title, and for nothing else.
def nearest(text):
    return text


# %% 1 wrong
# Vectors of title and answer: another text was to be compared.
def nearest(text):
    cosines = vectors["question + text"] @ embedding.embed([text])[0]
    return documents[cosines.argmax()]["question"]


# %% 1 wrong
# The second best: that leaves out the title itself.
def nearest(text):
    cosines = vectors["question"] @ embedding.embed([text])[0]
    return documents[cosines.argsort()[-2]]["question"]


# %% 2 right
def unpaired(a, b):
    half = 1.96 * np.sqrt(np.var(a, ddof=1) / len(a) + np.var(b, ddof=1) / len(b))
    middle = np.mean(a) - np.mean(b)
    return middle - half, middle + half


# %% 2 right
def unpaired(a, b):
    rng, found = np.random.default_rng(5), []
    for _ in range(4_000):
        one, other = rng.choice(a, len(a)), rng.choice(b, len(b))
        found.append(one.mean() - other.mean())
    return tuple(np.percentile(found, [2.5, 97.5]))


# %% 2 wrong
# The two intervals subtracted end by end.
def unpaired(a, b):
    rng = np.random.default_rng(1)
    means = [rng.choice(x, size=(2_000, len(x))).mean(axis=1) for x in (a, b)]
    (a_low, a_high), (b_low, b_high) = (np.quantile(m, [0.025, 0.975]) for m in means)
    return a_low - b_high, a_high - b_low


# %% 2 wrong
# The middle 90 %.
def unpaired(a, b):
    rng = np.random.default_rng(1)
    means = [rng.choice(x, size=(2_000, len(x))).mean(axis=1) for x in (a, b)]
    return np.quantile(means[0] - means[1], [0.05, 0.95])


# %% 2 wrong
# One size for both: that of a.
def unpaired(a, b):
    rng = np.random.default_rng(1)
    means = [rng.choice(x, size=(2_000, len(a))).mean(axis=1) for x in (a, b)]
    return np.quantile(means[0] - means[1], [0.025, 0.975])


# %% 3 right
def three_parts(weights):
    def scores(queries):
        parts = [text_scores["BM25"], scores_of["question"], scores_of["text"]]
        for blocks in zip(*(part(queries) for part in parts), strict=True):
            rows, columns, _ = blocks[0]
            total = 0
            for weight, (_, _, block) in zip(weights, blocks, strict=True):
                total = total + weight * scoring.standardise(block)
            yield rows, columns, total

    return utils.search_by_scores(scores, documents, k=10)


# %% 3 right
def three_parts(weights):
    first, second, third = weights
    both = [text_scores["BM25"], scores_of["question"], scores_of["text"]]
    total = scoring.weighted_sum(both, [10 * first, 10 * second, 10 * third])
    return utils.search_by_scores(total, documents, k=10)


# %% 3 wrong
# Scores as they are: BM25 has no upper limit, so it outweighs both cosines.
def three_parts(weights):
    def scores(queries):
        parts = [text_scores["BM25"], scores_of["question"], scores_of["text"]]
        for blocks in zip(*(part(queries) for part in parts), strict=True):
            rows, columns, _ = blocks[0]
            pairs = zip(weights, blocks, strict=True)
            yield rows, columns, sum(weight * block[2] for weight, block in pairs)

    return utils.search_by_scores(scores, documents, k=10)


# %% 3 wrong
# Only the part with the largest weight.
def three_parts(weights):
    parts = [text_scores["BM25"], scores_of["question"], scores_of["text"]]
    largest = parts[int(np.argmax(weights))]
    return utils.search_by_scores(largest, documents, k=10)


# %% 3 wrong
# The weights are not used.
def three_parts(weights):
    parts = [text_scores["BM25"], scores_of["question"], scores_of["text"]]
    total = scoring.weighted_sum(parts, [1, 1, 1])
    return utils.search_by_scores(total, documents, k=10)

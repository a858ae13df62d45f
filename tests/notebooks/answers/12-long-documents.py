# More answers to the exercises of notebook 12: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.


# %% 1 right
def n_chunks(n, size, overlap):
    end, count = size, 1
    while end < n:
        end += size - overlap
        count += 1
    return count


# %% 1 wrong
# The last chunk, which is not full, is forgotten.
def n_chunks(n, size, overlap):
    return 1 + max(0, (n - size) // (size - overlap))


# %% 1 wrong
# A page that fits has one chunk, but one that fits exactly gets two.
def n_chunks(n, size, overlap):
    return 1 + max(0, (n - overlap) // (size - overlap))


# %% 2 right
def whole(recall):
    return sum(round(float(value), 2) == 1 and value > 0.999 for value in recall) / len(
        recall
    )


# %% 2 wrong
# Exactly 1: the record is in thousandths, and rounding takes some away.
def whole(recall):
    return np.mean(recall == 1)


# %% 2 wrong
# How many, and not which share.
def whole(recall):
    return int(np.sum(recall > 0.999))


# %% 3 right
def survives(span, old, new):
    wanted = set(range(*span))
    for chunks in (old, new):
        touched = [set(range(*chunk)) for chunk in chunks]
        wanted = set().union(*[chunk for chunk in touched if chunk & wanted])
    return (span[1] - span[0]) / len(wanted)


# %% 3 wrong
# The share of the old label: it was never moved.
def survives(span, old, new):
    touched = [c for c in old if c[0] < span[1] and c[1] > span[0]]
    return (span[1] - span[0]) / (touched[-1][1] - touched[0][0])

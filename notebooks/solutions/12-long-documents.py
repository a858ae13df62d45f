# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def n_chunks(n, size, overlap):
    return 1 + max(0, -(-(n - size) // (size - overlap)))


# A page of 1,500 tokens makes 8 chunks of 254 with an overlap of a fifth; 6 without.


# %% 1 wrong
# Without the overlap.
def n_chunks(n, size, overlap):
    return -(-n // size)


# %% 1 wrong
# A beginning every step, also where all that follows is in the chunk before.
def n_chunks(n, size, overlap):
    return -(-n // (size - overlap))


# %% 2 solution
def whole(recall):
    return (recall > 0.999).mean()


# With 2,000 tokens the whole answer is there for fewer queries than recall suggests.


# %% 2 wrong
# The mean recall: two halves of an answer count as a whole one.
def whole(recall):
    return recall.mean()


# %% 2 wrong
# Any word of the answer is enough.
def whole(recall):
    return (recall > 0).mean()


# %% 3 solution
def survives(span, old, new):
    label = span
    for chunks in (old, new):
        touched = [c for c in chunks if c[0] < label[1] and c[1] > label[0]]
        label = touched[0][0], touched[-1][1]
    return (span[1] - span[0]) / (label[1] - label[0])


# Of 80 tokens that were labelled by two chunks, 512 tokens are labelled in the end.


# %% 3 wrong
# Straight to the new chunks: the label has been on the old ones before.
def survives(span, old, new):
    touched = [c for c in new if c[0] < span[1] and c[1] > span[0]]
    return (span[1] - span[0]) / (touched[-1][1] - touched[0][0])


# %% 3 wrong
# Touching at an end is not sharing a token.
def survives(span, old, new):
    label = span
    for chunks in (old, new):
        touched = [c for c in chunks if c[0] <= label[1] and c[1] >= label[0]]
        label = touched[0][0], touched[-1][1]
    return (span[1] - span[0]) / (label[1] - label[0])

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


# %% 1 check
right = solution["n_chunks"]
rng = np.random.default_rng(0)
cases = [[10, 5, 0], [3, 5, 2], [5, 5, 2], [6, 5, 2], [8, 5, 2], [11, 5, 2]]
for n in rng.integers(1, 900, 40):
    size = int(rng.integers(2, 300))
    cases.append([int(n), size, int(rng.integers(0, size))])
exercises.compare(n_chunks, right, cases, "how many beginnings are there?")
print("A page of 1,500 tokens:", n_chunks(1_500, 254, 51))


# %% 2 check
right = solution["whole"]
rng = np.random.default_rng(0)
cases = [[np.array([1, 0.5, 0.9996, 0.99])], [np.zeros(3)], [np.ones(4)]]
cases += [[rng.choice([0, 0.4, 0.9, 1.0], n)] for n in range(1, 20)]
exercises.compare(whole, right, cases, "which of them are 1?")


# %% 2 shows
shares = {name: round(whole(of_sum[name][:, at]), 3) for name in lines}
print(shares)


# %% 3 check
import itertools

right = solution["survives"]
rng = np.random.default_rng(0)
cases = [[(2, 4), [(0, 5), (5, 10)], [(0, 10)]]]
cases.append([(4, 6), [(0, 5), (5, 10)], [(0, 3), (3, 7), (7, 10)]])
cases.append([(2, 5), [(0, 5), (5, 9)], [(0, 5), (5, 9)]])
for _ in range(40):
    first, last = sorted(rng.choice(61, 2, replace=False).tolist())
    cuts = []
    for n in rng.integers(1, 8, 2):
        inner = sorted(rng.choice(np.arange(1, 60), n, replace=False).tolist())
        ends = [0, *inner, 60]
        cuts.append([*itertools.pairwise(ends)])
    cases.append([(first, last), *cuts])
exercises.compare(survives, right, cases, "first old, then new, then the share")
print(survives((300, 380), [(0, 254), (254, 508)], [(0, 512)]))

# More answers to the exercises of notebook 03: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.

# %% 1 right
def nearest(text):
    encoded = model.encode(text)
    scores = [vector @ encoded for vector in vectors["question_vector"]]
    return documents[int(np.argmax(scores))]["question"]


# %% 1 wrong
# The second best: that leaves out the title itself.
def nearest(text):
    cosines = vectors["question_vector"] @ embedding.embed([text])[0]
    return documents[cosines.argsort()[-2]]["question"]


# %% 2 right
def gain_of_mix(first, second, share):
    loss = sum(first) / len(first) - sum(second) / len(second)
    return sum(first) / len(first) - share * loss


# %% 2 wrong
# A group counts by how many queries we have of it, too.
def gain_of_mix(first, second, share):
    total = (1 - share) * np.sum(first) + share * np.sum(second)
    return total / (len(first) + len(second))


# %% 3 right
predicted = ("same", "same", "change", "same")


# %% 3 wrong
# A shift is subtracted with the mean.
predicted = ["same", "change", "change", "same"]


# %% 3 wrong
# The ratio of the weights decides, and not their size.
predicted = ["same", "same", "change", "change"]

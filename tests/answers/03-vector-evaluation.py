# More answers to the exercises of notebook 03: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.

# %% 1 right
def nearest(text):
    encoded = model.encode(text)
    scores = [vector @ encoded for vector in vectors["question_vector"]]
    return documents[int(np.argmax(scores))]["question"]


# %% 1 right
def nearest(text):
    encoded = embedding.embed([text])
    place = (encoded @ vectors["question_vector"].T).argsort(axis=1)[0, -1]
    return documents[place]["question"]


# %% 1 wrong
# The text itself: right for a title, and for nothing else.
def nearest(text):
    return text


# %% 1 wrong
# Vectors of title and answer: another text was to be compared.
def nearest(text):
    cosines = vectors["question_text_vector"] @ embedding.embed([text])[0]
    return documents[cosines.argmax()]["question"]


# %% 1 wrong
# The second best: that leaves out the title itself.
def nearest(text):
    cosines = vectors["question_vector"] @ embedding.embed([text])[0]
    return documents[cosines.argsort()[-2]]["question"]


# %% 2 right
def gain_of_mix(first, second, share):
    return np.average([np.mean(first), np.mean(second)], weights=[1 - share, share])


# %% 2 right
def gain_of_mix(first, second, share):
    loss = sum(first) / len(first) - sum(second) / len(second)
    return sum(first) / len(first) - share * loss


# %% 2 wrong
# The middle query of each group, and not the mean.
def gain_of_mix(first, second, share):
    return (1 - share) * np.median(first) + share * np.median(second)


# %% 2 wrong
# A group counts by how many queries we have of it, too.
def gain_of_mix(first, second, share):
    total = (1 - share) * np.sum(first) + share * np.sum(second)
    return total / (len(first) + len(second))


# %% 2 wrong
# Half and half: the share does not count.
def gain_of_mix(first, second, share):
    return (np.mean(first) + np.mean(second)) / 2


# %% 3 right
predicted = "same same change same".split()


# %% 3 right
predicted = ("same", "same", "change", "same")


# %% 3 wrong
# A shift is subtracted with the mean.
predicted = ["same", "change", "change", "same"]


# %% 3 wrong
# The ratio of the weights decides, and not their size.
predicted = ["same", "same", "change", "change"]


# %% 3 wrong
# Only three words.
predicted = ["same", "same", "change"]

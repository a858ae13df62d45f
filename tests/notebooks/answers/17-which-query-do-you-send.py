# More answers to the exercises of notebook 17: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.


# %% 1 right
def window(asked, n):
    first = max(0, len(asked) - n)
    return " ".join(question for question in asked[first:])


# %% 1 wrong
# The newest comes first here.
def window(asked, n):
    return " ".join(asked[::-1][:n])


# %% 1 wrong
# A short conversation loses its first questions: a negative place counts from the end.
def window(asked, n):
    return " ".join(asked[len(asked) - n :])


# %% 1 wrong
# With newlines, as a prompt has them; the task asks for blanks.
def window(asked, n):
    return "\n".join(asked[-n:])


# %% 2 right
def worth(a, b):
    best = pd.DataFrame({"a": a, "b": b})
    return best.max(axis=1).mean() - best.mean().max()


# %% 2 wrong
# The mean of the gains of one form where it wins: the other's are forgotten.
def worth(a, b):
    return np.maximum(a - b, 0).mean()


# %% 2 wrong
# In how many turns there is a choice, and not what it is worth.
def worth(a, b):
    return (a != b).mean()


# %% 3 right
follows = {"b", "d"}

# %% 3 wrong
# That we cannot tell is half of it. What would help?
follows = "b"

# %% 3 wrong
# Of two statements on what helps most only one is right.
follows = "bcd"

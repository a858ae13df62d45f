# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def window(asked, n):
    return " ".join(asked[-n:])


# %% 1 wrong
# These are the first n questions.
def window(asked, n):
    return " ".join(asked[:n])


# %% 1 wrong
# One more than n: the last turn is one of them.
def window(asked, n):
    return " ".join(asked[-n - 1 :])


# %% 2 solution
def worth(a, b):
    return np.maximum(a, b).mean() - max(a.mean(), b.mean())


# %% 2 wrong
# Against the first form, which need not be the better one.
def worth(a, b):
    return np.maximum(a, b).mean() - a.mean()


# %% 2 wrong
# That is the difference of the means, without any choice.
def worth(a, b):
    return max(a.mean(), b.mean()) - min(a.mean(), b.mean())


# %% 3 solution
follows = "bd"

# %% 3 wrong
# The interval that draws turns takes them for independent.
follows = "ad"

# %% 3 wrong
# More turns of the same people and subjects add little that is new.
follows = "bc"


# %% 1 check
chat = [["one?"], ["one?", "two?"], ["a dag?", "is it red?", "and now?", "why?"]]
inputs = [(asked, n) for asked in chat for n in (1, 2, 3)]
hint = "The last turn is one of the n, and one space is between two questions."
exercises.compare(window, solution["window"], inputs, hint)


# %% 1 shows
print(window([*talk["question"]], 2))


# %% 2 check
rng = np.random.default_rng(0)
inputs = [[np.array([1, 0.2]), np.array([0, 0.4])]]
inputs += [[np.array([0, 0.4]), np.array([1, 0.2])]]
inputs += [list(rng.random((2, 8)).round(2)) for _ in range(5)]
exercises.compare(worth, solution["worth"], inputs, "Two means, and one of the best.")


# %% 2 shows
forms = [later["money"]["sum", form].to_numpy() for form in ("last turn", "rewrite")]
print(f"last turn or rewrite, on money: {worth(*forms):.3f}")


# %% 3 check
please = 'letters of statements, please, such as "ac"'
letters = exercises.statements(follows, "abcd", please)
assert "a" not in letters, "a: an interval that draws turns is too narrow here"
assert "b" in letters, "b: the interval of conversations includes 0"
assert "c" not in letters, "c: turns of one conversation resemble each other"
assert "d" in letters, "d: a new conversation is a new piece of evidence"
print("Draw what was drawn: conversations.")

# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def precision_of(facts):
    right, wrong = facts.count("1"), facts.count("x")
    return right / (right + wrong) if right + wrong else 0


# %% 1 wrong
# That is the recall: facts on which the answer is silent count, too.
def precision_of(facts):
    return facts.count("1") / len(facts)


# %% 1 wrong
# An answer that takes no side is not right.
def precision_of(facts):
    right, wrong = facts.count("1"), facts.count("x")
    return right / (right + wrong) if right + wrong else 1


# %% 2 solution
def share_of_way(start, here, end):
    return (here - start) / (end - start)


# %% 2 wrong
# The way does not begin at zero.
def share_of_way(start, here, end):
    return here / end


# %% 2 wrong
# That is the part that is left.
def share_of_way(start, here, end):
    return (end - here) / (end - start)


# %% 3 solution
def refusals(refuses, answerable):
    return refuses[answerable].mean(), refuses[~answerable].mean()


# %% 3 wrong
# Shares of all queries, and not of each kind.
def refusals(refuses, answerable):
    n = len(refuses)
    return (refuses & answerable).sum() / n, (refuses & ~answerable).sum() / n


# %% 3 wrong
# The second one is answered here, and not refused.
def refusals(refuses, answerable):
    return refuses[answerable].mean(), 1 - refuses[~answerable].mean()


# %% 1 check
inputs = [[facts] for facts in ("10x1", "00", "x", "1", "xx1", "0xx10", "100")]
hint = "only 1 and x take a side, and an answer that takes none has 0"
exercises.compare(precision_of, solution["precision_of"], inputs, hint)


# %% 1 shows
sides = answers[answers["facts"].str.contains("[1x]", na=False)]
found = sides["facts"].map(precision_of).groupby(sides["search"]).mean()
print(f"Without context {found[NOTHING]:.2f}, sum {found['sum']:.2f}")


# %% 2 check
inputs = [[10, 15, 30], [10, 30, 30], [30, 15, 10]]
inputs += np.random.default_rng(0).normal(size=(50, 3)).round(2).tolist()
hint = "from 10 to 30, at 15, it is 5 of 20; beyond the end it is more than 1"
exercises.compare(share_of_way, solution["share_of_way"], inputs, hint)


# %% 2 shows
found = share_of_way(*recall[[NOTHING, "vectors", RIGHT]].mean())
print(f"The vectors go {found:.2f} of the way.")


# %% 3 check
rng, inputs = np.random.default_rng(0), []
for size in [3, 3, 4, 4, 5, 8, 20]:
    known = rng.permutation(size) > size // 3
    inputs.append([rng.random(size) < 0.4, known])
hint = "two shares: of the answerable queries, then of the others"
exercises.compare(refusals, solution["refusals"], inputs, hint)


# %% 3 shows
some = refuses.loc[queries.index, "sum"].to_numpy(dtype=bool)
print("Sum: {:.2f} and {:.2f}".format(*refusals(some, answerable.to_numpy())))

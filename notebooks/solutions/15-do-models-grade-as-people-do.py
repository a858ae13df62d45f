# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def kappa(people, model):
    agreement = np.mean(people == model)
    a, b = people.mean(), model.mean()
    chance = a * b + (1 - a) * (1 - b)
    return float((agreement - chance) / (1 - chance))


# %% 1 wrong
# The agreement alone: where most are 0, a grader that always says 0 gets a high
# figure.
def kappa(people, model):
    return float(np.mean(people == model))


# %% 1 wrong
# Chance as one half, as if ones were as frequent as zeros.
def kappa(people, model):
    return float((np.mean(people == model) - 0.5) / 0.5)


# %% 2 solution
def best_threshold(people, p):
    values = np.unique(p)
    kappas = [cohen_kappa_score(people, (p >= value).astype(int)) for value in values]
    return float(values[np.argmax(kappas)])


# It is above 0.5 on all four: this model is too generous. It is chosen on the pairs
# that it is reported on, so its κ is flattered: choose on some queries, and report on
# others.


# %% 2 wrong
# The threshold at which as many are called relevant as people listed. Then the counts
# agree, but not the pairs.
def best_threshold(people, p):
    return float(np.quantile(p, 1 - people.mean()))


# %% 2 wrong
# The highest agreement: where few are relevant, it calls nearly nothing relevant.
def best_threshold(people, p):
    values = np.unique(p)
    return float(
        values[np.argmax([np.mean(people == (p >= value)) for value in values])]
    )


# %% 3 solution
def soft_coverage(p):
    return float((1 - np.prod(1 - p, axis=1)).mean())


# The hard OR is off by 0.065, the soft one by 0.277: many small doubts make a yes. The
# interval of the difference over the six essays is 0.173 to 0.251.


# %% 3 wrong
# The best context alone: two doubts are no more than one.
def soft_coverage(p):
    return float(p.max(axis=1).mean())


# %% 3 wrong
# Over the contexts and not over the facts.
def soft_coverage(p):
    return float((1 - np.prod(1 - p, axis=0)).mean())


# %% 1 check
right = solution["kappa"]
rng = np.random.default_rng(0)
inputs = [[np.array([1, 0, 0, 0, 0]), np.array([1, 1, 0, 0, 0])]]
for n in range(5, 30):
    inputs.append([rng.permutation(n) < n // 3, rng.permutation(n) < n // 2])
inputs = [[people.astype(int), model.astype(int)] for people, model in inputs]
exercises.compare(kappa, right, inputs, "By chance both may say 0, too.")


# %% 1 shows
print(f"Llama's: {kappa(yes['people'], yes['Llama-3.3-70B']):.2f}")


# %% 2 check
from sklearn.metrics import cohen_kappa_score

right = solution["best_threshold"]
rng = np.random.default_rng(0)
for n in range(10, 40):
    people = (rng.permutation(n) < max(2, n // 8)).astype(int)
    p = rng.random(n) + 0.4 * people
    mine = cohen_kappa_score(people, p >= best_threshold(people, p))
    highest = cohen_kappa_score(people, p >= right(people, p))
    hint = f"its κ is {mine:.2f}, and {highest:.2f} is possible: try each value of p"
    assert mine > highest - 1e-9, hint


# %% 2 shows
print("Thresholds, each with the κ that it was chosen for:")
for name, old in graders.recorded_grades(graders.OLD_RECORD).groupby("collection"):
    threshold = best_threshold(old["people"].to_numpy(), old["model"].to_numpy())
    found = cohen_kappa_score(old["people"], old["model"] >= threshold)
    print(f"{name}: {threshold:.2f}, κ {found:.2f}")


# %% 3 check
right = solution["soft_coverage"]
rng = np.random.default_rng(0)
inputs = [[rng.random(shape)] for shape in rng.integers(1, 9, (20, 2))]
hint = "A fact is missed only if every context misses it; then take the mean."
exercises.compare(soft_coverage, right, inputs, hint)


# %% 3 shows
from itertools import product

sets = np.array([*product([False, True], repeat=7)])
errors = {"hard OR": [], "soft OR": []}
for _, group in easy.groupby("essay"):
    by = group.pivot(index="fact", columns="context", values=["stated", "model"])
    for row in sets[sets.sum(axis=1) >= 2]:
        stated, p = (by[part].to_numpy(float)[:, row] for part in ("stated", "model"))
        readers = stated.any(axis=1).mean()
        hard_or = (p >= 0.5).any(axis=1).mean()
        errors["hard OR"].append(abs(hard_or - readers))
        errors["soft OR"].append(abs(soft_coverage(p) - readers))
print("The mean distance from the coverage by the large model's notes:")
print({name: round(float(np.mean(values)), 3) for name, values in errors.items()})

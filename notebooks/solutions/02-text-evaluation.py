# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def success_at_1(relevance):
    return float((np.asarray(relevance)[:, 0] > 0).mean())


# It is never above the MRR, since every hit at rank 1 contributes 1 to both. A yes or
# no per query is a coarse metric: it takes more queries to show that two searches
# differ.


# %% 1 wrong
# That is the hit rate; a hit at rank 2 counts, too.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).any(axis=1).mean())


# %% 1 wrong
# Right for yes and no; a grade of 2 counts twice.
def success_at_1(relevance):
    return float(np.asarray(relevance)[:, 0].mean())


# %% 1 wrong
# All results, and not only the first ones.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).mean())


# %% 1 wrong
# The first query, and not the first result of each query.
def success_at_1(relevance):
    return float((np.asarray(relevance)[0] > 0).mean())


# %% 2 solution
def hit_rate_by_course(ground_truth, search_function):
    rates = {}
    for course in {question["course"] for question in ground_truth}:
        of_course = [q for q in ground_truth if q["course"] == course]
        rates[course] = evaluate(of_course, search_function)["hit_rate"]
    return rates


# A search can be good on the course with most questions and useless on another. One
# figure for all of them does not show it.


# %% 2 wrong
# Divided by the questions of all courses: a small course looks bad.
def hit_rate_by_course(ground_truth, search_function):
    rates = {}
    for question in ground_truth:
        found = [document["id"] for document in search_function(question)]
        hit = question["document"] in found
        course = question["course"]
        rates[course] = rates.get(course, 0) + hit / len(ground_truth)
    return rates


# %% 2 wrong
# Only the first result, and not all that were found.
def hit_rate_by_course(ground_truth, search_function):
    rates = {}
    for course in {question["course"] for question in ground_truth}:
        of_course = [q for q in ground_truth if q["course"] == course]
        first = [search_function(q)[0]["id"] == q["document"] for q in of_course]
        rates[course] = sum(first) / len(first)
    return rates


# %% 2 wrong
# The MRR: a document at rank 2 is a hit like any other.
def hit_rate_by_course(ground_truth, search_function):
    rates = {}
    for course in {question["course"] for question in ground_truth}:
        of_course = [q for q in ground_truth if q["course"] == course]
        rates[course] = evaluate(of_course, search_function)["mrr"]
    return rates


# %% 3 solution
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"


# With b 0.5 the mean is higher, and the interval includes 0. That is no proof that both
# are equal. If nothing else speaks for the new setting, keep the default.


# %% 3 wrong
# Higher is not better while the interval includes 0.
def verdict(new, old, queries):
    return "better" if (new - old).mean() > 0 else "worse"


# %% 3 wrong
# No significant difference does not mean equal.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "better" if low > 0 else "worse" if high < 0 else "equal"


# %% 3 wrong
# Query by query: queries of one need are not independent, so it is too sure.
def verdict(new, old, queries):
    low, high = intervals.confidence_interval(new - old, range(len(queries)))
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"

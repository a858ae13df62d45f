# More answers to the exercises of notebook 18: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.


# %% 1 right
def recovery(lists, relevant):
    first, *others = map(set, lists)
    lacked = [id_ for id_ in set(relevant) if id_ not in first]
    found = [id_ for id_ in lacked if any(id_ in ids for ids in others)]
    return len(found) / max(1, len(lacked))


# %% 1 wrong
# What is relevant in later lists, though the first had it already.
def recovery(lists, relevant):
    later = {id_ for ids in lists[1:] for id_ in ids}
    return len({*relevant} & later) / len({*relevant})


# %% 1 wrong
# All that later lists bring, relevant or not.
def recovery(lists, relevant):
    later = {id_ for ids in lists[1:] for id_ in ids}
    return len(later - {*lists[0]}) / max(1, len(later))


# %% 2 right
def in_turns(lists, k):
    ids = []
    for place in range(max(map(len, lists))):
        for each in lists:
            if place < len(each) and each[place] not in ids:
                ids.append(each[place])
    return ids[:k]


# %% 2 wrong
# List after list: a k cuts off the last ones.
def in_turns(lists, k):
    return [*dict.fromkeys(id_ for ids in lists for id_ in ids)][:k]


# %% 2 wrong
# The first k of each list, and not k in all.
def in_turns(lists, k):
    from itertools import zip_longest

    rows = zip_longest(*(ids[:k] for ids in lists))
    return [*dict.fromkeys(id_ for row in rows for id_ in row if id_ is not None)]


# %% 3 right
follows = {"b", "c"}

# %% 3 wrong
# That it was shown more is half of it. What would make them comparable?
follows = "b"

# %% 3 wrong
# Its queries may be poor: eighty results are many.
follows = "ac"

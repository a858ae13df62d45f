# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def recovery(lists, relevant):
    lacked = {*relevant} - {*lists[0]}
    later = {id_ for ids in lists[1:] for id_ in ids}
    return len(lacked & later) / len(lacked) if lacked else 0.0


# %% 1 wrong
# A share of all relevant ids, and not of those that were lacking.
def recovery(lists, relevant):
    lacked = {*relevant} - {*lists[0]}
    later = {id_ for ids in lists[1:] for id_ in ids}
    return len(lacked & later) / len({*relevant})


# %% 1 wrong
# Only the last list is looked at.
def recovery(lists, relevant):
    lacked = {*relevant} - {*lists[0]}
    return len(lacked & {*lists[-1]}) / len(lacked) if lacked else 0.0


# %% 2 solution
def in_turns(lists, k):
    from itertools import zip_longest

    ids = (id_ for row in zip_longest(*lists) for id_ in row if id_ is not None)
    return [*dict.fromkeys(ids)][:k]


# %% 2 wrong
# zip stops at the end of the shortest list.
def in_turns(lists, k):
    ids = (id_ for row in zip(*lists, strict=False) for id_ in row)
    return [*dict.fromkeys(ids)][:k]


# %% 2 wrong
# An id that two lists have stands twice.
def in_turns(lists, k):
    from itertools import zip_longest

    return [id_ for row in zip_longest(*lists) for id_ in row if id_ is not None][:k]


# %% 3 solution
follows = "bc"

# %% 3 wrong
# What found more need not have asked better: it was shown eight times as much.
follows = "abc"

# %% 3 wrong
# Nobody has looked at an answer.
follows = "bcd"


# %% 1 check
chats = [[["a", "x"], ["b"], ["y"]], [["a", "b"]], [["x"], ["a"], ["a", "c"]], [[], []]]
inputs = [(lists, needs) for lists in chats for needs in (["a", "b"], [*"abcd"])]
hint = "Only what the first list lacks counts."
exercises.compare(recovery, solution["recovery"], inputs, hint)


# %% 1 shows
print("The agent above:", recovery([call["ids"] for call in two_calls], needed))


# %% 2 check
chats = [[["a"], ["b", "c", "d"]], [["a", "b"], ["b", "c"]], [[*"abc"], [], [*"xyz"]]]
inputs = [(lists, k) for lists in chats for k in (1, 3, 9)]
exercises.compare(in_turns, solution["in_turns"], inputs, "Lists differ in length.")


# %% 2 shows
print("The agent above, at four:", in_turns([call["ids"] for call in two_calls], 4))


# %% 3 check
please = 'letters of statements, please, such as "ac"'
letters = exercises.statements(follows, "abcd", please)
assert "a" not in letters, "a: eighty results find more, whatever was asked"
assert "d" not in letters, "d: nobody has looked at an answer"
assert "b" in letters, "b: that is what the figure says"
assert "c" in letters, "c: the same cost is what makes them comparable"
print("The same cost first. Then the answers.")

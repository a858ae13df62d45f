# More answers of the exercises, right and wrong ones: see the solutions of notebook 01.

# %% 1 right
# Any order.
bad = (6, 2, 4)

# %% 1 right
# A set is as good as a list.
bad = {2, 4, 6}

# %% 1 wrong
# Only the one that names a part of the record.
bad = [2]

# %% 1 wrong
# Those that were meant for the other list: the good ones.
bad = [1, 3, 5]

# %% 1 wrong
# 5 is no whole sentence, but it is a situation.
bad = [2, 4, 5, 6]

# %% 1 wrong
# 6 has a number for an answer, and nobody outside knows that there is one.
bad = [2, 4]


# %% 2 right
def opening(question):
    words = question.split(maxsplit=2)[:2]
    return " ".join(word.lower() for word in words)


# %% 2 right
def opening(question):
    import re

    return " ".join(re.findall(r"\S+", question)[:2]).lower()


# %% 2 wrong
# Without the space between them.
def opening(question):
    return "".join(question.lower().split()[:2])


# %% 2 wrong
# A list is not one string.
def opening(question):
    return question.lower().split()[:2]


# %% 2 wrong
# Characters, not words.
def opening(question):
    return question.lower().strip()[:6]


# %% 2 wrong
# One word.
def opening(question):
    return question.lower().split()[0]


# %% 2 wrong
# A question of one word ends with an error.
def opening(question):
    first, second = question.lower().split()[:2]
    return f"{first} {second}"


# %% 2 wrong
# Words without their punctuation: *I'm* becomes two.
def opening(question):
    import re

    return " ".join(re.findall(r"\w+", question.lower())[:2])


# %% 2 wrong
# `capitalize` makes the first letter large.
def opening(question):
    return " ".join(question.split()[:2]).capitalize()


# %% 3 right
# Length of the run that ends at each pair of places.
def longest_run(question, text):
    asked, found = question.lower().split(), text.lower().split()
    longest, before = 0, [0] * (len(found) + 1)
    for word in asked:
        now = [0] * (len(found) + 1)
        for place, other in enumerate(found):
            if word == other:
                now[place + 1] = before[place] + 1
        longest, before = max(longest, *now), now
    return longest


# %% 3 right
def longest_run(question, text):
    from difflib import SequenceMatcher

    words = question.lower().split(), text.lower().split()
    return SequenceMatcher(None, *words, autojunk=False).find_longest_match().size


# %% 3 right
# All runs of each length, the longest first.
def longest_run(question, text):
    asked, found = question.lower().split(), text.lower().split()

    def runs(words, n):
        return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}

    for n in range(len(asked), 0, -1):
        if runs(asked, n) & runs(found, n):
            return n
    return 0


# %% 3 wrong
# By default `SequenceMatcher` leaves out words that a long text has often.
def longest_run(question, text):
    from difflib import SequenceMatcher

    words = question.lower().split(), text.lower().split()
    return SequenceMatcher(None, *words).find_longest_match().size


# %% 3 wrong
# Upper and lower case are two words.
def longest_run(question, text):
    words, text = question.split(), f" {' '.join(text.split())} "
    spans = [(i, j) for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    return max(
        (j - i for i, j in spans if f" {' '.join(words[i:j])} " in text), default=0
    )


# %% 3 wrong
# A run may begin at any word of the question, not only at the first.
def longest_run(question, text):
    words, text = question.lower().split(), f" {' '.join(text.lower().split())} "
    return max(
        (n for n in range(len(words) + 1) if f" {' '.join(words[:n])} " in text),
        default=0,
    )


# %% 3 wrong
# The same order, with gaps between: the longest common subsequence.
def longest_run(question, text):
    asked, found = question.lower().split(), text.lower().split()
    before = [0] * (len(found) + 1)
    for word in asked:
        now = [0]
        for place, other in enumerate(found):
            same = before[place] + 1 if word == other else 0
            now.append(max(same, before[place + 1], now[place]))
        before = now
    return before[-1]


# %% 3 wrong
# Consecutive words of the question that the text has anywhere: not in its order.
def longest_run(question, text):
    found, longest, run = set(text.lower().split()), 0, 0
    for word in question.lower().split():
        run = run + 1 if word in found else 0
        longest = max(longest, run)
    return longest


# %% 3 wrong
# The number of pairs of neighbours that both have.
def longest_run(question, text):
    asked, found = question.lower().split(), text.lower().split()
    pairs = set(zip(asked, asked[1:], strict=False))
    return len(pairs & set(zip(found, found[1:], strict=False))) + 1

# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
bad = 2

# It asks for a detail of the record and makes no sense without it: with the record
# before one's eyes it sounds fine. The schema accepts it, no flag sees it, and the
# searches that read the answer put its record first, by *week 5*.

# %% 1 wrong
# In lower case and with a comma where a full stop belongs, but people do type so.
bad = 1

# %% 1 wrong
# Long, and in two sentences, but a real problem that the record solves.
bad = 3


# %% 2 solution
def opening(question):
    return " ".join(question.lower().split()[:2])


# About a quarter of Qwen's questions begin with "what is": they ask for a definition
# and seldom tell a problem.


# %% 2 wrong
# *How do* and *how do* would be two openings.
def opening(question):
    return " ".join(question.split()[:2])


# %% 2 wrong
# A space too many makes an empty word.
def opening(question):
    return " ".join(question.lower().split(" ")[:2])


# %% 3 solution
def longest_run(question, text):
    words, text = question.lower().split(), f" {' '.join(text.lower().split())} "
    spans = [(i, j) for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    runs = [
        end - start for start, end in spans if f" {' '.join(words[start:end])} " in text
    ]
    return max(runs, default=0)


# About 7 % of both. Read them before you drop them: many are error messages, which
# one cannot say otherwise, or a heading that people would type just so. (Split at
# spaces, *join* and *join,* are two words; without punctuation it is about 10 % of
# both.)


# %% 3 wrong
# Shared words are not a run; these may stand anywhere, in any order.
def longest_run(question, text):
    return len(set(question.lower().split()) & set(text.lower().split()))


# %% 3 wrong
# Characters instead of words: *art* stands in *start*.
def longest_run(question, text):
    words, text = question.lower().split(), " ".join(text.lower().split())
    spans = [
        (start, end)
        for start in range(len(words))
        for end in range(start, len(words) + 1)
    ]
    return max(
        end - start for start, end in spans if " ".join(words[start:end]) in text
    )

# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
bad = [2, 4, 6]

# 2 and 6 ask for details and make no sense without the record: with the record before
# one's eyes they sound fine. 4 contains its answer. The schema accepts all three, and
# a search in whole records finds 2 and 6 by *week 5* and *lowest scores*.

# %% 1 wrong
# 1 is in lower case, with a comma where a full stop belongs, but people do type so.
bad = [1, 2, 6]

# %% 1 wrong
# 3 is long, and in two sentences, but a real problem that the record solves.
bad = [2, 3, 4, 6]

# %% 1 wrong
# 4 asks, and says what the record says: any search that reads the answer finds it.
bad = [2, 6]


# %% 2 solution
def questions_of(reply):
    text = reply.strip().removeprefix("```").removeprefix("json").removesuffix("```")
    content = json.loads(text)
    return list(content.values()) if isinstance(content, dict) else content


# It mends the two forms that it knows. A schema needs no mending, and it refuses the
# forms that nobody thought of.


# %% 2 wrong
# A loop over an object gives its keys: question1, question2, ...
def questions_of(reply):
    text = reply.strip().removeprefix("```").removeprefix("json").removesuffix("```")
    return list(json.loads(text))


# %% 2 wrong
# A block without the word json stays as it is.
def questions_of(reply):
    text = reply.strip().removeprefix("```json").removesuffix("```")
    content = json.loads(text)
    return list(content.values()) if isinstance(content, dict) else content


# %% 2 wrong
# A question may speak of json, too: `replace` changes it.
def questions_of(reply):
    content = json.loads(reply.replace("```", "").replace("json", ""))
    return list(content.values()) if isinstance(content, dict) else content


# %% 3 solution
def copied(question, text):
    asked, found = set(question.lower().split()), set(text.lower().split())
    return len(asked & found) / len(asked)


# Here the small model copies more. But it had another prompt, and five records are few.
# Notebook 14 gives both writers one prompt and 200 records: there the small model
# shares fewer words with its records.


# %% 3 wrong
# It divides by the words of both: a long text makes the share small.
def copied(question, text):
    asked, found = set(question.lower().split()), set(text.lower().split())
    return len(asked & found) / len(asked | found)


# %% 3 wrong
# A word that the question has twice counts twice.
def copied(question, text):
    asked, found = question.lower().split(), text.lower().split()
    return sum(word in found for word in asked) / len(asked)


# %% 3 wrong
# Letters instead of words: *art* is in *start*.
def copied(question, text):
    asked = set(question.lower().split())
    return sum(word in text.lower() for word in asked) / len(asked)

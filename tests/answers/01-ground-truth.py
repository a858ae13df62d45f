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
# JSON begins with a bracket or a brace, so these letters are of the block only.
def questions_of(reply):
    content = json.loads(reply.strip("`json \n"))
    return [*content.values()] if isinstance(content, dict) else content


# %% 2 right
def questions_of(reply):
    import re

    [text] = re.findall(r"(?s)[\[{].*[\]}]", reply)
    content = json.loads(text)
    try:
        return list(content.values())
    except AttributeError:
        return content


# %% 2 right
def questions_of(reply):
    lines = [line for line in reply.splitlines() if not line.startswith("```")]
    content = json.loads("\n".join(lines))
    return content if isinstance(content, list) else [content[key] for key in content]


# %% 2 wrong
# No object has square brackets.
def questions_of(reply):
    return json.loads(reply[reply.find("[") : reply.rfind("]") + 1])


# %% 2 wrong
# Without a thought for the code block.
def questions_of(reply):
    content = json.loads(reply)
    return list(content.values()) if isinstance(content, dict) else content


# %% 2 wrong
# The text, not the list.
def questions_of(reply):
    return reply.strip().removeprefix("```").removeprefix("json").removesuffix("```")


# %% 2 wrong
# Quotation marks inside a question are escaped: splitting at them is no parsing.
def questions_of(reply):
    return reply.split('"')[1::2]


# %% 2 wrong
# Nothing for what does not parse.
def questions_of(reply):
    try:
        content = json.loads(reply)
    except json.JSONDecodeError:
        return []
    return list(content.values()) if isinstance(content, dict) else content


# %% 2 wrong
# All objects look alike to it: five questions.
def questions_of(reply):
    text = reply.strip().removeprefix("```").removeprefix("json").removesuffix("```")
    content = json.loads(text)
    if isinstance(content, dict):
        return [content[f"question{n}"] for n in range(1, 6)]
    return content


# %% 3 right
def copied(question, text):
    words = {word.lower() for word in question.split()}
    return len(words.intersection(text.lower().split())) / len(words)


# %% 3 right
def copied(question, text):
    asked, found = question.lower().split(), text.lower().split()
    return float(np.mean([word in found for word in set(asked)]))


# %% 3 right
def copied(question, text):
    asked = set(question.lower().split())
    return 1 - len(asked - set(text.lower().split())) / len(asked)


# %% 3 wrong
# Upper and lower case are two words.
def copied(question, text):
    asked, found = set(question.split()), set(text.split())
    return len(asked & found) / len(asked)


# %% 3 wrong
# The share of the text's words that the question has.
def copied(question, text):
    asked, found = set(question.lower().split()), set(text.lower().split())
    return len(asked & found) / len(found)


# %% 3 wrong
# A number of words is no share.
def copied(question, text):
    return len(set(question.lower().split()) & set(text.lower().split()))


# %% 3 wrong
# Divided by all words, with those that are there twice.
def copied(question, text):
    asked, found = set(question.lower().split()), set(text.lower().split())
    return len(asked & found) / len(question.split())


# %% 3 wrong
# Right for the first example only.
def copied(question, text):
    return 0.75


# %% 3 wrong
# A share of characters.
def copied(question, text):
    asked, found = set(question.lower()), set(text.lower())
    return len(asked & found) / len(asked)


# %% 3 wrong
# Whole words in the same order: a run, not a set.
def copied(question, text):
    words = question.lower().split()
    runs = [n for n in range(len(words) + 1) if " ".join(words[:n]) in text.lower()]
    return max(runs) / len(words)

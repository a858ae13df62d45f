# More answers of the exercises, right and wrong ones: see the solutions of notebook 01.

# %% 1 right
# A set is as good as a list.
bad = {2, 4, 6}

# %% 1 wrong
# 5 is no whole sentence, but it is a situation.
bad = [2, 4, 5, 6]


# %% 2 right
def questions_of(reply):
    import re

    [text] = re.findall(r"(?s)[\[{].*[\]}]", reply)
    content = json.loads(text)
    try:
        return list(content.values())
    except AttributeError:
        return content


# %% 2 wrong
# Without a thought for the code block.
def questions_of(reply):
    content = json.loads(reply)
    return list(content.values()) if isinstance(content, dict) else content


# %% 3 right
def kept(before, after):
    ids = set(map(document_id, before))
    return np.mean([id_ in set(map(document_id, after)) for id_ in ids])

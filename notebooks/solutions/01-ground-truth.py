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
def kept(before, after):
    ids = {document_id(document) for document in before}
    return len(ids & {document_id(document) for document in after}) / len(ids)


# A full stop loses every label, and another answer none. So an id is not enough: keep
# what was judged, too. `evaluate-retrieval labels` does.


# %% 3 wrong
# The ids in the file, which no edit of a text changes.
def kept(before, after):
    ids = {document.get("id") for document in before}
    return len(ids & {document.get("id") for document in after}) / len(ids)


# %% 3 wrong
# The share of the new ids that are old: another question.
def kept(before, after):
    ids = {document_id(document) for document in after}
    return len(ids & {document_id(document) for document in before}) / max(1, len(ids))


# %% 3 wrong
# A record that stands twice counts twice.
def kept(before, after):
    ids = {document_id(document) for document in after}
    return np.mean([document_id(document) in ids for document in before])


# %% 1 check
please = "a list of numbers, please, such as [1, 5]"
mine = exercises.statements(bad, "123456", please)
wrong = sorted(mine ^ exercises.statements(solution["bad"], "123456", please))
assert not wrong, (
    f"look again at {wrong[0]}: would somebody type it who has not read the "
    "record, and is its answer still open?"
)
print("Only readers of the record can ask these.")


# %% 2 check
import json

right = solution["questions_of"]
rng = np.random.default_rng(0)
texts = ["Can I join late?", "Which json file [1] has ``` in it?", "¿Y los deberes?"]
texts += ["my dag is red", 'What is "week 5"?', "gpu or not"]
inputs = [['["Can I join late?"]'], ['```\n["Which json file has ``` in it?"]\n```\n']]
for _ in range(60):
    drawn = rng.choice(texts, rng.integers(1, 6)).tolist()
    as_object = {f"question{n}": text for n, text in enumerate(drawn, 1)}
    text = json.dumps(as_object if rng.random() < 0.5 else drawn, indent=2)
    form = rng.choice(["{}", "```\n{}\n```", "```json\n{}\n```", "\n{}\n"])
    inputs.append([form.replace("{}", text)])
hint = "Both forms, with and without a code block, and the questions as they are."
exercises.compare(questions_of, right, inputs, hint)


# %% 2 shows
print(f"The recorded reply has {len(questions_of(reply))} questions.")


# %% 3 check
right = solution["kept"]
rng = np.random.default_rng(0)
days = ["Monday", "Tuesday", "Friday", "No day at all"]
records = [
    {"course": "ml", "question": "When?", "text": day, "id": f"id of {day}"}
    for day in days
]
monday, tuesday, *_ = records
edited = [each | {"question": "How?"} for each in records]
inputs = [[[monday], edited[:1]], [[monday, tuesday], [monday]], [[monday], []]]
inputs += [[records[:3], edited[:1] + records[1:3]], [[monday, *records], [monday]]]
for size in 10 * [3, 8, 20]:
    drawn = [rng.choice(records + edited, size).tolist() for _ in range(2)]
    inputs.append(drawn)
hint = (
    "Count different ids, of those that the records had before the edit, and compute "
    "them anew: an edit does not change the field `id`."
)
exercises.compare(kept, right, inputs, hint)


# %% 3 shows
edits = {
    "a full stop behind each title": lambda d: {"question": d["question"] + "."},
    "another first word": lambda d: {"text": f"Well, {d['text']}"},
    "a word mended at the end": lambda d: {"text": d["text"] + " (mended)"},
    "another answer after ten letters": lambda d: {"text": d["text"][:10] + "?"},
}
for name, edit in edits.items():
    share = kept(documents, [each | edit(each) for each in documents])
    print(f"{name}: {share:.2f} of the ids are kept")
print("An id that stays does not say that the answer does. Notebook 13 goes on.")

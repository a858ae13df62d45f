"""Make what notebooks read as recorded; a command is named after what it writes.

answers (notebook 7), page_answers (12), graded (16): run with COURSE_LLM=live,
OPENAI_BASE_URL and OPENAI_MODEL; `make local-llm` prints them. Each goes on where it
was stopped. Replies go to data/live-responses.jsonl. graded, collections and queries
(6) need `make collections`; collections also `make models` and a node. conversations
(17) and agents (18) need both, the model and the collections."""

import sys

import machine

sys.path.append(str(machine.ROOT / "notebooks" / "more"))  # what notebooks share
from recorders.agents import agents
from recorders.answers import answers, page_answers
from recorders.collections import collections, queries
from recorders.conversations import conversations
from recorders.graded import graded

if __name__ == "__main__":
    commands = [agents, answers, page_answers, graded, collections, queries]
    sys.exit(machine.act(__doc__, *commands, conversations))

"""The conversations that are compared on. They are read from the paths given and never copied.

LoCoMo as docs/internals/measurements.md has it: categories 1 to 4, a picture told by its caption, malformed evidence
ids read as dev/eval reads them, the first speaker asks a day after the last turn.
"""

import calendar
import json
import re
import subprocess
import time
from dataclasses import dataclass, field

PACE = 20_000
DAY = 86_400_000


@dataclass
class Question:
    text: str
    asked_at: int
    category: int | str
    evidence: set = field(default_factory=set)
    sessions: set = field(default_factory=set)

    def asked(self, case, count):
        return {"space": case.space, "question": self.text, "asked_at": self.asked_at, "asker": case.asker, "count": count}

    def share(self, found, depth):
        """The share of the evidence among the first so many messages."""
        return len(self.evidence & set(found[:depth])) / len(self.evidence)


@dataclass
class Case:
    """One space of its own: messages by session, in order, and questions."""

    space: str
    asker: str
    messages: list = field(default_factory=list)
    session_of: dict = field(default_factory=dict)
    questions: list = field(default_factory=list)

    def say(self, session, **message):
        self.messages.append(message)
        self.session_of[message["id"]] = session

    def sessions(self):
        grouped = {}
        for message in self.messages:
            grouped.setdefault(self.session_of[message["id"]], []).append(message)
        return grouped.items()


def spoken_date(text):
    """`1:56 pm on 8 May, 2023`, taken as UTC, in milliseconds."""
    return calendar.timegm(time.strptime(text.strip().lower(), "%I:%M %p on %d %B, %Y")) * 1000


def evidence_ids(texts):
    """`D8:6; D9:17` or `D30:05`, spelled as turns spell theirs."""
    return {f"D{int(session)}:{int(turn)}" for text in texts for session, turn in re.findall(r"D(\d+):(\d+)", text)}


def locomo(path):
    return [conversation(sample) for sample in json.loads(path.read_text(encoding="utf-8"))]


def conversation(sample):
    talk = sample["conversation"]
    case = Case(sample["sample_id"], talk["speaker_a"])
    number = 1
    while f"session_{number}_date_time" in talk:
        start = spoken_date(talk[f"session_{number}_date_time"])
        for at, turn in enumerate(talk.get(f"session_{number}", [])):
            caption = f"\n[shares a picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            case.say(
                f"session_{number}",
                id=turn["dia_id"],
                speaker=turn["speaker"],
                role="user",
                time=start + at * PACE,
                text=turn["text"] + caption,
            )
        number += 1
    asked_at = case.messages[-1]["time"] + DAY
    for asked in sample["qa"]:
        evidence = evidence_ids(asked.get("evidence", [])) & set(case.session_of)
        if evidence and 1 <= asked["category"] <= 4:
            case.questions.append(Question(asked["question"], asked_at, asked["category"], evidence))
    return case


def written_date(text):
    """`2023/05/20 (Sat) 02:21`, taken as UTC, in milliseconds."""
    return calendar.timegm(time.strptime(f"{text.split()[0]} {text.split()[-1]}", "%Y/%m/%d %H:%M")) * 1000


def longmemeval(path, python):
    """Each question with a haystack of its own. The standard library reads no zstd, so an environment of ours does."""
    if path.suffix == ".zst":
        unpack = "import sys, zstandard; zstandard.ZstdDecompressor().copy_stream(open(sys.argv[1], 'rb'), sys.stdout.buffer)"
        text = subprocess.run([python, "-c", unpack, path], capture_output=True, check=True).stdout.decode()
    else:
        text = path.read_text(encoding="utf-8")
    return [haystack(json.loads(line)) for line in text.split("\n") if line.strip()]


def haystack(item):
    case = Case(item["question_id"], "user")
    for session, day, turns in zip(item["haystack_session_ids"], item["haystack_dates"], item["haystack_sessions"]):
        start = written_date(day)
        for at, turn in enumerate(turns):
            if turn["content"]:
                of_user = turn["role"] == "user"
                case.say(
                    session,
                    id=f"{session}/{at}",
                    speaker="user" if of_user else "assistant",
                    role="user" if of_user else "assistant",
                    time=start + at * PACE,
                    text=turn["content"],
                )
    asked_at = written_date(item["question_date"])
    case.questions.append(
        Question(item["question"], asked_at, item["question_type"], sessions=set(item["answer_session_ids"]))
    )
    return case


def garden(count):
    """Messages for the test of durability, all different, all with one word in common."""
    hedges = ("box", "yew", "beech", "holly", "privet", "hornbeam", "laurel", "hawthorn", "juniper", "lavender")
    texts = (f"In garden number {at} the {hedges[at % 10]} hedge needs water." for at in range(count))
    return [
        {"id": f"g{at}", "speaker": "Ana", "role": "user", "time": 1_700_000_000_000 + at * PACE, "text": text}
        for at, text in enumerate(texts)
    ]

"""Whether a small model answers better with memory in its turn, and whether memory spoils what it knows by itself.

    QUIPU_LLAMA_URL=http://127.0.0.1:8080/v1 python3 scripts/answers.py target/release/quipu --model NAME

Starts a Quipu of its own in a folder of its own, tells it ten facts of a person in ten chats, and asks in new chats: eight questions
about the person and eight general ones near the same words. Each is asked with memory and without. An answer is right if it has
the word.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
import urllib.request

FACTS = [
    "I live in Whitby, in a flat above a bakery.",
    "My dog is called Biscuit.",
    "I am allergic to walnuts.",
    "I work as a bridge inspector.",
    "My sister Clara breeds goats in Porto.",
    "I drive a red Skoda.",
    "My dentist is Dr. Okafor.",
    "I play the cello on Thursdays.",
    "I was born in Leeds in 1984.",
    "My favourite tea is lapsang.",
]
QUESTIONS = {
    "about the person": [
        ("In which town do I live?", "whitby"),
        ("What is my dog called?", "biscuit"),
        ("What food am I allergic to?", "walnut"),
        ("What is my job?", "bridge"),
        ("Where does my sister Clara live?", "porto"),
        ("Which car do I drive?", "skoda"),
        ("Who is my dentist?", "okafor"),
        ("Which instrument do I play?", "cello"),
    ],
    "general": [
        ("What is the capital of Australia?", "canberra"),
        ("In which town is the abbey that inspired Dracula?", "whitby"),
        ("Name the longest river of Africa.", "nile"),
        ("Which instrument has 88 keys?", "piano"),
        ("From which country does lapsang souchong tea come?", "china"),
        ("Which breed of dog is Lassie?", "collie"),
        ("Which city is the Sagrada Familia in?", "barcelona"),
        ("In which country are Skoda cars made?", "czech"),
    ],
}


def ask(url, body, headers=None):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer), answer.headers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--model", required=True)
    options = parser.parse_args()
    server = f"http://127.0.0.1:{random.randrange(20000, 32000)}"
    with tempfile.TemporaryDirectory() as root:
        command = [options.binary, "--root", root, "serve", "--listen", server.removeprefix("http://")]
        command += ["--upstream", os.environ["QUIPU_LLAMA_URL"]]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            ready = False
            while not ready and process.poll() is None:
                try:
                    ready = bool(urllib.request.urlopen(f"{server}/health/ready", timeout=5).read())
                except OSError:
                    time.sleep(0.1)
            for at, fact in enumerate(FACTS):
                said = {"sender_id": "ann", "role": "user", "timestamp": 1_764_000_000_000 + at * 86_400_000, "content": fact}
                noted = {**said, "sender_id": "bot", "role": "assistant", "timestamp": said["timestamp"] + 1000, "content": "Noted."}
                ask(f"{server}/api/v2/memory/add", {"session_id": f"s{at}", "messages": [said, noted]})
                ask(f"{server}/api/v2/memory/flush?wait=true", {"session_id": f"s{at}"})
            for kind, questions in QUESTIONS.items():
                right, given = {"read-only": 0, "off": 0}, 0
                for question, word in questions:
                    for memory in right:
                        messages = [
                            {"role": "system", "content": "Answer in one short sentence."},
                            {"role": "user", "content": question},
                        ]
                        body = {"model": options.model, "messages": messages, "max_tokens": 24, "temperature": 0}
                        headers = {"x-quipu-user": "ann", "x-quipu-memory": memory}
                        answer, answered = ask(f"{server}/v1/chat/completions", body, headers)
                        text = answer["choices"][0]["message"]["content"]
                        right[memory] += word in text.lower()
                        given += memory == "read-only" and "memories=0" not in (answered["x-quipu-injected"] or "memories=0")
                        print(f"{kind}, memory {memory}: {question} {text!r}")
                print(f"{kind}: right with memory {right['read-only']}, without {right['off']}, of {len(questions)}; {given} given memory")
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()

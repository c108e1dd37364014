"""A context engine for Quipu: the model sees the system messages and the newest other messages.

Quipu writes one JSON object a line to standard input and reads one line back. Write logs to standard error."""
import json
import sys

KEEP = 40  # the most messages that are kept

def tokens(message):  # a high estimate: Quipu takes no view that is over the limit
    return len(json.dumps(message)) // 2

def name(message):  # "m3.0" and "m3.1" are parts of one message of the client: they stay together
    return message["id"].split(".")[0]

def keep_last(messages, limit):
    users = [m for m in messages if m["role"] == "user"]
    must = [m for m in messages if m["role"] in ("system", "developer")] + users[-1:]
    kept, group, room = {name(m) for m in must}, [], limit - sum(map(tokens, must))
    for message in reversed(messages):  # the newest first
        if name(message) not in kept:
            group.append(message)
            if message["role"] != "tool":  # a tool's result stays with the message that called the tool
                room -= sum(map(tokens, group))
                if room < 0 or len(kept) + len(group) > KEEP:
                    break
                kept.update(map(name, group))
                group = []
    return [m for m in messages if name(m) in kept]  # unchanged and in their order

def answer(call):
    if call["hook"] == "bootstrap":  # the first call of each conversation
        return {"id": call["id"], "engine": {"id": "keep-last", "owns_compaction": True}}
    if call["hook"] in ("assemble", "compact"):
        view = keep_last(call["messages"], call.get("target_tokens", call["limit_tokens"]))
        return {"id": call["id"], "messages": view, "tokens": sum(map(tokens, view))}
    return {"id": call["id"]}  # the other hooks: Quipu's own behaviour

if __name__ == "__main__":
    for line in sys.stdin:  # it ends when Quipu ends
        print(json.dumps(answer(json.loads(line))), flush=True)

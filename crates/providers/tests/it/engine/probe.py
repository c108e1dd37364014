"""An engine that behaves as its first argument says. It calls itself by its process id."""
import json
import os
import sys
import time

mode, log = sys.argv[1], (sys.argv[2] if len(sys.argv) > 2 else None)
held = []


def note(word):
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.write(word + "\n")


def write(answer):
    print(json.dumps(answer), flush=True)


def lie(call):
    said = [{"role": "user", "content": "long " * 2000}]
    return {"id": call["id"], "messages": said, "tokens": 1}


def edited(call):
    messages = [dict(m, content=m["content"].upper()) if m["role"] == "user" else m for m in call["messages"]]
    return {"id": call["id"], "messages": messages}


def act(call):
    if mode == "die" or (mode == "die once" and not os.path.exists(log + ".died")):
        if log:
            open(log + ".died", "w", encoding="utf-8").close()
        sys.exit("no luck")
    if mode == "hang":
        time.sleep(1000)
    if mode == "garbage":
        print("hello", flush=True)
    elif mode == "no id":
        write({"messages": []})
    elif mode == "wrong id":
        write({"id": call["id"] + 1000})
    elif mode == "long":
        sys.stdout.write("x" * (65 << 20) + "\n")
        sys.stdout.flush()
    elif mode == "error":
        write({"id": call["id"], "error": "out of ideas"})
    elif mode == "text":
        write({"id": call["id"], "messages": "all of them"})
    elif mode == "swap":
        held.append({"id": call["id"], "messages": call["messages"]})
        if len(held) == 2:
            write(held.pop())
            write(held.pop())
    elif mode == "late":
        held.append({"id": call["id"], "messages": call["messages"]})
        if len(held) > 1:
            for answer in held:
                write(answer)
    elif mode == "stdin":
        os.close(0)
        write({"id": call["id"], "messages": call["messages"]})
        time.sleep(1000)
    elif mode == "lie":
        write(lie(call))
    elif mode == "edit":
        write(edited(call))
    elif call["hook"] in ("assemble", "compact"):
        write({"id": call["id"], "messages": call["messages"]})
    else:
        write({"id": call["id"]})


for line in sys.stdin:
    call = json.loads(line)
    if mode == "say":
        note(line.strip())
        write({**json.loads(sys.argv[3]), "id": call["id"]})
    elif call["hook"] == "bootstrap":
        note("bootstrap " + json.dumps(call["config"]))
        write({"id": call["id"], "engine": {"id": str(os.getpid())}})
    else:
        note(call["hook"])
        act(call)

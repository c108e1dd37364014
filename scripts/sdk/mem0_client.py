"""mem0's own client against a running Quipu, by base URL alone: QUIPU_URL is the address of the server."""

import asyncio
import os
import time

os.environ["MEM0_TELEMETRY"] = "False"

from mem0 import AsyncMemoryClient, MemoryClient  # noqa: E402
from mem0.exceptions import MemoryNotFoundError, ValidationError  # noqa: E402

URL = os.environ["QUIPU_URL"]
NUTS = [{"role": "user", "content": "I'm allergic to nuts."}, {"role": "assistant", "content": "Noted."}]


def done(memory, filters, count):
    """Waits until an owner has this many memories."""
    for _ in range(100):
        page = memory.get_all(filters=filters)
        if page["count"] == count:
            return
        time.sleep(0.1)
    raise AssertionError(page)


def refused(error, call, *args, **request):
    try:
        call(*args, **request)
    except error as refusal:
        return str(refusal)
    raise AssertionError(f"no {error}")


def sync():
    memory = MemoryClient(host=URL, api_key="any")
    ada = {"user_id": "mem0-ada"}
    assert memory.add(NUTS, user_id="mem0-ada")["status"] == "PENDING"
    done(memory, ada, 1)
    memory.add("What time is it in Lima?", user_id="mem0-ada", run_id="mem0-trip", infer=False)
    done(memory, ada, 2)
    page = memory.get_all(filters=ada, page=1, page_size=1)
    assert page["count"] == 2 and page["next"], page
    assert page["results"][0]["memory"] == "What time is it in Lima?", page
    fact = memory.search("which food is dangerous, nuts?", filters=ada, top_k=1)["results"][0]
    assert "allergic to nuts" in fact["memory"], fact
    assert memory.get(fact["id"])["memory"] == fact["memory"]
    memory.update(fact["id"], text="Ada is allergic to peanuts.")
    assert memory.get(fact["id"])["memory"] == "Ada is allergic to peanuts."
    run = memory.get_all(filters={"AND": [ada, {"run_id": "mem0-trip"}]})["results"]
    assert [one["memory"] for one in run] == ["What time is it in Lima?"], run
    memory.delete(run[0]["id"])
    memory.delete(fact["id"])
    refused(MemoryNotFoundError, memory.get, fact["id"])
    assert memory.get_all(filters=ada)["results"] == []
    assert "not allowed in an id" in refused(ValidationError, memory.add, "Hello.", user_id="auth0|1")
    bob = {"user_id": "mem0-bob"}
    memory.add("I live in Lisbon.", user_id="mem0-bob")
    done(memory, bob, 1)
    assert "Quipu has no" in refused(MemoryNotFoundError, memory.users)
    memory.delete_all(user_id="mem0-bob")
    assert memory.get_all(filters=bob)["count"] == 0


async def concurrent():
    memory = AsyncMemoryClient(host=URL, api_key="any")
    await memory.add("I live in Porto.", user_id="mem0-eva")
    for _ in range(100):
        found = await memory.search("Where does Eva live?", filters={"user_id": "mem0-eva"})
        if found["results"]:
            break
        await asyncio.sleep(0.1)
    assert "Porto" in found["results"][0]["memory"], found
    await memory.delete_all(user_id="mem0-eva")


sync()
asyncio.run(concurrent())
print("mem0ai works")

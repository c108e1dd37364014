"""The Python package of this repository, with the real libraries that it works with, against a real server.

    python3 scripts/sdk/own.py QUIPU     # the path of a binary; `make sdk` runs it in .tools/sdk/venv
"""

import asyncio
import http.server
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest.mock

import httpx
from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.graph import START, MessagesState, StateGraph
from model import Model
from openai import AsyncOpenAI

import quipu
from quipu.agents import QuipuSession
from quipu.langchain import QuipuChatMessageHistory, QuipuRetriever
from quipu.langgraph import QuipuStore

BINARY = sys.argv[1]


def said(sender, content, role="user"):
    return {"sender_id": sender, "role": role, "content": content}


def raised(code, call, *args, **request):
    try:
        call(*args, **request)
    except quipu.QuipuError as error:
        assert error.code == code, error
        return error
    raise AssertionError(f"no {code}")


def memories(url):
    with quipu.Quipu(url) as memory:
        boat = [said("ada", "My boat is called Marula."), said("bot", "Noted.", "assistant")]
        added = memory.add(session_id="chat/1", messages=boat)
        assert added["message_count"] == 2, added
        assert memory.flush(session_id="chat/1", wait=True)["status"] == "extracted"
        found = memory.search(user_id="ada", query="What is the boat called?", include_messages=1)
        assert found["messages"][0]["content"] == "My boat is called Marula.", found
        injected = memory.context(user_id="ada", query="What is my boat called?")
        assert "Marula" in injected["context"] and injected["context"].startswith("<quipu-memory"), injected
        episode = memory.list(user_id="ada", memory_type="episode")["episodes"][0]
        assert memory.read(episode["id"])["episodes"][0]["id"] == episode["id"]
        edit = memory.edit(id=episode["id"], episode="Ada's boat is called Nyala.")
        assert edit["changed"] == ["episode"], edit
        patch = {"subject": "The boat"}
        updated = memory.update(memory_type="episode", memory_id=episode["id"], patch=patch)
        assert "The boat" in str(updated), updated
        assert memory.history(user_id="ada", limit=5).keys() == {"changes"}
        raised("NOT_FOUND", memory.undo, run_id="r_1")
        assert memory.delete(ids=[episode["id"]])["count"] >= 1
        assert memory.list(user_id="ada", memory_type="episode")["total_count"] == 0
        memory.forget(user_id="ada")
        assert memory.search(user_id="ada", query="boat", include_messages=5)["messages"] == []
        assert memory.health()["status"] == "ok"


def documents(url):
    with quipu.Quipu(url) as memory:
        stored = memory.documents.upload(("boats.md", b"# Boats\n\nMarula sails from Lisbon at seven.\n"), title="Boats")
        hits = memory.documents.search(query="When does Marula sail?", include_content=True)["hits"]
        assert "at seven" in hits[0]["content"], hits
        assert memory.documents.list(app_id=None)["total"] == 1
        assert memory.documents.read(stored["doc_id"])["title"] == "Boats"
        assert memory.documents.delete(stored["doc_id"])
        assert memory.documents.delete(stored["doc_id"], app_id=None) is None


def conversations(url):
    named = {"user_id": "ada", "conversation_id": "house"}
    with quipu.Quipu(url) as memory:
        talk = memory.conversations
        raised("NOT_FOUND", talk.assemble, **named)
        talk.append(**named, messages=[{"role": "user", "content": "The plumber is Ernesto."}])
        request = talk.assemble(**named, window_tokens=8_192, system="Be brief.")
        assert [message["role"] for message in request["messages"]] == ["system", "user"], request
        talk.after_turn(**named, message={"role": "assistant", "content": "Noted."}, prompt_tokens=30)
        assert talk.list(user_id="ada")["conversations"] == ["house"]
        assert talk.find(**named, query="plumber")["messages"][0]["id"] == "m0"
        assert talk.recover(**named, id="m1")["messages"][0]["message"]["content"] == "Noted."
        assert talk.stats(**named)
        assert talk.compact(**named, window_tokens=8_192)
        talk.rewind(**named, to="m1")
        assert len(talk.view(**named)["messages"]) == 1
        memory.forget(session_id="ada/house")


async def asynchronous(url):
    async with quipu.AsyncQuipu(url) as memory:
        adds = (memory.add(session_id=f"a{n}", messages=[said("eve", f"Number {n}.")]) for n in range(20))
        assert {added["message_count"] for added in await asyncio.gather(*adds)} == {1}
        found = await memory.search(user_id="eve", query="number", include_messages=100)
        assert len(found["messages"]) == 20
        await memory.forget(user_id="eve")


class Faulty(http.server.BaseHTTPRequestHandler):
    """Cuts the connection as often as it was told, then passes the request on."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.append(self.path)
        if self.server.passes:
            answer = httpx.post(self.server.target + self.path, content=body, headers={"content-type": "application/json"})
        if self.server.cuts:
            self.server.cuts -= 1
            return
        self.send_response(answer.status_code)
        self.send_header("content-length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_):
        pass


def retries(url):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
    server.target, server.asked, server.passes = url, [], True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with quipu.Quipu(f"http://127.0.0.1:{server.server_port}") as memory:
        # The server did the work, and its answer was lost.
        server.cuts = 2
        added = memory.add(session_id="cut", messages=[said("zoe", "Once only.")])
        assert added["duplicates"] == 1 and len(server.asked) == 3, (added, server.asked)
        found = memory.search(user_id="zoe", query="once", include_messages=5)
        assert len(found["messages"]) == 1, found
        server.cuts, server.asked = 3, []
        raised("UNREACHABLE", memory.search, user_id="zoe", query="once")
        assert len(server.asked) == 3
        server.cuts, server.asked = 1, []
        hello = [{"role": "user", "content": "Hi"}]
        raised("UNREACHABLE", memory.conversations.append, user_id="zoe", conversation_id="c", messages=hello)
        assert len(server.asked) == 1, "an append is not repeated"
    server.shutdown()


def errors(url):
    with quipu.Quipu(url) as memory:
        error = raised("INVALID_INPUT", memory.search, user_id="ada", query="")
        assert error.status == 422 and error.request_id and "query" in error.message, error
        assert raised("NOT_FOUND", memory.read, "ada_ep_1").status == 404
    with Model() as other, quipu.Quipu(other.url) as stranger:
        assert "check the URL" in raised("HTTP_404", stranger.health).message
    with quipu.Quipu("http://127.0.0.1:9", retries=0) as nobody:
        assert raised("UNREACHABLE", nobody.health).request_id is None


def langgraph(url):
    store = QuipuStore(quipu.Quipu(url))
    ana, bob = ("memories", "ana"), ("memories", "bob")
    store.put(ana, "food", {"text": "Ana loves pizza", "rating": 5})
    store.put(ana, "pet", {"text": "Ana has a dog called Rex", "rating": 3})
    store.put(bob, "food", {"text": "Bob eats fish"})
    item = store.get(ana, "food")
    assert item.value == {"text": "Ana loves pizza", "rating": 5} and item.namespace == ana and item.key == "food"
    assert store.get(ana, "nothing") is None
    assert store.search(ana, query="Which animal lives with Ana?")[0].key == "pet"
    assert {item.key for item in store.search(ana, query="Ana")} == {"food", "pet"}
    assert [item.key for item in store.search(ana, filter={"rating": {"$gt": 4}})] == ["food"]
    assert len(store.search(("memories",), limit=2)) == 2
    with unittest.mock.patch("quipu.langgraph.PAGE", 2):
        assert len(store.search(("memories",))) == 3
    assert store.list_namespaces() == [ana, bob]
    assert store.list_namespaces(suffix=("bob",)) == [bob] and store.list_namespaces(max_depth=1) == [("memories",)]
    store.put(ana, "food", {"text": "Ana loves sushi now"})
    changed = store.get(ana, "food")
    assert changed.value == {"text": "Ana loves sushi now"}, changed
    assert changed.created_at == item.created_at and changed.updated_at > item.updated_at
    store.delete(ana, "pet")
    assert store.get(ana, "pet") is None and len(store.search(ana)) == 1

    def node(state, *, store):
        likes = store.search(ana, query=state["messages"][-1].content, limit=1)
        return {"messages": [AIMessage(likes[0].value["text"])]}

    graph = StateGraph(MessagesState).add_node("answer", node).add_edge(START, "answer").compile(store=store)
    state = graph.invoke({"messages": [HumanMessage("What does Ana love?")]})
    assert state["messages"][-1].content == "Ana loves sushi now", state
    assert asyncio.run(store.aget(bob, "food")).value == {"text": "Bob eats fish"}


def langchain(url):
    client = quipu.Quipu(url)

    def history(name):
        return QuipuChatMessageHistory(name, user_id="lea", client=client)

    def answer(messages):
        return AIMessage(f"{len(messages)} messages")

    chat = RunnableWithMessageHistory(RunnableLambda(answer), history)
    at = {"configurable": {"session_id": "boats"}}
    assert chat.invoke([HumanMessage("My boat is called Marula.")], at).content == "1 messages"
    assert chat.invoke([HumanMessage("Is she fast?")], at).content == "3 messages"
    kept = history("boats").messages
    assert [message.type for message in kept] == ["human", "ai", "human", "ai"], kept
    call = {"name": "weather", "args": {"city": "Lisbon"}, "id": "c1"}
    tools = [HumanMessage("Weather?"), AIMessage("", tool_calls=[call]), ToolMessage("sunny", tool_call_id="c1")]
    history("tools").add_messages(tools)
    again = history("tools").messages
    assert again[1].tool_calls[0]["args"] == {"city": "Lisbon"} and again[2].content == "sunny", again
    documents = QuipuRetriever(client=client, user_id="lea").invoke("What is my boat called?")
    assert "Marula" in documents[0].page_content and documents[0].page_content.startswith("<quipu-memory"), documents
    history("boats").clear()
    assert history("boats").messages == []
    assert QuipuRetriever(client=client, user_id="lea").invoke("What is my boat called?") == []


async def agents(url):
    set_tracing_disabled(True)
    with Model() as model:
        openai = AsyncOpenAI(base_url=f"{model.url}/v1", api_key="none")
        agent = Agent(name="Helper", model=OpenAIResponsesModel("tiny", openai))
        session = QuipuSession("talk", user_id="kim", client=quipu.AsyncQuipu(url))
        assert await session.get_items() == []
        await Runner.run(agent, "My boat is called Marula.", session=session)
        await Runner.run(agent, "What is my boat called?", session=session)
        assert "Marula" in str(model.asked[1]["input"]), model.asked[1]
        learnt = await quipu.AsyncQuipu(url).context(user_id="kim", query="What is my boat called?", session_id="another")
        assert "Marula" in learnt["context"], learnt
        items = await session.get_items()
        assert [item["role"] for item in items] == ["user", "assistant"] * 2, items
        assert await session.get_items(limit=1) == items[-1:]
        assert await session.pop_item() == items[-1]
        assert await session.get_items() == items[:-1]
        await session.clear_session()
        assert await session.get_items() == [] and await session.pop_item() is None


def started(root):
    with quipu.start(root, binary=BINARY) as server:
        assert quipu.Quipu(server.url).health()["status"] == "ok"
        error = raised("NOT_STARTED", quipu.start, root, binary=BINARY)
        assert "standard error" in error.message
    other = pathlib.Path(root, "other")
    for words in ("echo hello; exec sleep 60", "echo serving x on http://127.0.0.1:9"):
        other.write_text(f"#!/bin/sh\n{words}\n")
        other.chmod(0o755)
        raised("NOT_STARTED", quipu.start, binary=other)
    raised("UNREACHABLE", quipu.Quipu(server.url, retries=0).health)
    # Also if its owner is killed, nothing stays behind.
    program = f"import quipu; print(quipu.start({str(root)!r}, binary={BINARY!r}).url, flush=True); input()"
    owner = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    url = owner.stdout.readline().strip()
    assert quipu.Quipu(url).health()
    os.kill(owner.pid, signal.SIGKILL)
    owner.communicate()
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            httpx.get(f"{url}/health/live")
        except httpx.TransportError:
            return
    raise AssertionError("the server outlives its owner")


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        started(pathlib.Path(folder))
        print("python start: well")
        with quipu.start(folder, binary=BINARY) as server:
            for check in (memories, documents, conversations, asynchronous, retries, errors, langgraph, langchain, agents):
                outcome = check(server.url)
                if asyncio.iscoroutine(outcome):
                    asyncio.run(outcome)
                print(f"python {check.__name__}: well")


if __name__ == "__main__":
    main()

"""The official Python client of the Model Context Protocol against `quipu mcp` and `/mcp`, in both eras of the protocol.

    QUIPU_URL=http://127.0.0.1:4777 python3 scripts/sdk/agent.py QUIPU    # the binary, and a running server of another root
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters

QUIPU = sys.argv[1]
URL = f"{os.environ['QUIPU_URL']}/mcp"
TOOLS = [tool["name"] for tool in json.loads((Path(__file__).parents[2] / "crates/mcp/src/tools.json").read_text())]


def is_marked(text):
    return text == "nothing found" or text.startswith("<quipu-memory note=") and "\n</quipu-memory>" in text


def memories(result):
    assert not result.is_error, result
    assert is_marked(result.content[0].text), result
    return result.structured_content["memories"]


async def look(client):
    """What a client sees before it calls anything."""
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == TOOLS
    assert all(tool.annotations and tool.output_schema for tool in listed)
    wire = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed]
    tokens = len(json.dumps(wire)) // 4
    assert tokens <= 1000, tokens
    assert "memory" in client.instructions
    prompts = (await client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["what_do_you_know_about_me", "review_what_you_believe", "save_this"]
    saved = await client.get_prompt("save_this", {"text": "I like tea."})
    assert "I like tea." in saved.messages[0].content.text
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == ["quipu://memory/{id}", "quipu://day/{date}"]
    return tokens


async def use(client):
    """Remember, find, read, change and forget."""
    kept = await client.call_tool("remember", {"text": "My boat is called Marula."})
    assert kept.structured_content["id"].startswith("m_"), kept
    hit = memories(await client.call_tool("search", {"query": "what is my boat called?"}))[0]
    assert "Marula" in hit["text"] and hit["who"] == "me" and hit["score"] > 0 and hit["why"], hit
    told = memories(await client.call_tool("recall_session", {"session": kept.structured_content["session"]}))
    assert any("Marula" in memory["text"] for memory in told), told
    wrong = await client.call_tool("search", {"query": "x", "bogus": 1})
    assert wrong.is_error and "bogus" in wrong.content[0].text and "query" in wrong.content[0].text, wrong
    missing = await client.call_tool("read", {"id": "me_ep_none"})
    assert missing.is_error, missing
    for uri in ["quipu://memory/me_ep_none", "quipu://none"]:
        try:
            raise AssertionError(await client.read_resource(uri))
        except MCPError as refused:
            assert refused.error.data == {"uri": uri}, refused


async def of_episodes(client, quipu):
    """What needs an episode: the command line ends the segment."""
    await quipu("add", "--session", "trip", "--flush", "I moved to Lisbon in March.")
    listed = memories(await client.call_tool("list", {"kind": "fact"}))
    fact = next(memory for memory in listed if "Lisbon" in memory["text"])
    whole = memories(await client.call_tool("read", {"id": fact["id"]}))[0]
    assert whole["messages"] and whole["file"].endswith(".md"), whole
    resource = await client.read_resource(f"quipu://memory/{fact['id']}")
    assert "Lisbon" in resource.contents[0].text and is_marked(resource.contents[0].text)
    day = next(resource for resource in (await client.list_resources()).resources if resource.uri.startswith("quipu://day/"))
    assert "Lisbon" in (await client.read_resource(day.uri)).contents[0].text
    core = (await client.read_resource("quipu://core")).contents[0].text
    assert is_marked(core) and "Lisbon" in core, core
    # Background runs write it, in a server.
    assert is_marked((await client.read_resource("quipu://profile")).contents[0].text)
    await client.call_tool("update", {"id": fact["id"], "text": "I moved to Porto in March."})
    assert "Porto" in memories(await client.call_tool("read", {"id": fact["id"]}))[0]["text"]
    shown = await client.call_tool("forget", {"ids": [fact["id"]]})
    assert shown.structured_content["deleted"] == 0 and "Porto" in shown.content[0].text, shown
    code = shown.structured_content["confirm"]
    gone = await client.call_tool("forget", {"ids": [fact["id"]], "confirm": code})
    assert gone.structured_content["deleted"] >= 1, gone
    assert (await client.call_tool("read", {"id": fact["id"]})).is_error


async def over_stdio(mode):
    with tempfile.TemporaryDirectory() as root:

        async def quipu(*arguments):
            command = await asyncio.create_subprocess_exec(os.path.abspath(QUIPU), "--root", root, *arguments, stdout=asyncio.subprocess.DEVNULL)
            assert await command.wait() == 0

        # Outside any repository, so that the agent and the command line share a project.
        server = StdioServerParameters(command=os.path.abspath(QUIPU), args=["mcp", "--root", root], cwd=root)
        started = time.monotonic()
        async with Client(server, mode=mode) as client:
            tokens = await look(client)
            ready = (time.monotonic() - started) * 1000
            await use(client)
            await of_episodes(client, quipu)
            version = client.protocol_version
    print(f"mcp over stdio, {version}: {len(TOOLS)} tools in {tokens} tokens, listed after {ready:.0f} ms, all well")


async def over_http(mode):
    async with Client(URL, mode=mode) as client:
        await look(client)
        await use(client)
        # A second call of the same search, when the connection and the rows are there.
        times = []
        for _ in range(20):
            started = time.monotonic()
            memories(await client.call_tool("search", {"query": "what is my boat called?"}))
            times.append((time.monotonic() - started) * 1000)
    print(f"mcp over HTTP, {client_version(mode)}: all well, a search takes {sorted(times)[10]:.1f} ms")


def client_version(mode):
    return "initialize" if mode == "legacy" else "2026-07-28"


for mode in ["legacy", "auto"]:
    asyncio.run(over_stdio(mode))
    asyncio.run(over_http(mode))

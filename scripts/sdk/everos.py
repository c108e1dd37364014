"""EverOS's own clients against a running Quipu: `everos-cloud` and the seven tools of `everos-mcp`. QUIPU_URL is the address of the server."""

import asyncio
import json
import os
import pathlib
import sys
import urllib.request

from everos_cloud.client import EverOS
from everos_cloud.models import Data, Data1, ExplicitInfoData, ExplicitInfoPatch
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

URL = os.environ["QUIPU_URL"]
SESSION = "everos-eve-1"
TOOLS = {
    "search_memory",
    "add_memory",
    "get_profile",
    "list_memories",
    "forget_session",
    "record_trajectory",
    "recall_agent_experience",
}


def written(session):
    """Waits for the memories of a session. EverOS's clients cannot ask for that: their flush ends the segment and goes on."""
    body = json.dumps({"session_id": session}).encode()
    flush = urllib.request.Request(f"{URL}/api/v2/memory/flush?wait=true", body, {"content-type": "application/json"})
    urllib.request.urlopen(flush).close()


def cloud():
    memory = EverOS(api_key="any", host=URL)
    said = [{"role": "user", "sender_id": "everos-ann", "content": "I'm allergic to nuts."}]
    assert memory.add("everos-1", said, async_mode=False).message_count == 1
    assert memory.flush("everos-1").status == "extracted"
    queued = memory.add("everos-2", said, async_mode=True)
    assert queued.status == "queued", queued
    assert memory.task_wait(memory.task_list().items[0].id, interval=0.1).status == "success"
    written("everos-1")
    found = memory.search("nuts", user_id="everos-ann", include_profile=True)
    assert "nuts" in found.episodes[0].episode, found
    episode = memory.get("episode", user_id="everos-ann").episodes[0]
    assert memory.update(episode.id, episode="Ann avoids nuts.", reason="wrong_subject").episode == "Ann avoids nuts."
    boat = Data(ExplicitInfoData(category="Boat", description="Ann sails a yawl."))
    edited = memory.edit("everos-ann", [{"action": "add", "type": "explicit_info", "data": boat}])
    assert edited.applied == 1, edited
    statement = edited.results[0].new_item_id
    sold = Data1(ExplicitInfoPatch(description="Ann sold it."))
    changed = {"action": "update", "type": "explicit_info", "item_id": statement, "data": sold}
    assert memory.edit("everos-ann", [changed]).applied == 1
    assert "Ann sold it." in str(memory.get("profile", user_id="everos-ann").profiles)
    gone = {"action": "delete", "type": "explicit_info", "item_id": statement}
    assert memory.edit("everos-ann", [gone]).applied == 1
    assert memory.delete_by_ids([episode.id], reason="redundant").success
    assert memory.delete(user_id="everos-ann").filters == ["user_id"]
    assert memory.get("episode", user_id="everos-ann").total_count == 0


async def tools():
    command = pathlib.Path(sys.executable).with_name("everos-mcp")
    env = {"EVEROS_BASE_URL": URL, "EVEROS_USER_ID": "everos-eve", "EVEROS_SESSION_ID": SESSION, "PATH": os.environ["PATH"]}
    async with (
        stdio_client(StdioServerParameters(command=str(command), env=env)) as streams,
        ClientSession(*streams) as session,
    ):
        await session.initialize()
        assert {tool.name for tool in (await session.list_tools()).tools} == TOOLS

        async def call(name, **arguments):
            result = await session.call_tool(name, arguments)
            assert not result.isError, result
            return result.content[0].text

        stored = await call("add_memory", user_message="My boat is called Marula.", wait=True)
        assert "Error" not in stored, stored
        written(SESSION)
        assert "Marula" in await call("search_memory", query="boat", include_profile=True)
        assert "Marula" in await call("list_memories")
        await call("get_profile")
        work = [{"role": "user", "content": "Fix the build."}, {"role": "assistant", "content": "Done."}]
        assert "Trajectory" in await call("record_trajectory", messages=work)
        await call("recall_agent_experience", task="build")
        forgotten = await call("forget_session")
        assert "unsupported" not in forgotten.lower(), forgotten


cloud()
asyncio.run(tools())
print("everos-cloud and everos-mcp work")

// The official TypeScript client of the Model Context Protocol against /mcp: QUIPU_URL=http://127.0.0.1:4777 node scripts/sdk/agent.mjs
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const url = new URL(`${process.env.QUIPU_URL}/mcp`);
const client = new Client({ name: "check", version: "1" });
await client.connect(new StreamableHTTPClientTransport(url));

const { tools } = await client.listTools();
assert.equal(tools.length, 8);
assert.ok(tools.every((tool) => tool.annotations && tool.outputSchema));
await client.callTool({ name: "remember", arguments: { text: "My parrot is called Kiko." } });
const found = await client.callTool({ name: "search", arguments: { query: "what is the parrot called?" } });
assert.match(found.content[0].text, /^<quipu-memory note=/);
assert.ok(found.structuredContent.memories.some((memory) => memory.text.includes("Kiko")));
const wrong = await client.callTool({ name: "search", arguments: { query: "x", bogus: 1 } });
assert.ok(wrong.isError && wrong.content[0].text.includes("bogus"));
const { resources } = await client.listResources();
assert.deepEqual(resources.slice(0, 2).map((resource) => resource.uri), ["quipu://core", "quipu://profile"]);
assert.ok((await client.readResource({ uri: "quipu://profile" })).contents[0].text);
await client.close();

// A page elsewhere is refused, one of this machine is not.
const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
const from = async (origin) => {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", origin };
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(ping) })).status;
};
assert.equal(await from("https://evil.example"), 403);
assert.equal(await from("http://localhost:3000"), 200);
console.log("npm @modelcontextprotocol/client: well");

// mem0's own client for Node against a running Quipu, by base URL alone: QUIPU_URL is the address of the server.
process.env.MEM0_TELEMETRY = "false";
const { MemoryClient } = await import("mem0ai");
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";

const memory = new MemoryClient({ host: process.env.QUIPU_URL, apiKey: "any" });
await memory.ping();
const added = await memory.add([{ role: "user", content: "I'm allergic to nuts." }], { userId: "mem0-node" });
assert.equal(added.status, "PENDING");
const filters = { user_id: "mem0-node" };
let found = { results: [] };
for (let attempt = 0; attempt < 100 && found.results.length === 0; attempt += 1) {
  await setTimeout(100);
  found = await memory.search("nuts", { filters });
}
const [fact] = found.results;
assert.match(fact.memory, /allergic to nuts/);
assert.equal(fact.userId, "mem0-node");
assert.equal((await memory.get(fact.id)).memory, fact.memory);
await memory.update(fact.id, { text: "She is allergic to peanuts." });
assert.equal((await memory.getAll({ filters, page: 1, pageSize: 5 })).results[0].memory, "She is allergic to peanuts.");
await memory.delete(fact.id);
assert.equal((await memory.getAll({ filters })).count, 0);
await memory.deleteAll({ userId: "mem0-node" });
await assert.rejects(memory.users(), /Quipu has no/);
await assert.rejects(memory.feedback({ memory_id: fact.id, feedback: "POSITIVE" }), /Quipu has no/);
console.log("mem0ai for Node works");

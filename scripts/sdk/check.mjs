// The official `openai` package of npm, unmodified, through Quipu: QUIPU_URL=http://127.0.0.1:4777 node scripts/sdk/check.mjs
import assert from "node:assert/strict";
import OpenAI from "openai";

const ask = new OpenAI({ baseURL: `${process.env.QUIPU_URL}/v1`, apiKey: "none", maxRetries: 0 });
const user = (content) => ({ role: "user", content });
const messages = [user("Hello there, I am a goat.")];

const plain = await ask.chat.completions.create({ model: "tiny", messages });
assert.equal(plain.choices[0].message.content, "You said: Hello there, I am a goat.");

const pieces = [];
for await (const chunk of await ask.chat.completions.create({ model: "tiny", messages, stream: true })) {
  pieces.push(chunk.choices[0]?.delta?.content ?? "");
}
assert.ok(pieces.filter(Boolean).length > 1);
assert.equal(pieces.join(""), plain.choices[0].message.content);

const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } }];
const talk = [user("Use the tool.")];
const call = (await ask.chat.completions.create({ model: "tiny", messages: talk, tools })).choices[0].message;
assert.equal(call.tool_calls[0].function.name, "weather");
talk.push(call, { role: "tool", tool_call_id: call.tool_calls[0].id, content: "sunny" });
const final = await ask.chat.completions.create({ model: "tiny", messages: talk, tools });
assert.match(final.choices[0].message.content, /^You said: /);
console.log("npm openai: well");

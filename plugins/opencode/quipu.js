// Memory for opencode: runs `quipu hook` for each prompt and answer, as the hooks of the other agents do.
import { spawn } from "node:child_process";

const COMMAND = ["quipu", "hook"];
const TIMEOUT_MS = 10_000;

/** What Quipu adds to an event; empty where it adds nothing or is not there: the agent goes on without memory. */
function hook(name, session, fields) {
  return new Promise((resolve) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS });
    let said = "";
    child.stdout.on("data", (data) => (said += data));
    child.stdin.on("error", () => {});
    child.on("error", () => resolve(""));
    child.on("close", () => {
      try {
        resolve(JSON.parse(said).hookSpecificOutput.additionalContext);
      } catch {
        resolve("");
      }
    });
    child.stdin.end(JSON.stringify({ hook_event_name: name, session_id: session, ...fields }));
  });
}

const text = (parts) =>
  parts
    .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
    .map((part) => part.text)
    .join("\n");

export const Quipu = async ({ client }) => {
  /** Whether a person talks in a session: a subagent's has a parent. */
  const people = new Map();
  /** Sessions that do not show what opens a session. */
  const unopened = new Set();

  const messages = async (id) => (await client.session.messages({ path: { id } })).data ?? [];
  const isPersons = async (id) => {
    if (!people.has(id)) {
      const session = (await client.session.get({ path: { id } })).data;
      people.set(id, !session?.parentID);
      if ((await messages(id)).length === 0) unopened.add(id);
    }
    return people.get(id);
  };

  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const prompt = text(parts);
      if (!prompt || !(await isPersons(sessionID))) return;
      const opening = unopened.delete(sessionID) ? hook("SessionStart", sessionID, { source: "startup" }) : "";
      const recalled = hook("UserPromptSubmit", sessionID, { prompt, prompt_id: message.id });
      const added = (await Promise.all([opening, recalled])).filter(Boolean).join("\n\n");
      if (!added) return;
      // opencode orders parts by their ids: this one comes after the person's words, now and when the session is read again.
      const id = `${parts.at(-1).id}q`;
      parts.push({ id, sessionID, messageID: message.id, type: "text", synthetic: true, text: added });
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      await hook("PreCompact", sessionID, {});
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID;
      if (event.type === "session.compacted") unopened.add(session);
      if (event.type !== "session.idle" || !(await isPersons(session))) return;
      const last = (await messages(session)).at(-1);
      if (last?.info.role !== "assistant" || last.info.summary) return;
      await hook("Stop", session, { last_assistant_message: text(last.parts), prompt_id: last.info.parentID });
    },
  };
};

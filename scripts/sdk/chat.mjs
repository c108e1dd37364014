// One chat of one message through the AI SDK: OPENAI_BASE_URL=http://127.0.0.1:4777/v1 node chat.mjs MESSAGE
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";

const quipu = createOpenAICompatible({ name: "quipu", baseURL: process.env.OPENAI_BASE_URL, apiKey: "none" });
const answer = streamText({ model: quipu("tiny"), prompt: process.argv[2], maxRetries: 0 });
console.log(await answer.text);

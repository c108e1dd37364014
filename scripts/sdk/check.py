"""The official `openai` and `anthropic` packages, unmodified, through Quipu before a server without a model.

    cargo run -p testkit --example backend            # prints its address
    quipu serve --upstream ADDRESS
    pip install openai anthropic && QUIPU_URL=http://127.0.0.1:4777 python3 scripts/sdk/check.py
"""

import asyncio
import os

import anthropic
import openai

BASE = os.environ["QUIPU_URL"]
ask = openai.OpenAI(base_url=f"{BASE}/v1", api_key="none", max_retries=0)
claude = anthropic.Anthropic(base_url=BASE, api_key="none", max_retries=0)
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}}


def user(text):
    return {"role": "user", "content": text}


def plain_and_streamed():
    messages = [user("Hello there, I am a parrot.")]
    plain = ask.chat.completions.create(model="tiny", messages=messages)
    said = plain.choices[0].message.content
    assert said == "You said: Hello there, I am a parrot.", said
    assert plain.usage.prompt_tokens > 0
    pieces = [
        chunk.choices[0].delta.content or ""
        for chunk in ask.chat.completions.create(model="tiny", messages=messages, stream=True)
        if chunk.choices
    ]
    assert len([piece for piece in pieces if piece]) > 1, pieces
    assert "".join(pieces) == said, pieces


def conversation():
    messages = []
    cached = 0
    for turn in range(4):
        messages.append(user(f"Turn {turn} of a talk about goats and bicycles."))
        answer = ask.chat.completions.with_raw_response.create(model="tiny", messages=messages)
        assert answer.headers["x-quipu-conversation"], "it is named"
        parsed = answer.parse()
        messages.append(parsed.choices[0].message.model_dump(exclude_none=True))
        cached = parsed.usage.prompt_tokens_details.cached_tokens
    assert cached > 0, "the prefix is kept"


def tools():
    tool = {"type": "function", "function": {"name": "weather", "parameters": WEATHER}}
    messages = [user("Use the tool to look at the weather.")]
    call = ask.chat.completions.create(model="tiny", messages=messages, tools=[tool]).choices[0].message
    assert call.tool_calls[0].function.name == "weather"
    assert call.tool_calls[0].function.arguments == '{"city": "Lisbon"}'
    messages.append(call.model_dump(exclude_none=True))
    messages.append({"role": "tool", "tool_call_id": call.tool_calls[0].id, "content": "sunny"})
    final = ask.chat.completions.create(model="tiny", messages=messages, tools=[tool])
    assert final.choices[0].message.content.startswith("You said: "), final


async def parallel():
    client = openai.AsyncOpenAI(base_url=f"{BASE}/v1", api_key="none", max_retries=0)

    async def one(number):
        answer = await client.chat.completions.create(model="tiny", messages=[user(f"Number {number}")])
        assert answer.choices[0].message.content == f"You said: Number {number}"

    await asyncio.gather(*(one(number) for number in range(20)))


def others_and_errors():
    assert ask.models.list().data
    assert ask.embeddings.create(model="tiny", input="goat").data[0].embedding
    try:
        ask.chat.completions.create(model="tiny", messages=[user("Hi")], extra_headers={"x-quipu-memory": "maybe"})
        raise AssertionError("no error")
    except openai.UnprocessableEntityError as error:
        assert "x-quipu-memory" in str(error), error


def of_anthropic():
    answer = claude.messages.create(model="tiny", max_tokens=100, messages=[user("Hello there.")])
    assert answer.content[0].text == "You said: Hello there.", answer
    with claude.messages.stream(model="tiny", max_tokens=100, messages=[user("Hello there.")]) as stream:
        assert "".join(stream.text_stream) == "You said: Hello there."
    tool = {"name": "weather", "input_schema": WEATHER}
    messages = [user("Use the tool to look at the weather.")]
    call = claude.messages.create(model="tiny", max_tokens=100, messages=messages, tools=[tool])
    block = next(block for block in call.content if block.type == "tool_use")
    assert block.input == {"city": "Lisbon"}, block
    messages.append({"role": "assistant", "content": [part.model_dump(exclude_none=True) for part in call.content]})
    result = {"type": "tool_result", "tool_use_id": block.id, "content": "sunny"}
    messages.append({"role": "user", "content": [result]})
    final = claude.messages.create(model="tiny", max_tokens=100, messages=messages, tools=[tool])
    assert final.content[0].type == "text", final
    assert claude.messages.count_tokens(model="tiny", messages=[user("Hi")]).input_tokens > 0


for check in [plain_and_streamed, conversation, tools, others_and_errors, of_anthropic]:
    check()
    print(f"{check.__name__}: well")
asyncio.run(parallel())
print("parallel: well")

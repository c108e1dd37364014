"""One chat of one message through a Python client, which finds its server in the environment: chat.py CLIENT MESSAGE."""

import sys

client, message = sys.argv[1:]
messages = [{"role": "user", "content": message}]

if client == "openai":
    import openai

    print(openai.OpenAI().chat.completions.create(model="tiny", messages=messages).choices[0].message.content)
elif client == "anthropic":
    import anthropic

    answer = anthropic.Anthropic().messages.create(model="tiny", max_tokens=100, messages=messages)
    print(answer.content[0].text)
elif client == "litellm":
    import litellm

    chunks = litellm.completion(model="openai/tiny", messages=messages, stream=True)
    print("".join(chunk.choices[0].delta.content or "" for chunk in chunks))
elif client == "langchain":
    from langchain_openai import ChatOpenAI

    print(ChatOpenAI(model="tiny").invoke(message).content)
else:
    sys.exit(f"no client is called {client}")

"""A loop over the OpenAI SDK whose tools live in an MCP server, reached over stdio. Both processes are instrumented."""
import asyncio
import json
import os
import sys

import common
import instrument

flush = instrument.start()
import openai
from mcp import Client, StdioServerParameters

common.facts(system_prompt=common.SYSTEM)
common.plan()


async def main():
    model = openai.AsyncOpenAI(base_url=common.BASE_URL, max_retries=0)
    messages = [{"role": "system", "content": common.SYSTEM}]
    server = StdioServerParameters(command=sys.executable, args=[os.path.join(os.path.dirname(__file__), "mcp_server.py")], env=dict(os.environ))

    async def answer(question, client, tools):
        messages.append({"role": "user", "content": question})
        while True:
            reply = (await model.chat.completions.create(model=common.MODEL, messages=messages, tools=tools)).choices[0].message
            messages.append(reply.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
            if not reply.tool_calls:
                return reply.content
            for call in reply.tool_calls:
                result = await client.call_tool(call.function.name, json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "".join(part.text for part in result.content)})

    for text in common.INPUTS:
        common.begin(text)
        with instrument.hooks.span():
            async with Client(server) as client:
                tools = [{"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.input_schema}}
                         for t in (await client.list_tools()).tools]
                common.end(await answer(text, client, tools))


asyncio.run(main())
common.finish(flush)

"""Microsoft's Agent Framework. Handoff: the other agent is a tool of the first one."""
import asyncio
import os

os.environ.update({"ENABLE_INSTRUMENTATION": "true", "ENABLE_SENSITIVE_DATA": "true"})
import common
import instrument

flush = instrument.start()
from agent_framework import Agent, tool
from agent_framework.openai import OpenAIChatCompletionClient

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM)
common.plan({"via": "tool", "name": common.SUB_AGENT, "arguments": {"task": common.REQUEST}})


async def main():
    client = OpenAIChatCompletionClient(model=common.MODEL, base_url=common.BASE_URL, api_key="not-a-key")
    tools = [tool(function) for function in common.TOOLS.values()]
    if common.HANDOFF:
        planner = Agent(client, common.SUB_SYSTEM, name=common.SUB_AGENT, description="Plans pickups.", tools=[tool(common.book_pickup)])
        tools = [planner.as_tool()]
    agent = Agent(client, common.SYSTEM, name=common.AGENT, tools=tools)
    session = agent.create_session() if common.SESSION else None
    for text in common.INPUTS:
        common.begin(text)
        if common.STREAM:
            common.end("".join([update.text async for update in agent.run(text, session=session, stream=True)]))
        else:
            common.end((await agent.run(text, session=session)).text)


asyncio.run(main())
common.finish(flush)

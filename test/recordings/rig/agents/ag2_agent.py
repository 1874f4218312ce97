"""AG2 with its own telemetry middleware. Handoff: the second agent is a tool of the first one."""
import asyncio

import common
import instrument

flush = instrument.start()
from ag2 import Agent
from ag2.config import OpenAIConfig
from ag2.middleware.builtin.telemetry import TelemetryMiddleware

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM)
common.plan({"via": "tool", "name": f"task_{common.SUB_AGENT}", "arguments": {"objective": common.REQUEST}})
model = OpenAIConfig(common.MODEL, base_url=common.BASE_URL, api_key="not-a-key", max_retries=0, streaming=common.STREAM)


def agent_of(name, prompt, tools):
    telemetry = TelemetryMiddleware(agent_name=name, provider_name="openai", model_name=common.MODEL)
    return Agent(name, prompt, config=model, tools=tools, middleware=[telemetry])


async def main():
    tools = list(common.TOOLS.values())
    if common.HANDOFF:
        planner = agent_of(common.SUB_AGENT, common.SUB_SYSTEM, [common.book_pickup])
        tools = [planner.as_tool(description="Plans pickups.")]
    clerk = agent_of(common.AGENT, common.SYSTEM, tools)
    reply = None
    for text in common.INPUTS:
        common.begin(text)
        reply = await (clerk if reply is None else reply).ask(text)
        common.end(reply.body)


asyncio.run(main())
common.finish(flush)

"""OpenAI Agents SDK, responses API. Handoff: the SDK's transfer tool."""
import asyncio
from contextlib import nullcontext

import common
import instrument

flush = instrument.start()
from agents import Agent, Runner, function_tool, set_default_openai_client, trace
from openai import AsyncOpenAI

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM, session_id=common.SESSION)
common.plan({"via": "handoff", "name": f"transfer_to_{common.SUB_AGENT}", "arguments": {}})
set_default_openai_client(AsyncOpenAI(base_url=common.BASE_URL, max_retries=0), use_for_tracing=False)
planner = Agent(name=common.SUB_AGENT, instructions=common.SUB_SYSTEM, model=common.MODEL, tools=[function_tool(common.book_pickup)])
clerk = Agent(name=common.AGENT, instructions=common.SYSTEM, model=common.MODEL, tools=[function_tool(f) for f in common.TOOLS.values()],
              handoffs=[planner] if common.HANDOFF else [])


async def main():
    items = []
    for text in common.INPUTS:
        common.begin(text)
        with trace("warehouse chat", group_id=common.SESSION) if common.SESSION else nullcontext():
            question = items + [{"role": "user", "content": text}] if items else text
            if common.STREAM:
                result = Runner.run_streamed(clerk, question)
                async for _ in result.stream_events():
                    pass
            else:
                result = await Runner.run(clerk, question)
        items = result.to_input_list()
        common.end(result.final_output)


asyncio.run(main())
common.finish(flush)

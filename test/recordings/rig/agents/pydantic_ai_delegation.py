"""Pydantic AI: a tool of the first agent runs the second one."""
import common
import instrument

flush = instrument.start()
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

Agent.instrument_all(True)
common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM)
common.plan({"via": "tool", "name": "ask_planner", "arguments": {"task": common.REQUEST}})
model = OpenAIChatModel(common.MODEL, provider=OpenAIProvider(base_url=common.BASE_URL, api_key="not-a-key"))
planner = Agent(model, name=common.SUB_AGENT, instructions=common.SUB_SYSTEM, tools=[common.book_pickup])


async def ask_planner(task: str) -> str:
    """Ask the planner of pickups."""
    return (await planner.run(task)).output


agent = Agent(model, name=common.AGENT, instructions=common.SYSTEM, tools=[ask_planner])
for text in common.INPUTS:
    common.begin(text)
    common.end(agent.run_sync(text).output)
common.finish(flush)

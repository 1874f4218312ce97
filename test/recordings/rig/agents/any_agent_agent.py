"""Mozilla's any-agent with its TinyAgent, which traces by itself. Handoff: a tool of the first agent runs the second one."""
import asyncio

import common
import instrument

flush = instrument.start()
from any_agent import AgentConfig, AnyAgent

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM)
common.plan({"via": "tool", "name": "ask_planner", "arguments": {"task": common.REQUEST}})


def config(name, instructions, tools):
    return AgentConfig(model_id=f"openai:{common.MODEL}", api_base=common.BASE_URL, api_key="not-a-key", name=name, instructions=instructions, tools=tools, callbacks=[])


async def main():
    planner = await AnyAgent.create_async("tinyagent", config(common.SUB_AGENT, common.SUB_SYSTEM, [common.book_pickup]))

    async def ask_planner(task: str) -> str:
        """Ask the planner of pickups."""
        return (await planner.run_async(task)).final_output

    tools = [ask_planner] if common.HANDOFF else list(common.TOOLS.values())
    agent = await AnyAgent.create_async("tinyagent", config(common.AGENT, common.SYSTEM, tools))
    for text in common.INPUTS:
        common.begin(text)
        common.end((await agent.run_async(text)).final_output)


asyncio.run(main())
common.finish(flush)

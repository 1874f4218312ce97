"""AutoGen's Swarm: an agent hands over with AutoGen's transfer tool, and the other one answers."""
import asyncio

import common
import instrument

flush = instrument.start()
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import TextMessageTermination
from autogen_agentchat.teams import Swarm
from autogen_ext.models.openai import OpenAIChatCompletionClient

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM)
common.plan({"via": "handoff", "name": f"transfer_to_{common.SUB_AGENT}", "arguments": {}})


async def main():
    client = OpenAIChatCompletionClient(model=common.MODEL, base_url=common.BASE_URL, api_key="not-a-key", max_retries=0)
    options = {"model_client": client, "max_tool_iterations": 5, "model_client_stream": common.STREAM}
    clerk = AssistantAgent(common.AGENT, tools=list(common.TOOLS.values()), system_message=common.SYSTEM, handoffs=[common.SUB_AGENT], **options)
    planner = AssistantAgent(common.SUB_AGENT, tools=[common.book_pickup], system_message=common.SUB_SYSTEM, **options)
    swarm = Swarm([clerk, planner], termination_condition=TextMessageTermination(common.AGENT) | TextMessageTermination(common.SUB_AGENT))
    for text in common.INPUTS:
        common.begin(text)
        async for event in swarm.run_stream(task=text):
            result = event
        common.end(result.messages[-1].content)
    await client.close()


asyncio.run(main())
common.finish(flush)

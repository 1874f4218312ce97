"""A BeeAI requirement agent. Handoff: BeeAI's HandoffTool."""
import asyncio

import common
import instrument

flush = instrument.start()
from beeai_framework.agents.requirement import RequirementAgent
from beeai_framework.backend import ChatModel
from beeai_framework.memory import UnconstrainedMemory
from beeai_framework.tools import tool
from beeai_framework.tools.handoff import HandoffTool

common.facts(agent_name=common.AGENT)
script = []
for step in common.default_script({"via": "tool", "name": common.SUB_AGENT, "arguments": {"task": common.REQUEST}}):
    script.append({"calls": [{"name": "final_answer", "arguments": {"response": step["text"]}}]} if "text" in step else step)
common.plan({"via": "tool", "name": common.SUB_AGENT, "arguments": {}}, script=script)


def agent(name, description, instructions, tools):
    llm = ChatModel.from_name(f"openai:{common.MODEL}", {"base_url": common.BASE_URL, "api_key": "not-a-key", "stream": common.STREAM})
    return RequirementAgent(llm=llm, name=name, description=description, instructions=instructions, tools=tools, memory=UnconstrainedMemory())


async def main():
    tools = [tool(function) for function in common.TOOLS.values()]
    if common.HANDOFF:
        planner = agent(common.SUB_AGENT, "Plans pickups.", common.SUB_SYSTEM, [tool(common.book_pickup)])
        tools = [HandoffTool(planner, name=common.SUB_AGENT, description="Plans pickups.")]
    clerk = agent(common.AGENT, "Knows the stock.", common.SYSTEM, tools)
    for text in common.INPUTS:
        common.begin(text)
        result = await clerk.run(text)
        common.end(result.last_message.text)


asyncio.run(main())
common.finish(flush)

"""Strands agents. Handoff: the other agent is a tool of the first one."""
import common
import instrument

flush = instrument.start()
from strands import Agent, tool
from strands.models.openai import OpenAIModel

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM, session_id=common.SESSION)
common.plan({"via": "tool", "name": common.SUB_AGENT, "arguments": {"input": common.REQUEST}})
model = OpenAIModel(client_args={"base_url": common.BASE_URL, "api_key": "not-a-key"}, model_id=common.MODEL)
tools = [tool(function) for function in common.TOOLS.values()]
if common.HANDOFF:
    planner = Agent(model=model, name=common.SUB_AGENT, system_prompt=common.SUB_SYSTEM, tools=[tool(common.book_pickup)], callback_handler=None)
    tools = [planner.as_tool(description="Plans pickups.")]
agent = Agent(model=model, name=common.AGENT, system_prompt=common.SYSTEM, tools=tools, callback_handler=None,
              trace_attributes={"session.id": common.SESSION} if common.SESSION else None)
for text in common.INPUTS:
    common.begin(text)
    common.end(str(agent(text)).strip())
common.finish(flush)

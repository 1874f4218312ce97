"""A Strands swarm: an agent hands over with the tool that the swarm gives it, and the other one answers."""
import common
import instrument

flush = instrument.start()
from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.multiagent import Swarm

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM)
handover = {"via": "handoff", "name": "handoff_to_agent", "arguments": {"agent_name": common.SUB_AGENT, "message": common.REQUEST}}
first, *rest = common.default_script(handover)
common.plan(handover, script=[first, {"text": "The planner takes over."}, *rest])
model = OpenAIModel(client_args={"base_url": common.BASE_URL, "api_key": "not-a-key"}, model_id=common.MODEL)
clerk = Agent(model=model, name=common.AGENT, system_prompt=common.SYSTEM, tools=[tool(f) for f in common.TOOLS.values()], callback_handler=None)
planner = Agent(model=model, name=common.SUB_AGENT, system_prompt=common.SUB_SYSTEM, tools=[tool(common.book_pickup)], callback_handler=None)
swarm = Swarm([clerk, planner], entry_point=clerk)
for text in common.INPUTS:
    common.begin(text)
    result = swarm(text)
    common.end(str(result.results[common.SUB_AGENT].result).strip())
common.finish(flush)

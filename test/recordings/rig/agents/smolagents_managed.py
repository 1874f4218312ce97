"""A smolagents manager whose managed agent is a tool. Both answer with the tool `final_answer` of smolagents."""
import common
import instrument

flush = instrument.start()
from smolagents import OpenAIServerModel, ToolCallingAgent, tool

common.facts(agent_name=common.AGENT)
handover = {"via": "tool", "name": common.SUB_AGENT, "arguments": {"task": common.REQUEST}}
common.plan(handover, script=[
    {"calls": [{"name": "final_answer", "arguments": {"answer": step["text"]}}]} if "text" in step else step for step in common.default_script(handover)])


@tool
def book_pickup(reservation: str, day: str) -> dict:
    """Book a slot at the loading dock for a reservation.

    Args:
        reservation: the id of the reservation
        day: the day of the pickup
    """
    return common.book_pickup(reservation, day)


model = OpenAIServerModel(common.MODEL, api_base=common.BASE_URL, api_key="not-a-key")
planner = ToolCallingAgent([book_pickup], model, name=common.SUB_AGENT, description="Plans pickups.", max_steps=4, verbosity_level=0)
agent = ToolCallingAgent([], model, managed_agents=[planner], name=common.AGENT, max_steps=4, verbosity_level=0)
for text in common.INPUTS:
    common.begin(text)
    common.end(agent.run(text))
common.finish(flush)

"""A smolagents agent. Handoff: a managed agent is a tool of the first one. Agents answer with the tool `final_answer` of smolagents."""
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


@tool
def check_stock(sku: str, warehouse: str) -> dict:
    """Tell how many pieces of an article a warehouse holds.

    Args:
        sku: the article
        warehouse: the city of the warehouse
    """
    return common.check_stock(sku, warehouse)


@tool
def reserve_stock(sku: str, quantity: int, notes: list[str]) -> dict:
    """Put pieces of an article aside for a customer.

    Args:
        sku: the article
        quantity: how many pieces
        notes: what the packers have to know
    """
    return common.reserve_stock(sku, quantity, notes)


model = OpenAIServerModel(common.MODEL, api_base=common.BASE_URL, api_key="not-a-key")
planner = ToolCallingAgent([book_pickup], model, name=common.SUB_AGENT, description="Plans pickups.", max_steps=4, verbosity_level=0)
if common.HANDOFF:
    agent = ToolCallingAgent([], model, managed_agents=[planner], name=common.AGENT, max_steps=4, verbosity_level=0)
else:
    agent = ToolCallingAgent([check_stock, reserve_stock], model, name=common.AGENT, max_steps=4, verbosity_level=0)
for number, text in enumerate(common.INPUTS):
    common.begin(text)
    common.end(agent.run(text, reset=number == 0))
common.finish(flush)

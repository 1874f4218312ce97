"""An Upsonic agent, which traces by itself. Handoff: a tool of the first agent runs the second one."""
import common
import instrument

flush = instrument.start()
from upsonic import Agent, Task
from upsonic.storage.in_memory.in_memory import InMemoryStorage
from upsonic.storage.memory.memory import Memory
from upsonic.tools.config import tool

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM, session_id=common.SESSION)
common.plan({"via": "tool", "name": "ask_planner", "arguments": {"task": common.REQUEST}})


def agent_of(name, prompt, **more):
    return Agent(f"openai/{common.MODEL}", name=name, system_prompt=prompt, instrument=instrument.hooks.provider, print=False, **more)


@tool
def ask_planner(task: str) -> str:
    """Ask the planner of pickups."""
    return planner.do(Task(task, tools=[tool(common.book_pickup)]))


planner = agent_of(common.SUB_AGENT, common.SUB_SYSTEM)
memory = Memory(storage=InMemoryStorage(), session_id=common.SESSION, full_session_memory=True) if common.SESSION else None
clerk = agent_of(common.AGENT, common.SYSTEM, memory=memory, session_id=common.SESSION)
for text in common.INPUTS:
    common.begin(text)
    tools = [ask_planner] if common.HANDOFF else [tool(max_retries=0)(function) for function in common.TOOLS.values()]
    common.end(clerk.do(Task(text, tools=tools)))
common.finish(flush)

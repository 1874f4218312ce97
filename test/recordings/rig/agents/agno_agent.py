"""An Agno agent. Handoff: a team, whose leader delegates to a member with Agno's own tool."""
import common
import instrument

flush = instrument.start()
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai import OpenAIChat
from agno.team import Team

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM, session_id=common.SESSION)
common.plan({"via": "tool", "name": "delegate_task_to_member", "arguments": {"member_id": common.SUB_AGENT.replace("_", "-"), "task": common.REQUEST}})
model = OpenAIChat(id=common.MODEL, base_url=common.BASE_URL, api_key="not-a-key", max_retries=0)
if common.HANDOFF:
    planner = Agent(name=common.SUB_AGENT, model=model, instructions=common.SUB_SYSTEM, tools=[common.book_pickup], telemetry=False)
    agent = Team(name=common.AGENT, members=[planner], model=model, instructions=common.SYSTEM, telemetry=False)
else:
    agent = Agent(name=common.AGENT, model=model, instructions=common.SYSTEM, tools=list(common.TOOLS.values()), telemetry=False,
                  db=InMemoryDb() if common.SESSION else None, add_history_to_context=common.SESSION is not None)
for text in common.INPUTS:
    common.begin(text)
    options = {"session_id": common.SESSION} if common.SESSION else {}
    if common.STREAM:
        parts = [event.content for event in agent.run(text, stream=True, **options) if getattr(event, "event", "") == "RunContent"]
        common.end("".join(part for part in parts if part))
    else:
        common.end(agent.run(text, **options).content)
common.finish(flush)

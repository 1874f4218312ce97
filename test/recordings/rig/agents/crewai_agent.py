"""A CrewAI crew. Handoff: the clerk delegates to a coworker with CrewAI's own tool."""
import common
import instrument

flush = instrument.start()
from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool

common.facts(agent_name=common.AGENT)
common.plan({"via": "tool", "name": "delegate_work_to_coworker",
             "arguments": {"task": common.REQUEST, "context": "RS-311 is packed.", "coworker": common.SUB_AGENT}})
llm = LLM(model="openai/gpt-4o-mini", base_url=common.BASE_URL, api_key="not-a-key", temperature=0.2, stream=common.STREAM)
clerk = Agent(role=common.AGENT, goal="Answer with the help of the tools.", backstory="You look after a warehouse.", llm=llm,
              tools=[] if common.HANDOFF else [tool(function) for function in common.TOOLS.values()], allow_delegation=common.HANDOFF, max_iter=6)
planner = Agent(role=common.SUB_AGENT, goal="Plan pickups.", backstory="You know the loading dock.", llm=llm, tools=[tool(common.book_pickup)], max_iter=4)
for text in common.INPUTS:
    common.begin(text)
    task = Task(description=text, expected_output="One sentence.", agent=clerk)
    crew = Crew(agents=[clerk, planner] if common.HANDOFF else [clerk], tasks=[task], verbose=False)
    common.end(crew.kickoff().raw)
common.finish(flush)

"""LangGraph's swarm: an agent hands over with a transfer tool, and the other one answers. Turns continue where the last one ended."""
import common
import instrument

flush = instrument.start()
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent
from langgraph_swarm import create_handoff_tool, create_swarm

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM, session_id=common.SESSION)
common.plan({"via": "handoff", "name": f"transfer_to_{common.SUB_AGENT}", "arguments": {}})
model = ChatOpenAI(model=common.MODEL, base_url=common.BASE_URL, temperature=0.2, max_retries=0)
handover = create_handoff_tool(agent_name=common.SUB_AGENT, description="Pass on to the planner of pickups.")
clerk = create_react_agent(model, [*map(tool, common.TOOLS.values()), handover], prompt=common.SYSTEM, name=common.AGENT)
planner = create_react_agent(model, [tool(common.book_pickup)], prompt=common.SUB_SYSTEM, name=common.SUB_AGENT)
graph = create_swarm([clerk, planner], default_active_agent=common.AGENT).compile(checkpointer=InMemorySaver())
for text in common.INPUTS:
    common.begin(text)
    config = {"configurable": {"thread_id": common.SESSION or "thread-1"}}
    result = graph.invoke({"messages": [{"role": "user", "content": text}]}, {**instrument.hooks.config(), **config})
    common.end(result["messages"][-1].content)
common.finish(flush)

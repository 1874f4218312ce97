"""LangGraph's supervisor: it hands over with a transfer tool and gets the work back."""
import common
import instrument

flush = instrument.start()
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from langgraph_supervisor import create_supervisor

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM)
transfer = {"via": "handoff", "name": f"transfer_to_{common.SUB_AGENT}", "arguments": {}}
common.plan(transfer, script=common.default_script({**transfer, "via": "tool"}))
model = ChatOpenAI(model=common.MODEL, base_url=common.BASE_URL, temperature=0.2, max_retries=0)
planner = create_react_agent(model, [tool(common.book_pickup)], prompt=common.SUB_SYSTEM, name=common.SUB_AGENT)
graph = create_supervisor([planner], model=model, prompt=common.SYSTEM, supervisor_name=common.AGENT).compile(name=common.AGENT)
for text in common.INPUTS:
    common.begin(text)
    result = graph.invoke({"messages": [{"role": "user", "content": text}]}, instrument.hooks.config())
    common.end(result["messages"][-1].content)
common.finish(flush)

"""LangChain's create_agent. Handoff: a tool of the first agent runs the second one."""
import common
import instrument

flush = instrument.start()
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM, session_id=common.SESSION)
common.plan({"via": "tool", "name": "ask_planner", "arguments": {"task": common.REQUEST}})
model = ChatOpenAI(model=common.MODEL, base_url=common.BASE_URL, temperature=0.2, max_retries=0, streaming=common.STREAM, stream_usage=True)
planner = create_agent(model, [tool(common.book_pickup)], system_prompt=common.SUB_SYSTEM, name=common.SUB_AGENT)


@tool
def ask_planner(task: str) -> str:
    """Ask the planner of pickups."""
    return planner.invoke({"messages": [{"role": "user", "content": task}]})["messages"][-1].content


@wrap_tool_call
def tell_errors(request, handler):
    try:
        return handler(request)
    except common.StockError as error:
        return ToolMessage(f"Error: {error}", tool_call_id=request.tool_call["id"], name=request.tool_call["name"], status="error")


tools = [ask_planner] if common.HANDOFF else [tool(function) for function in common.TOOLS.values()]
agent = create_agent(model, tools, system_prompt=common.SYSTEM, name=common.AGENT, middleware=[tell_errors] if common.SCENARIO == "toolerror" else [],
                     checkpointer=InMemorySaver() if common.SESSION else None)
for text in common.INPUTS:
    common.begin(text)
    config = {"configurable": {"thread_id": common.SESSION}} if common.SESSION else {}
    question, config = {"messages": [{"role": "user", "content": text}]}, {**instrument.hooks.config(), **config}
    if common.STREAM:
        for state in agent.stream(question, config, stream_mode="values"):
            pass
    else:
        state = agent.invoke(question, config)
    common.end(state["messages"][-1].content)
common.finish(flush)

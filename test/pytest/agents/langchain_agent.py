"""LangChain's create_agent on LangGraph, traced by OpenInference."""
import tools
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool, ToolException, tool
from langchain_openai import ChatOpenAI
from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument()


def refund_order(order_id: str, amount: float) -> dict:
    """Pay money back for an order."""
    try:
        return tools.refund_order(order_id, amount)
    except ValueError as error:
        raise ToolException(str(error)) from error


def answer(text, amount):
    model = ChatOpenAI(model=tools.MODEL, base_url=tools.base_url(amount), api_key="none", max_retries=0)
    agent = create_agent(model, [tool(tools.find_order), StructuredTool.from_function(refund_order, handle_tool_error=True)], system_prompt=tools.SYSTEM, name="order_support")
    return agent.invoke({"messages": [{"role": "user", "content": text}]})["messages"][-1].content

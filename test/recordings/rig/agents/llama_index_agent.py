"""LlamaIndex AgentWorkflow with FunctionAgents. Handoff: the workflow's own tool `handoff`."""
import asyncio

import common
import instrument

flush = instrument.start()
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from llama_index.llms.openai_like import OpenAILike

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM)
common.plan({"via": "handoff", "name": "handoff", "arguments": {"to_agent": common.SUB_AGENT, "reason": "a pickup is wanted"}})
llm = OpenAILike(model=common.MODEL, api_base=common.BASE_URL, api_key="not-a-key", is_chat_model=True, is_function_calling_model=True, max_retries=0)


def agent(name, description, prompt, functions, can_handoff_to=None):
    tools = [FunctionTool.from_defaults(fn=function) for function in functions]
    return FunctionAgent(name=name, description=description, system_prompt=prompt, tools=tools, llm=llm, can_handoff_to=can_handoff_to, streaming=common.STREAM)


async def main():
    clerk = agent(common.AGENT, "Knows the stock.", common.SYSTEM, common.TOOLS.values(), [common.SUB_AGENT] if common.HANDOFF else None)
    agents = [clerk]
    if common.HANDOFF:
        agents.append(agent(common.SUB_AGENT, "Plans pickups.", common.SUB_SYSTEM, [common.book_pickup]))
    workflow = AgentWorkflow(agents=agents, root_agent=common.AGENT)
    context = Context(workflow)
    for text in common.INPUTS:
        common.begin(text)
        result = await workflow.run(user_msg=text, ctx=context)
        common.end(str(result))


asyncio.run(main())
common.finish(flush)

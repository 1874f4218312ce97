"""Haystack's Agent component. Handoff: the other agent is a component tool of the first one."""
import common
import instrument

flush = instrument.start()
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.generators.utils import print_streaming_chunk
from haystack.dataclasses import ChatMessage
from haystack.tools import ComponentTool, create_tool_from_function
from haystack.utils import Secret

common.facts(system_prompt=common.SYSTEM)
common.plan({"via": "tool", "name": common.SUB_AGENT, "arguments": {"messages": [{"role": "user", "content": [{"text": common.REQUEST}]}]}})


def generator():
    return OpenAIChatGenerator(api_key=Secret.from_token("not-a-key"), model=common.MODEL, api_base_url=common.BASE_URL, max_retries=0,
                               streaming_callback=print_streaming_chunk if common.STREAM else None)


tools = [create_tool_from_function(function) for function in common.TOOLS.values()]
if common.HANDOFF:
    planner = Agent(chat_generator=generator(), system_prompt=common.SUB_SYSTEM, tools=[create_tool_from_function(common.book_pickup)])
    tools = [ComponentTool(component=planner, name=common.SUB_AGENT, description="Plans pickups.", outputs_to_string={"source": "last_message", "handler": lambda m: m.text})]
agent = Agent(chat_generator=generator(), system_prompt=common.SYSTEM, tools=tools, raise_on_tool_invocation_failure=False)
messages = []
for text in common.INPUTS:
    common.begin(text)
    messages = agent.run(messages=[*messages, ChatMessage.from_user(text)])["messages"]
    common.end(messages[-1].text)
    messages = [m for m in messages if m.role.value != "system"]
common.finish(flush)

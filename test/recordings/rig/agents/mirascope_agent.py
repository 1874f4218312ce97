"""Mirascope: a call with tools, resumed with their results until the model answers."""
import common
import instrument

flush = instrument.start()
from mirascope import llm

common.facts(system_prompt=common.SYSTEM, model="openai/gpt-4o-mini")
common.plan()
tools = [llm.tool(instrument.hooks.tool(function)) for function in common.TOOLS.values()]
history = [llm.messages.system(common.SYSTEM)]


def answer_customer(question):
    history.append(llm.messages.user(question))
    response = llm.Model("openai/gpt-4o-mini", temperature=0.2).call(list(history), tools=tools)
    while response.tool_calls:
        response = response.resume(response.execute_tools())
    history[:] = response.messages
    return response.text()


turn = instrument.hooks.turn(answer_customer)
for text in common.INPUTS:
    common.begin(text)
    common.end(turn(text))
common.finish(flush)

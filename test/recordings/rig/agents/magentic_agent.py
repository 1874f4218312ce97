"""Magentic's prompt chain: the calls that the model asks for are run until it answers in words. It knows no second agent."""
import common
import instrument

flush = instrument.start()
from magentic import OpenaiChatModel, SystemMessage, UserMessage, prompt_chain

common.facts(system_prompt=common.SYSTEM)
common.plan()
tools = list(common.TOOLS.values())


@prompt_chain([SystemMessage(common.SYSTEM), UserMessage("{question}")], functions=tools, model=OpenaiChatModel(common.MODEL, base_url=common.BASE_URL, temperature=0.2))
def answer_customer(question: str) -> str: ...


for text in common.INPUTS:
    common.begin(text)
    common.end(answer_customer(text))
common.finish(flush)

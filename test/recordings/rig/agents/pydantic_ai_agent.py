"""Pydantic AI. Handoff: a tool of the first agent runs the second one."""
import common
import instrument

flush = instrument.start()
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

if common.INSTRUMENTATION == "plain":
    Agent.instrument_all(True)
common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM)
common.plan({"via": "tool", "name": "ask_planner", "arguments": {"task": common.REQUEST}})
model = OpenAIChatModel(common.MODEL, provider=OpenAIProvider(base_url=common.BASE_URL, api_key="not-a-key"))
planner = Agent(model, name=common.SUB_AGENT, instructions=common.SUB_SYSTEM, tools=[common.book_pickup])


async def ask_planner(task: str) -> str:
    """Ask the planner of pickups."""
    return (await planner.run(task)).output


def reserve_stock(sku: str, quantity: int, notes: list[str]) -> dict:
    try:
        return common.reserve_stock(sku, quantity, notes)
    except common.StockError as error:
        raise ModelRetry(str(error)) from error


reserve_stock.__doc__ = common.reserve_stock.__doc__
agent = Agent(model, name=common.AGENT, instructions=common.SYSTEM, tools=[ask_planner] if common.HANDOFF else [common.check_stock, reserve_stock])
history = None
for text in common.INPUTS:
    common.begin(text)
    if common.STREAM:
        result = agent.run_stream_sync(text)
        for _ in result.stream_text():
            pass
        common.end(result.get_output())
    else:
        result = agent.run_sync(text, message_history=history)
        history = result.all_messages()
        common.end(result.output)
common.finish(flush)

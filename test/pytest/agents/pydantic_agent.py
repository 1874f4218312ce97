"""Pydantic AI with its own tracing."""
import tools
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

Agent.instrument_all(True)


def refund_order(order_id: str, amount: float) -> dict:
    """Pay money back for an order."""
    try:
        return tools.refund_order(order_id, amount)
    except ValueError as error:
        raise ModelRetry(str(error)) from error


def answer(text, amount):
    model = OpenAIChatModel(tools.MODEL, provider=OpenAIProvider(base_url=tools.base_url(amount), api_key="none"))
    return Agent(model, name="order_support", instructions=tools.SYSTEM, tools=[tools.find_order, refund_order]).run_sync(text).output

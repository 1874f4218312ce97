"""The OpenAI SDK in a hand-written loop, traced by OpenInference: there is no span of a tool."""
import json

import tools
from openai import OpenAI
from openinference.instrumentation.openai import OpenAIInstrumentor

OpenAIInstrumentor().instrument()


def schema(function, **properties):
    return {"type": "function", "function": {"name": function.__name__, "description": function.__doc__, "parameters": {"type": "object", "properties": properties, "required": list(properties)}}}


TOOLS = [schema(tools.find_order, order_id={"type": "string"}), schema(tools.refund_order, order_id={"type": "string"}, amount={"type": "number"})]


def answer(text, amount):
    client = OpenAI(base_url=tools.base_url(amount), api_key="none", max_retries=0)
    messages = [{"role": "system", "content": tools.SYSTEM}, {"role": "user", "content": text}]
    while True:
        said = client.chat.completions.create(model=tools.MODEL, messages=messages, tools=TOOLS).choices[0].message
        messages.append(said.model_dump(exclude_none=True))
        if not said.tool_calls:
            return said.content
        for call in said.tool_calls:
            try:
                result = json.dumps(getattr(tools, call.function.name)(**json.loads(call.function.arguments)))
            except ValueError as error:
                result = f"Error: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

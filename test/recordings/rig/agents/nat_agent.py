"""NVIDIA's NeMo Agent Toolkit: a tool-calling agent from a configuration, with its own exporter. Handoff: the other agent is a function of the first one."""
import asyncio
import os
import pathlib

import common

common.facts(system_prompt=common.SYSTEM)
common.plan({"via": "tool", "name": common.SUB_AGENT, "arguments": {"input_message": common.REQUEST}})
from nat.builder.function_info import FunctionInfo
from nat.cli.register_workflow import register_function
from nat.data_models.function import FunctionBaseConfig
from nat.runtime.loader import load_workflow

ENDPOINT = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]


def offer(function):
    """Registers a function of the rig under its name."""
    config = type(function.__name__, (FunctionBaseConfig,), {"__module__": __name__}, name=function.__name__)

    @register_function(config_type=config)
    async def build(_config, _builder):
        yield FunctionInfo.from_fn(asynchronous(function), description=function.__doc__)


def asynchronous(function):
    if function is common.check_stock:
        async def check_stock(sku: str, warehouse: str) -> dict:
            return common.check_stock(sku, warehouse)
        return check_stock
    if function is common.reserve_stock:
        async def reserve_stock(sku: str, quantity: int, notes: list[str]) -> dict:
            return common.reserve_stock(sku, quantity, notes)
        return reserve_stock

    async def book_pickup(reservation: str, day: str) -> dict:
        return common.book_pickup(reservation, day)
    return book_pickup


for tool in [*common.TOOLS.values(), common.book_pickup]:
    offer(tool)
workflow = {False: "[check_stock, reserve_stock]", True: f"[{common.SUB_AGENT}]"}[common.HANDOFF]
pathlib.Path("workflow.yml").write_text(f"""
general:
  telemetry:
    tracing:
      otel: {{ _type: otelcollector, endpoint: "{ENDPOINT}/v1/traces", project: warehouse }}
functions:
  check_stock: {{ _type: check_stock }}
  reserve_stock: {{ _type: reserve_stock }}
  book_pickup: {{ _type: book_pickup }}
  {common.SUB_AGENT}: {{ _type: tool_calling_agent, llm_name: model, tool_names: [book_pickup], description: Plans pickups., system_prompt: "{common.SUB_SYSTEM}" }}
llms:
  model: {{ _type: openai, model_name: {common.MODEL}, base_url: "{common.BASE_URL}", api_key: not-a-key, temperature: 0.2, max_retries: 0 }}
workflow: {{ _type: tool_calling_agent, llm_name: model, tool_names: {workflow}, system_prompt: "{common.SYSTEM}" }}
""")


async def main():
    async with load_workflow("workflow.yml") as session_manager:
        for text in common.INPUTS:
            common.begin(text)
            async with session_manager.run(text) as runner:
                common.end(await runner.result(to_type=str))
            await asyncio.sleep(1)  # the exporter works beside the run, and its own time is none of the run's
        await asyncio.sleep(6)


asyncio.run(main())
common.finish()

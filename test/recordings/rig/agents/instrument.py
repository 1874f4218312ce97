"""Switches one instrumentation on, as its documentation says, before the SDK is imported. Gives the function that sends what is left."""
import importlib
import os
import pathlib
from functools import wraps

import common

ENDPOINT = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]


class Hooks:
    """What an SDK asks its users to write around their own code. As it stands: a root span of the application around each turn."""

    def turn(self, function):
        from opentelemetry import trace

        @wraps(function)
        def answer_customer(question):
            with trace.get_tracer("warehouse").start_as_current_span("answer_customer"):
                return function(question)

        return answer_customer

    def tool(self, function):
        return function

    def client(self, make):
        """`make` gets the module `openai`; an SDK may stand in for it."""
        import openai

        return self.wrap(make(openai))

    def wrap(self, client):
        return client

    def config(self):
        """What a run of LangChain gets beside its input."""
        return {}


hooks = Hooks()


def telemetry(with_logs=False):
    """Plain OpenTelemetry providers that export over HTTP."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    spans = TracerProvider()
    spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(spans)
    if not with_logs:
        return spans.shutdown
    from opentelemetry._logs import set_logger_provider
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

    logs = LoggerProvider()
    logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    set_logger_provider(logs)
    return lambda: (spans.shutdown(), logs.shutdown())


def instrumentor(module, name):
    getattr(importlib.import_module(module), name)().instrument()


def openinference(framework, name):
    flush = telemetry()
    instrumentor(f"openinference.instrumentation.{framework}", name)
    return flush


def openlit():
    import openlit as package
    from opentelemetry import trace

    prices = pathlib.Path("prices.json")  # without a file of its own it asks the network
    prices.write_text('{"chat": {}}')
    package.init(otlp_endpoint=ENDPOINT, application_name="warehouse", disable_metrics=True, pricing_json=str(prices))
    return lambda: trace.get_tracer_provider().shutdown()


def traceloop(module, name):
    """The instrumentation package of one framework, without Traceloop's SDK around it."""
    os.environ["TRACELOOP_TRACE_CONTENT"] = "true"
    flush = telemetry()
    instrumentor(f"opentelemetry.instrumentation.{module}", name)
    return flush


def otel_botocore():
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
    flush = telemetry(with_logs=True)
    instrumentor("opentelemetry.instrumentation.botocore", "BotocoreInstrumentor")
    return flush


def logfire(switch):
    import logfire as package
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    package.configure(send_to_logfire=False, console=False, metrics=False, service_name="warehouse",
                      additional_span_processors=[BatchSpanProcessor(OTLPSpanExporter())])
    getattr(package, switch)()
    hooks.turn = lambda function: package.instrument("answer customer")(function)
    hooks.tool = lambda function: package.instrument(f"tool {function.__name__}", record_return=True)(function)
    return package.shutdown


def langfuse(after=lambda: None):
    os.environ.update({"LANGFUSE_HOST": ENDPOINT, "LANGFUSE_BASE_URL": ENDPOINT, "LANGFUSE_PUBLIC_KEY": "pk-lf-none", "LANGFUSE_SECRET_KEY": "sk-lf-none"})
    from langfuse import get_client, observe

    client = get_client()
    hooks.turn = lambda function: observe(name="answer_customer", as_type="agent")(function)
    hooks.tool = lambda function: observe(as_type="tool")(function)
    after()
    return client.flush


def langfuse_openai():
    def client(make):
        from langfuse.openai import openai

        return make(openai)

    hooks.client = client
    return langfuse()


def langfuse_langchain():
    flush = langfuse()
    from langfuse.langchain import CallbackHandler

    hooks.config = lambda: {"callbacks": [CallbackHandler()]}
    return flush


def langsmith():
    os.environ.update({"LANGSMITH_TRACING": "true", "LANGSMITH_OTEL_ENABLED": "true", "LANGSMITH_OTEL_ONLY": "true", "LANGSMITH_API_KEY": "none",
                       "LANGSMITH_ENDPOINT": ENDPOINT, "LANGSMITH_PROJECT": "warehouse"})
    flush = telemetry()
    from langsmith import Client

    client = Client()
    return lambda: (client.flush(), flush())


def langsmith_openai():
    flush = langsmith()
    from langsmith import traceable
    from langsmith.wrappers import wrap_openai

    hooks.turn = lambda function: traceable(name="answer_customer")(function)
    hooks.tool = lambda function: traceable(run_type="tool")(function)
    hooks.wrap = wrap_openai
    return flush


def langsmith_openai_agents():
    flush = langsmith()
    from agents import set_trace_processors
    from langsmith.integrations.openai_agents_sdk import OpenAIAgentsTracingProcessor

    set_trace_processors([OpenAIAgentsTracingProcessor()])
    return flush


def litellm_otel():
    os.environ.update({"OTEL_EXPORTER": "otlp_http", "OTEL_ENDPOINT": f"{ENDPOINT}/v1/traces", "OTEL_EXPORTER_OTLP_PROTOCOL": "otlp_http"})
    flush = telemetry()
    import litellm

    litellm.callbacks = ["otel"]
    return flush


def plain():
    """For SDKs that trace by themselves into the global provider."""
    return telemetry(with_logs=True)


SWITCHES = {
    "plain": plain,
    "logfire-openai": lambda: logfire("instrument_openai"),
    "logfire-anthropic": lambda: logfire("instrument_anthropic"),
    "langfuse-openai": langfuse_openai,
    "langfuse-langchain": langfuse_langchain,
    "langsmith": langsmith,
    "langsmith-openai": langsmith_openai,
    "langsmith-openai-agents": langsmith_openai_agents,
    "litellm-otel": litellm_otel,
    "openinference-langchain": lambda: openinference("langchain", "LangChainInstrumentor"),
    "openinference-autogen-agentchat": lambda: openinference("autogen_agentchat", "AutogenAgentChatInstrumentor"),
    "openinference-smolagents": lambda: openinference("smolagents", "SmolagentsInstrumentor"),
    "traceloop-langchain": lambda: traceloop("langchain", "LangchainInstrumentor"),
    "traceloop-mistralai": lambda: traceloop("mistralai", "MistralAiInstrumentor"),
    "openlit": openlit,
    "openinference-agno": lambda: openinference("agno", "AgnoInstrumentor"),
    "openinference-litellm": lambda: openinference("litellm", "LiteLLMInstrumentor"),
    "openinference-dspy": lambda: openinference("dspy", "DSPyInstrumentor"),
    "openinference-beeai": lambda: openinference("beeai", "BeeAIInstrumentor"),
    "openinference-haystack": lambda: openinference("haystack", "HaystackInstrumentor"),
    "openinference-bedrock": lambda: openinference("bedrock", "BedrockInstrumentor"),
    "openinference-mistralai": lambda: openinference("mistralai", "MistralAIInstrumentor"),
    "otel-botocore": otel_botocore,
    "traceloop-llama-index": lambda: traceloop("llamaindex", "LlamaIndexInstrumentor"),
    "traceloop-haystack": lambda: traceloop("haystack", "HaystackInstrumentor"),
    "traceloop-agno": lambda: traceloop("agno", "AgnoInstrumentor"),
}


def start():
    return SWITCHES[common.INSTRUMENTATION]()

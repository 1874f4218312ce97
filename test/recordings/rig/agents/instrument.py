"""Switches one instrumentation on, as its documentation says, before the SDK is imported. Gives the function that sends what is left."""
import importlib
import os
import pathlib
import time
from functools import wraps

import common

ENDPOINT = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]


class Hooks:
    """What an SDK asks its users to write around their own code. As it stands: a root span of the application around each turn."""

    def span(self):
        from opentelemetry import trace

        return trace.get_tracer("warehouse").start_as_current_span("answer_customer")

    def turn(self, function):
        @wraps(function)
        def answer_customer(question):
            with self.span():
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


def several(flush, *others):
    for module, name in others:
        instrumentor(module, name)
    return flush


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


def openinference_strands():
    """Strands traces by itself; a span processor adds OpenInference's attributes to its spans."""
    from openinference.instrumentation.strands_agents import StrandsAgentsToOpenInferenceProcessor
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(StrandsAgentsToOpenInferenceProcessor())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider.shutdown


def otel_botocore():
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
    flush = telemetry(with_logs=True)
    instrumentor("opentelemetry.instrumentation.botocore", "BotocoreInstrumentor")
    return flush


def logfire(switch, with_content=False):
    if with_content:
        os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
    import logfire as package

    package.configure(send_to_logfire=False, console=False, metrics=False, service_name="warehouse")
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


def langfuse_llama_index():
    return langfuse(lambda: instrumentor("openinference.instrumentation.llama_index", "LlamaIndexInstrumentor"))


def langfuse_langchain():
    flush = langfuse()
    from langfuse.langchain import CallbackHandler

    hooks.config = lambda: {"callbacks": [CallbackHandler()]}
    return flush


def langsmith():
    os.environ.update({"LANGSMITH_TRACING": "true", "LANGSMITH_OTEL_ENABLED": "true", "LANGSMITH_OTEL_ONLY": "true", "LANGSMITH_API_KEY": "none",
                       "LANGSMITH_ENDPOINT": ENDPOINT, "LANGSMITH_PROJECT": "warehouse"})
    flush = telemetry()
    from langsmith.run_trees import get_cached_client

    return lambda: (get_cached_client().flush(), flush())


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
    return lambda: (time.sleep(2), flush())  # LiteLLM calls back from a thread that nobody can join


def haystack():
    os.environ["HAYSTACK_CONTENT_TRACING_ENABLED"] = "true"
    flush = telemetry()
    from haystack import tracing
    from haystack.tracing.opentelemetry import OpenTelemetryTracer
    from opentelemetry import trace

    tracing.enable_tracing(OpenTelemetryTracer(trace.get_tracer("haystack")))
    return flush


def mlflow(framework):
    os.environ.update({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{ENDPOINT}/v1/traces", "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false"})
    importlib.import_module(f"mlflow.{framework}").autolog()
    import mlflow as package
    from opentelemetry import trace

    hooks.turn = lambda function: package.trace(function, span_type="AGENT")
    hooks.tool = lambda function: package.trace(function, span_type="TOOL")
    return lambda: getattr(trace.get_tracer_provider(), "force_flush", lambda: None)()


def traceai(module, name):
    flush = telemetry()
    instrumentor(f"traceai_{module}", name)
    return flush


def lmnr():
    from lmnr import Laminar, observe

    address, port = ENDPOINT.rsplit(":", 1)
    Laminar.initialize(project_api_key="none", base_url=address, http_port=int(port), force_http=True)
    hooks.turn = lambda function: observe(name="answer_customer")(function)
    hooks.tool = lambda function: observe(span_type="TOOL")(function)
    return Laminar.shutdown


def langtrace():
    os.environ["LANGTRACE_ERROR_REPORTING"] = "False"
    from langtrace_python_sdk import langtrace as package
    from langtrace_python_sdk import with_langtrace_root_span
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    package.init(custom_remote_exporter=OTLPSpanExporter(), disable_logging=True)
    hooks.turn = lambda function: with_langtrace_root_span("answer_customer")(function)
    return lambda: trace.get_tracer_provider().shutdown()


def monocle():
    from monocle_apptrace import setup_monocle_telemetry
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    setup_monocle_telemetry(workflow_name="warehouse", span_processors=[BatchSpanProcessor(OTLPSpanExporter())])
    return lambda: trace.get_tracer_provider().shutdown()


def genai(module, name):
    """Instrumentations that write through the util of OpenTelemetry's GenAI group, with content in spans."""
    os.environ.update({"OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
                       "OTEL_INSTRUMENTATION_GENAI_CAPTURE_CONTENT": "true"})
    flush = telemetry()
    instrumentor(module, name)
    return flush


def llm_tracekit(module, name):
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
    flush = telemetry()
    instrumentor(f"llm_tracekit.{module}", name)
    return flush


def langwatch():
    import langwatch as package
    from opentelemetry import trace

    package.setup(api_key="none", endpoint_url=ENDPOINT)
    hooks.turn = lambda function: package.trace(name="answer_customer")(function)
    hooks.tool = lambda function: package.span(type="tool")(function)

    def client(make):
        import openai

        own = make(openai)
        turn = hooks.turn

        def tracked(function):
            def answer_customer(question):
                package.get_current_trace().autotrack_openai_calls(own)
                return function(question)

            return turn(answer_customer)

        hooks.turn = tracked
        return own

    hooks.client = client
    return lambda: trace.get_tracer_provider().shutdown()


def respan():
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from respan_instrumentation_openai_agents import OpenAIAgentsInstrumentor
    from respan_tracing import RespanTelemetry

    package = RespanTelemetry(app_name="warehouse", api_key="none", instruments=set())
    package.add_processor(exporter=OTLPSpanExporter(endpoint=f"{ENDPOINT}/v1/traces"))
    OpenAIAgentsInstrumentor().activate()
    return package.flush


def agentops():
    """AgentOps finds the framework by itself when it is imported."""
    import agentops as package
    from opentelemetry import trace

    package.init(api_key="00000000-0000-4000-8000-000000000000", endpoint=ENDPOINT, exporter_endpoint=f"{ENDPOINT}/v1/traces", auto_start_session=False, log_session_replay_url=False)
    return lambda: trace.get_tracer_provider().force_flush()


def langwatch_langchain():
    import langwatch as package
    from opentelemetry import trace

    package.setup(api_key="none", endpoint_url=ENDPOINT)

    def config():
        return {"callbacks": [package.get_current_trace().get_langchain_callback()]}

    hooks.config = config
    hooks.turn = lambda function: package.trace(name="answer_customer")(function)
    return lambda: trace.get_tracer_provider().shutdown()


def logfire_langchain():
    os.environ.update({"LANGSMITH_OTEL_ENABLED": "true", "LANGSMITH_OTEL_ONLY": "true", "LANGSMITH_TRACING": "true"})
    import logfire as package

    package.configure(send_to_logfire=False, console=False, metrics=False, service_name="warehouse")
    from langsmith.run_trees import get_cached_client

    return lambda: (get_cached_client().flush(), package.shutdown())


def traceai_pydantic_ai():
    flush = telemetry()
    from opentelemetry import trace
    from traceai_pydantic_ai import PydanticAIInstrumentor

    PydanticAIInstrumentor().instrument(tracer_provider=trace.get_tracer_provider())
    return flush


def respan_with(framework, name):
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from respan_tracing import RespanTelemetry

    package = RespanTelemetry(app_name="warehouse", api_key="none", instruments=set())
    package.add_processor(exporter=OTLPSpanExporter(endpoint=f"{ENDPOINT}/v1/traces"))
    getattr(importlib.import_module(f"respan_instrumentation_{framework}"), name)().activate()
    return package.flush


def judgeval():
    os.environ.update({"JUDGMENT_API_KEY": "none", "JUDGMENT_ORG_ID": "none", "JUDGMENT_API_URL": ENDPOINT})
    from judgeval import Tracer
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    processor = BatchSpanProcessor(OTLPSpanExporter())
    Tracer.init(project_name="warehouse", span_processors=[processor])
    hooks.turn = lambda function: Tracer.observe(span_type="agent")(function)
    hooks.tool = lambda function: Tracer.observe(span_type="tool")(function)
    hooks.wrap = Tracer.wrap
    return processor.force_flush


def neatlogs_openai_agents():
    import neatlogs as package
    from agents import set_trace_processors

    package.init(api_key="none", endpoint=ENDPOINT, workflow_name="warehouse")
    set_trace_processors([package.openai_agents_processor()])
    return package.shutdown


def netra():
    from netra import Netra
    from netra.instrumentation.instruments import InstrumentSet

    Netra.init(app_name="warehouse", headers="x-api-key=none", trace_content=True, instruments={InstrumentSet.OPENAI_AGENTS}, root_instruments={InstrumentSet.ALL})
    return Netra.shutdown


def honeyhive():
    from honeyhive import HoneyHiveTracer, trace
    from opentelemetry import trace as api
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    tracer = HoneyHiveTracer.init(api_key="none", source="warehouse", server_url=ENDPOINT, session_id="5d6b4f0e-3f4a-4c55-9d0e-9b7a2c1e8f10", test_mode=False)
    hooks.turn = lambda function: trace(event_type="chain", tracer=tracer)(function)
    hooks.tool = lambda function: trace(event_type="tool", tracer=tracer)(function)
    instrumentor_of = importlib.import_module("openinference.instrumentation.openai").OpenAIInstrumentor
    instrumentor_of().instrument(tracer_provider=tracer.provider)
    return tracer.force_flush


def paid():
    import paid.tracing as package
    from paid.tracing.wrappers.openai import PaidOpenAI

    package.initialize_tracing(api_key="none", collector_endpoint=f"{ENDPOINT}/v1/traces")
    hooks.wrap = PaidOpenAI
    hooks.turn = lambda function: package.paid_tracing("customer-1")(function)
    return package.get_paid_tracer_provider().force_flush


def upsonic():
    from upsonic.integrations.tracing import DefaultTracingProvider

    hooks.provider = DefaultTracingProvider(endpoint=f"{ENDPOINT}/v1/traces", service_name="warehouse")
    return hooks.provider.flush


def agenta():
    os.environ.update({"AGENTA_HOST": ENDPOINT, "AGENTA_API_KEY": "none"})
    import agenta as package
    from opentelemetry import trace

    package.init()
    instrumentor("opentelemetry.instrumentation.openai", "OpenAIInstrumentor")
    hooks.turn = lambda function: package.instrument(spankind="AGENT")(function)
    hooks.tool = lambda function: package.instrument(spankind="TOOL")(function)
    return lambda: trace.get_tracer_provider().force_flush()


def basalt():
    from basalt import Basalt
    from basalt.observability import TelemetryConfig, observe, start_observe
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    client = Basalt(api_key="none", base_url=ENDPOINT, telemetry_config=TelemetryConfig(
        service_name="warehouse", sample_rate=1.0, exporter=OTLPSpanExporter(endpoint=f"{ENDPOINT}/v1/traces")))
    hooks.turn = lambda function: start_observe(feature_slug="warehouse", name="answer_customer")(function)
    hooks.tool = lambda function: observe(name=function.__name__, kind="tool")(function)
    return client.shutdown


def aiqa():
    os.environ.update({"AIQA_SERVER_URL": ENDPOINT, "AIQA_API_KEY": "none"})
    from aiqa import WithTracing, get_aiqa_client
    from opentelemetry import trace

    get_aiqa_client()
    hooks.turn = lambda function: WithTracing(function)
    hooks.tool = lambda function: WithTracing(function)

    def wrap(client):
        client.chat.completions.create = WithTracing(client.chat.completions.create)
        return client

    hooks.wrap = wrap
    return lambda: trace.get_tracer_provider().force_flush()


def patronus():
    import patronus as package
    from openinference.instrumentation.openai import OpenAIInstrumentor

    context = package.init(project_name="warehouse", api_key="none", api_url=ENDPOINT, otel_endpoint=ENDPOINT, 
                 otel_exporter_otlp_protocol="http/protobuf", integrations=[OpenAIInstrumentor()])
    hooks.turn = lambda function: package.traced()(function)
    hooks.tool = lambda function: package.traced()(function)
    return context.tracer_provider.force_flush


def orq_openai_agents():
    flush = telemetry()
    instrumentor("orq_ai_sdk.openai_agents_instrumentation", "OpenAIAgentsInstrumentor")
    return flush


def a365_openai_agents():
    from microsoft_agents_a365.observability.core import configure, get_tracer_provider
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    configure(service_name="warehouse", service_namespace="stock")
    get_tracer_provider().add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    instrumentor("microsoft_agents_a365.observability.extensions.openai", "OpenAIAgentsTraceInstrumentor")
    return get_tracer_provider().force_flush


def mirascope():
    from mirascope import ops
    from opentelemetry import trace

    flush = telemetry()
    ops.configure(tracer_provider=trace.get_tracer_provider())
    ops.instrument_llm()
    hooks.turn = lambda function: ops.trace(function)
    hooks.tool = lambda function: ops.trace(function)
    return flush



def traceroot():
    import traceroot as package

    client = package.initialize(api_key="none", host_url=ENDPOINT, integrations=[package.Integration.OPENAI])
    hooks.turn = lambda function: package.observe(name="answer_customer", type="agent")(function)
    hooks.tool = lambda function: package.observe(type="tool")(function)
    return client.flush


def neatlogs():
    import neatlogs as package

    package.init(api_key="none", endpoint=ENDPOINT, workflow_name="warehouse", instrumentations=["langchain"])
    return package.shutdown


def elastic_openai():
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
    flush = telemetry(with_logs=True)
    instrumentor("opentelemetry.instrumentation.openai", "OpenAIInstrumentor")
    return flush


def azure_langchain():
    flush = telemetry()
    from langchain_azure_ai.callbacks.tracers import AzureAIOpenTelemetryTracer

    tracer = AzureAIOpenTelemetryTracer(enable_content_recording=True, name="warehouse")
    hooks.config = lambda: {"callbacks": [tracer]}
    return flush


def langfuse_pydantic_ai():
    flush = langfuse()
    from pydantic_ai import Agent

    Agent.instrument_all()
    return flush


def genai_otel():
    import genai_otel
    from opentelemetry import trace

    os.environ.update({"GENAI_ENABLE_GPU_METRICS": "false", "GENAI_ENABLE_CO2_TRACKING": "false", "GENAI_ENABLE_CONTENT_CAPTURE": "true"})
    genai_otel.instrument(service_name="warehouse", endpoint=ENDPOINT)
    return lambda: trace.get_tracer_provider().shutdown()


def keywordsai():
    from keywordsai_tracing import KeywordsAITelemetry, get_client
    from keywordsai_tracing.decorators import tool, workflow

    package = KeywordsAITelemetry(app_name="warehouse", api_key="none", base_url=ENDPOINT)
    hooks.turn = lambda function: workflow(name="answer_customer")(function)
    hooks.tool = lambda function: tool(name=function.__name__)(function)
    return package.flush


def fiddler_strands():
    from fiddler_otel import FiddlerClient
    from fiddler_strandsagents import StrandsAgentInstrumentor
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from strands.telemetry import StrandsTelemetry

    package = StrandsTelemetry()
    package.tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    StrandsAgentInstrumentor(package).instrument()
    return package.tracer_provider.shutdown


def a365_langchain():
    os.environ.update({"ENABLE_OBSERVABILITY": "true", "ENABLE_A365_OBSERVABILITY": "true"})
    from microsoft_agents_a365.observability.core import configure, get_tracer_provider
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    configure(service_name="warehouse", service_namespace="stock")
    get_tracer_provider().add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    from microsoft_agents_a365.observability.extensions.langchain import CustomLangChainInstrumentor

    CustomLangChainInstrumentor()
    return get_tracer_provider().force_flush


def netra_langchain():
    from netra import Netra
    from netra.instrumentation.instruments import InstrumentSet

    Netra.init(app_name="warehouse", headers="x-api-key=none", trace_content=True, instruments={InstrumentSet.LANGCHAIN}, root_instruments={InstrumentSet.ALL})
    return Netra.shutdown


def ioa_observe():
    from ioa_observe.sdk import Observe
    from ioa_observe.sdk.decorators import tool, workflow
    from opentelemetry import trace

    Observe.init("warehouse", api_endpoint=ENDPOINT, disable_batch=True)
    hooks.turn = lambda function: workflow(name="answer_customer")(function)
    hooks.tool = lambda function: tool(name=function.__name__)(function)
    return lambda: trace.get_tracer_provider().force_flush()


def logfire_dspy():
    import logfire as package

    package.configure(send_to_logfire=False, console=False, metrics=False, service_name="warehouse")
    package.instrument_dspy()
    return package.shutdown


def openinference_agent_framework():
    from agent_framework.observability import enable_instrumentation
    from openinference.instrumentation.agent_framework import AgentFrameworkToOpenInferenceProcessor
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(AgentFrameworkToOpenInferenceProcessor())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    enable_instrumentation(enable_sensitive_data=True)
    return provider.shutdown


def langsmith_google_adk():
    flush = langsmith()
    from langsmith.integrations.google_adk import configure_google_adk

    configure_google_adk(name="warehouse")
    return flush


def latitude_anthropic():
    os.environ["LATITUDE_TELEMETRY_URL"] = ENDPOINT
    import anthropic
    from latitude_telemetry import Latitude, capture

    package = Latitude(api_key="none", project="warehouse", instrumentations={"anthropic": anthropic})
    hooks.turn = lambda function: capture("answer_customer")(function)
    return package.shutdown


def promptflow():
    os.environ["PF_DISABLE_TRACING"] = "false"
    flush = telemetry()
    from promptflow.tracing import trace
    from promptflow.tracing._integrations._openai_injector import inject_openai_api

    inject_openai_api()
    hooks.turn = lambda function: trace(function)
    hooks.tool = lambda function: trace(function)
    return flush


def loongsuite_agent_framework():
    os.environ["ARMS_MAF_SENSITIVE_DATA_ENABLED"] = "true"
    return genai("opentelemetry.instrumentation.microsoft_agent_framework", "MicrosoftAgentFrameworkInstrumentor")




def langsmith_anthropic():
    flush = langsmith()
    from langsmith import traceable
    from langsmith.wrappers import wrap_anthropic

    hooks.turn = lambda function: traceable(name="answer_customer")(function)
    hooks.tool = lambda function: traceable(run_type="tool")(function)
    hooks.wrap = wrap_anthropic
    return flush


def netra_with(instrument):
    from netra import Netra
    from netra.instrumentation.instruments import InstrumentSet

    Netra.init(app_name="warehouse", headers="x-api-key=none", trace_content=True, instruments={getattr(InstrumentSet, instrument)}, root_instruments={InstrumentSet.ALL})
    return Netra.shutdown


def logfire_alone():
    """For SDKs that trace by themselves into the global provider."""
    import logfire as package

    package.configure(send_to_logfire=False, console=False, metrics=False, service_name="warehouse")
    return package.shutdown


def plain():
    """For SDKs that trace by themselves into the global provider."""
    return telemetry(with_logs=True)


SWITCHES = {
    "langsmith-anthropic": langsmith_anthropic,
    "mlflow-google-genai": lambda: mlflow("gemini"),
    "langfuse-google-adk": lambda: langfuse(lambda: instrumentor("openinference.instrumentation.google_adk", "GoogleADKInstrumentor")),
    "langfuse-agno": lambda: langfuse(lambda: instrumentor("openinference.instrumentation.agno", "AgnoInstrumentor")),
    "netra-pydantic-ai": lambda: netra_with("PYDANTIC_AI"),
    "netra-agno": lambda: netra_with("AGNO"),
    "respan-google-adk": lambda: respan_with("google_adk", "GoogleADKInstrumentor"),
    "openinference-ag2": lambda: openinference("ag2", "AG2Instrumentor"),
    "genai-anthropic": lambda: genai("opentelemetry.instrumentation.genai.anthropic", "AnthropicInstrumentor"),
    "logfire-alone": logfire_alone,
    "judgeval-openai": judgeval,
    "neatlogs-openai-agents": neatlogs_openai_agents,
    "netra-openai-agents": netra,
    "honeyhive-openai": honeyhive,
    "paid-openai": paid,
    "upsonic": upsonic,
    "agenta-openai": agenta,
    "basalt-openai": basalt,
    "aiqa-openai": aiqa,
    "patronus-openai": patronus,
    "orq-openai-agents": orq_openai_agents,
    "a365-openai-agents": a365_openai_agents,
    "mirascope": mirascope,
    "traceroot-openai": traceroot,
    "neatlogs": neatlogs,
    "magentic-logfire": lambda: logfire("instrument_openai"),
    "loongsuite-langgraph": lambda: several(genai("opentelemetry.instrumentation.langchain", "LangChainInstrumentor"), ("opentelemetry.instrumentation.langgraph", "LangGraphInstrumentor")),
    "plain": plain,
    "fiddler-strands": fiddler_strands,
    "a365-langchain": a365_langchain,
    "netra-langchain": netra_langchain,
    "ioa-observe": ioa_observe,
    "logfire-dspy": logfire_dspy,
    "respan-llama-index": lambda: respan_with("llama_index", "LlamaIndexInstrumentor"),
    "llm-tracekit-openai": lambda: llm_tracekit("openai", "OpenAIInstrumentor"),
    "splunk-llama-index": lambda: genai("opentelemetry.instrumentation.llamaindex", "LlamaindexInstrumentor"),
    "openinference-agent-framework": openinference_agent_framework,
    "langsmith-google-adk": langsmith_google_adk,
    "latitude-anthropic": latitude_anthropic,
    "promptflow": promptflow,
    "mlflow-litellm": lambda: mlflow("litellm"),
    "langfuse": langfuse,
    "loongsuite-agent-framework": loongsuite_agent_framework,
    "elastic-openai": elastic_openai,
    "azure-langchain": azure_langchain,
    "langfuse-pydantic-ai": langfuse_pydantic_ai,
    "genai-otel": genai_otel,
    "keywordsai": keywordsai,
    "mlflow-anthropic": lambda: mlflow("anthropic"),
    "respan-pydantic-ai": lambda: respan_with("pydantic_ai", "PydanticAIInstrumentor"),
    "loongsuite-strands": lambda: genai("opentelemetry.instrumentation.strands", "StrandsInstrumentor"),
    "agentops": agentops,
    "mlflow-openai-agents": lambda: mlflow("openai"),
    "mlflow-langchain": lambda: mlflow("langchain"),
    "mlflow-pydantic-ai": lambda: mlflow("pydantic_ai"),
    "mlflow-agno": lambda: mlflow("agno"),
    "mlflow-strands": lambda: mlflow("strands"),
    "mlflow-smolagents": lambda: mlflow("smolagents"),
    "langwatch-langchain": langwatch_langchain,
    "logfire-langchain": logfire_langchain,
    "logfire-litellm": lambda: logfire("instrument_litellm"),
    "genai-langchain": lambda: genai("opentelemetry.instrumentation.genai.langchain", "LangChainInstrumentor"),
    "llm-tracekit-langchain": lambda: llm_tracekit("langchain", "LangChainInstrumentor"),
    "respan-agno": lambda: respan_with("agno", "AgnoInstrumentor"),
    "respan-langchain": lambda: respan_with("langchain", "LangChainInstrumentor"),
    "genai-agno": lambda: genai("opentelemetry.instrumentation.genai.agno", "AgnoInstrumentor"),
    "splunk-langchain": lambda: genai("opentelemetry.instrumentation.langchain", "LangchainInstrumentor"),
    "llm-tracekit-strands": lambda: llm_tracekit("strands", "StrandsInstrumentor"),
    "traceai-pydantic-ai": traceai_pydantic_ai,
    "traceai-google-adk": lambda: traceai("google_adk", "GoogleADKInstrumentor"),
    "traceai-smolagents": lambda: traceai("smolagents", "SmolagentsInstrumentor"),
    "openinference-mcp": lambda: several(openinference("mcp", "MCPInstrumentor"), ("openinference.instrumentation.openai", "OpenAIInstrumentor")),
    "traceloop-mcp": lambda: several(traceloop("mcp", "McpInstrumentor"), ("opentelemetry.instrumentation.openai", "OpenAIInstrumentor")),
    "traceloop-google-genai": lambda: traceloop("google_generativeai", "GoogleGenerativeAiInstrumentor"),
    "logfire-google-genai": lambda: logfire("instrument_google_genai", with_content=True),
    "traceloop-bedrock": lambda: traceloop("bedrock", "BedrockInstrumentor"),
    "traceloop-anthropic": lambda: traceloop("anthropic", "AnthropicInstrumentor"),
    "mlflow-dspy": lambda: mlflow("dspy"),
    "mlflow-crewai": lambda: mlflow("crewai"),
    "traceai-openai-agents": lambda: traceai("openai_agents", "OpenAIAgentsInstrumentor"),
    "lmnr": lmnr,
    "langtrace": langtrace,
    "monocle": monocle,
    "genai-openai": lambda: genai("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor"),
    "genai-openai-agents": lambda: several(genai("opentelemetry.instrumentation.genai.openai_agents", "OpenAIAgentsInstrumentor"), ("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor")),
    "genai-smolagents": lambda: genai("opentelemetry.instrumentation.genai.smolagents", "SmolagentsInstrumentor"),
    "genai-dspy": lambda: genai("opentelemetry.instrumentation.genai.dspy", "DSPyInstrumentor"),
    "loongsuite-crewai": lambda: genai("opentelemetry.instrumentation.crewai", "CrewAIInstrumentor"),
    "splunk-openai-agents": lambda: genai("opentelemetry.instrumentation.openai_agents", "OpenAIAgentsInstrumentor"),
    "llm-tracekit-openai-agents": lambda: llm_tracekit("openai_agents", "OpenAIAgentsInstrumentor"),
    "langwatch": langwatch,
    "respan-openai-agents": respan,
    "haystack": haystack,
    "logfire-openai": lambda: logfire("instrument_openai"),
    "logfire-anthropic": lambda: logfire("instrument_anthropic"),
    "langfuse-openai": langfuse_openai,
    "langfuse-langchain": langfuse_langchain,
    "langfuse-llama-index": langfuse_llama_index,
    "langsmith": langsmith,
    "langsmith-openai": langsmith_openai,
    "langsmith-openai-agents": langsmith_openai_agents,
    "litellm-otel": litellm_otel,
    "openinference-langchain": lambda: openinference("langchain", "LangChainInstrumentor"),
    "openinference-autogen-agentchat": lambda: openinference("autogen_agentchat", "AutogenAgentChatInstrumentor"),
    "openinference-strands": openinference_strands,
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

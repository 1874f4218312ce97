"""An agent that refunds orders, built with Pydantic AI and its own tracing. The version of the agent chooses its instructions.

`refund_agent.py serve` answers each POST with the agent's answer and prints its address. `refund_agent.py traffic` reads one text a line
from standard input, answers each, and ends when all spans are exported.
"""
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

ORDER_TOTAL = 79.9
VERSION = os.environ["AGENT_VERSION"]

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
Agent.instrument_all(True)


def find_order(order_id: str) -> dict:
    """Look up one order by its id."""
    return {"order_id": order_id, "total": ORDER_TOTAL}


def refund_order(order_id: str, amount: float) -> dict:
    """Pay money back for an order."""
    if amount > ORDER_TOTAL:
        raise ModelRetry(f"amount {amount:g} is more than the order total {ORDER_TOTAL:g}")
    return {"refund": "RF-88", "order_id": order_id, "amount": amount}


model = OpenAIChatModel("gpt-4o-mini", provider=OpenAIProvider(base_url=f"{os.environ['MODEL_SERVER']}/v1", api_key="none"))
agent = Agent(model, name="refund-agent", instructions=f"Instructions {VERSION}: refund what the customer is owed.", tools=[find_order, refund_order])


def answer(text):
    return agent.run_sync(text).output


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        with trace.get_tracer("refund-desk").start_as_current_span("request", context=propagate.extract(dict(self.headers))):
            said = answer(text).encode()
        provider.force_flush()
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
    for line in sys.stdin:
        answer(line.strip())
    provider.shutdown()

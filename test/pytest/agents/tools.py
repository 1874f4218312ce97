"""The two tools of the agents, and the set-up of OpenTelemetry that each shares."""
import os

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)

MODEL = "gpt-4o-mini"
SYSTEM = "You help customers with their orders. Use the tools."


def base_url(amount):
    return f"{os.environ['MODEL_SERVER']}/{amount}/v1"


def find_order(order_id: str) -> dict:
    """Look up one order by its id."""
    return {"order_id": order_id, "total": 79.9}


def refund_order(order_id: str, amount: float) -> dict:
    """Pay money back for an order."""
    if amount > 79.9:
        raise ValueError(f"amount {amount:g} is more than the order total 79.9")
    return {"refund": "RF-88", "order_id": order_id, "amount": amount}

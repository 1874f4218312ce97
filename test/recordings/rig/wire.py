"""The bodies of one run: decoded, freed of facts about the machine, and as files."""
import gzip
import json

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

MESSAGES = {"traces": ExportTraceServiceRequest, "logs": ExportLogsServiceRequest}


class Wire:
    def __init__(self, bodies, secrets):
        """`secrets`: local paths and names, and what stands for them in the recording."""
        self.is_replaced = False
        self._files = []
        self.decoded = []
        counts = {"traces": 0, "logs": 0}
        for body in bodies:
            kind = body["kind"]
            counts[kind] += 1
            raw = gzip.decompress(body["payload"]) if body["content_encoding"] == "gzip" else body["payload"]
            is_json = "json" in body["content_type"]
            message = json_format.Parse(raw, MESSAGES[kind](), ignore_unknown_fields=True) if is_json else MESSAGES[kind].FromString(raw)
            payload = body["payload"]
            if any(secret.encode() in raw for secret in secrets):
                self.is_replaced = True
                replace(message, secrets)
                payload = (otlp_json(raw, secrets) if is_json else message.SerializeToString())
                payload = gzip.compress(payload) if body["content_encoding"] == "gzip" else payload
            name = f"{'request' if kind == 'traces' else 'logs'}-{counts[kind]:02}.{'json' if is_json else 'binpb'}{'.gz' if body['content_encoding'] == 'gzip' else ''}"
            about = {"file": name, "kind": kind, "transport": "http", "path": body["path"], "content_type": body["content_type"],
                     "content_encoding": body["content_encoding"], "bytes": len(payload), "user_agent": body["user_agent"]}
            self._files.append((about, payload))
            self.decoded.append((kind, message))

    def files(self):
        return self._files

    def spans(self):
        return [span for kind, message in self.decoded if kind == "traces" for r in message.resource_spans for s in r.scope_spans for span in s.spans]

    def records(self):
        return [record for kind, message in self.decoded if kind == "logs" for r in message.resource_logs for s in r.scope_logs for record in s.log_records]

    def scopes(self):
        found = {f"{s.scope.name}@{s.scope.version}" for kind, message in self.decoded for r in (message.resource_spans if kind == "traces" else message.resource_logs)
                 for s in (r.scope_spans if kind == "traces" else r.scope_logs)}
        return sorted(found)

    def text(self):
        """The spans as a tree, and the log records, for people."""
        lines = []
        children = {}
        spans = sorted(self.spans(), key=lambda span: span.start_time_unix_nano)
        known = {span.span_id for span in spans}
        for span in spans:
            children.setdefault(span.parent_span_id if span.parent_span_id in known else b"", []).append(span)

        def walk(parent, depth):
            for span in children.get(parent, []):
                pad = "  " * depth
                lines.append(f"{pad}- {span.name} [{span.trace_id.hex()[:6]}] kind={span.kind} status={span.status.code} {span.status.message}")
                lines.extend(f"{pad}    {a.key} = {shown(a.value)}" for a in span.attributes)
                lines.extend(f"{pad}    EVENT {e.name}: " + "; ".join(f"{a.key} = {shown(a.value)}" for a in e.attributes) for e in span.events)
                walk(span.span_id, depth + 1)

        walk(b"", 0)
        for record in self.records():
            lines.append(f"LOG {record.event_name} {shown(record.body)} " + "; ".join(f"{a.key} = {shown(a.value)}" for a in record.attributes))
        return "\n".join(lines)


def shown(value):
    text = json_format.MessageToJson(value, indent=None, ensure_ascii=False)
    inner = json.loads(text)
    text = str(next(iter(inner.values()))) if len(inner) == 1 else text
    return text if len(text) < 1500 else text[:1500] + "…"


def replace(message, secrets):
    """Replaces in every text of a protobuf message, in place."""
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for inner in [value] if hasattr(value, "ListFields") else value:
                replace(inner, secrets)
        elif field.type == field.TYPE_STRING and isinstance(value, str):
            setattr(message, field.name, without(value, secrets))


def without(text, secrets):
    for secret, neutral in secrets.items():
        text = text.replace(secret, neutral)
    return text


def otlp_json(raw, secrets):
    return without(raw.decode(), secrets).encode()

"""A scripted model on loopback. It speaks the HTTP APIs of OpenAI (chat and responses), Anthropic, Gemini and Bedrock Converse.

An agent first posts its script to /script: a list of answers, `{"calls": [{"name", "arguments"}]}` or `{"text"}`. Every request to the model takes
the next one. The server keeps what it was asked and what it answered (`exchanges`), one form for all APIs: this is the record of model calls, tokens,
call ids, tool definitions and of the results as the model saw them.
"""
import json
import re
import struct
import threading
import time
import urllib.parse
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CREATED = 1_790_000_000


def text_of(content):
    if content is None or isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if isinstance(part, dict))


def from_chat(body):
    messages = body["messages"]
    return {
        "system": "\n".join(text_of(m["content"]) for m in messages if m["role"] in ("system", "developer")) or None,
        "results": {m["tool_call_id"]: text_of(m["content"]) for m in messages if m["role"] == "tool"},
        "tools": [{"name": t["function"]["name"], "description": t["function"].get("description", ""), "input_schema": t["function"].get("parameters")}
                  for t in body.get("tools") or []],
    }


def from_responses(body):
    items = body["input"] if isinstance(body["input"], list) else []
    return {
        "system": body.get("instructions") or "\n".join(text_of(i["content"]) for i in items if i.get("role") in ("system", "developer")) or None,
        "results": {i["call_id"]: text_of(i["output"]) for i in items if i.get("type") == "function_call_output"},
        "tools": [{"name": t["name"], "description": t.get("description", ""), "input_schema": t.get("parameters")}
                  for t in body.get("tools") or [] if t.get("type") == "function"],
    }


def from_anthropic(body):
    blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
    return {
        "system": text_of(body.get("system")),
        "results": {b["tool_use_id"]: text_of(b.get("content")) for b in blocks if b.get("type") == "tool_result"},
        "tools": [{"name": t["name"], "description": t.get("description", ""), "input_schema": t.get("input_schema")} for t in body.get("tools") or []],
    }


def from_gemini(body):
    parts = [p for c in body["contents"] for p in c.get("parts") or []]
    answers = [p["functionResponse"] for p in parts if "functionResponse" in p]
    return {
        "system": text_of((body.get("systemInstruction") or {}).get("parts")),
        "results": {a.get("id") or f"#{n}": a.get("response") for n, a in enumerate(answers)},
        "tools": [{"name": d["name"], "description": d.get("description", ""), "input_schema": d.get("parametersJsonSchema") or d.get("parameters_json_schema") or d.get("parameters")}
                  for t in body.get("tools") or [] for d in t.get("functionDeclarations") or []],
    }


def from_converse(body):
    blocks = [b for m in body["messages"] for b in m["content"]]
    results = [b["toolResult"] for b in blocks if "toolResult" in b]
    return {
        "system": text_of(body.get("system")),
        "results": {r["toolUseId"]: r["content"][0].get("json", text_of(r["content"])) for r in results},
        "tools": [{"name": t["toolSpec"]["name"], "description": t["toolSpec"].get("description", ""), "input_schema": t["toolSpec"]["inputSchema"]["json"]}
                  for t in (body.get("toolConfig") or {}).get("tools") or [] if "toolSpec" in t],
    }


def pieces(text, size=12):
    return [text[i:i + size] for i in range(0, len(text), size)]


def chat(body, answer):
    calls, text, used_in, used_out = answer["calls"], answer["text"], answer["input_tokens"], answer["output_tokens"]
    usage = {"prompt_tokens": used_in, "completion_tokens": used_out, "total_tokens": used_in + used_out,
             "prompt_tokens_details": {"cached_tokens": 16}, "completion_tokens_details": {"reasoning_tokens": 4}}
    base = {"id": f"chatcmpl-{answer['id']}", "created": CREATED, "model": answer["response_model"]}
    finish = "tool_calls" if calls else "stop"
    if not body.get("stream"):
        message = {"role": "assistant", "content": text, "refusal": None}
        if calls:
            message["tool_calls"] = [{"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["arguments"], ensure_ascii=False)}}
                                     for c in calls]
        return {**base, "object": "chat.completion", "usage": usage,
                "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}]}

    def chunk(delta, reason=None):
        return None, {**base, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]}

    events = [chunk({"role": "assistant", "content": "" if text else None})]
    events += [chunk({"content": part}) for part in pieces(text or "")]
    is_mistral = answer["response_model"].startswith("mistral")  # sends a call in one piece
    for n, call in enumerate(calls):
        arguments = json.dumps(call["arguments"], ensure_ascii=False)
        function = {"name": call["name"], "arguments": arguments if is_mistral else ""}
        events.append(chunk({"tool_calls": [{"index": n, "id": call["id"], "type": "function", "function": function}]}))
        events += [chunk({"tool_calls": [{"index": n, "function": {"arguments": part}}]}) for part in pieces(arguments) if not is_mistral]
    events.append(chunk({}, finish))
    events.append((None, {**base, "object": "chat.completion.chunk", "choices": [], "usage": usage}))
    return events + [(None, "[DONE]")]


def responses(body, answer):
    output = [{"type": "function_call", "id": f"fc_{c['id']}", "call_id": c["id"], "name": c["name"], "arguments": json.dumps(c["arguments"], ensure_ascii=False),
               "status": "completed"} for c in answer["calls"]]
    if not output:
        output = [{"type": "message", "id": f"msg_{answer['id']}", "status": "completed", "role": "assistant",
                   "content": [{"type": "output_text", "text": answer["text"], "annotations": [], "logprobs": []}]}]
    whole = {
        "id": f"resp_{answer['id']}", "object": "response", "created_at": CREATED, "status": "completed", "error": None, "incomplete_details": None,
        "instructions": body.get("instructions"), "max_output_tokens": None, "metadata": {}, "model": answer["response_model"], "output": output,
        "parallel_tool_calls": True, "previous_response_id": None, "reasoning": {"effort": None, "summary": None}, "store": False, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": body.get("tools") or [], "top_p": 1.0, "truncation": "disabled", "user": None,
        "usage": {"input_tokens": answer["input_tokens"], "input_tokens_details": {"cached_tokens": 16}, "output_tokens": answer["output_tokens"],
                  "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": answer["input_tokens"] + answer["output_tokens"]},
    }
    if not body.get("stream"):
        return whole
    events = []

    def emit(kind, **fields):
        events.append((kind, {"type": kind, "sequence_number": len(events), **fields}))

    emit("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None})
    for n, item in enumerate(output):
        at = {"item_id": item["id"], "output_index": n}
        if item["type"] == "function_call":
            emit("response.output_item.added", output_index=n, item={**item, "status": "in_progress", "arguments": ""})
            for part in pieces(item["arguments"]):
                emit("response.function_call_arguments.delta", **at, delta=part)
            emit("response.function_call_arguments.done", **at, arguments=item["arguments"], name=item["name"])
        else:
            part = item["content"][0]
            emit("response.output_item.added", output_index=n, item={**item, "status": "in_progress", "content": []})
            emit("response.content_part.added", **at, content_index=0, part={**part, "text": ""})
            for words in pieces(part["text"]):
                emit("response.output_text.delta", **at, content_index=0, delta=words, logprobs=[])
            emit("response.output_text.done", **at, content_index=0, text=part["text"], logprobs=[])
            emit("response.content_part.done", **at, content_index=0, part=part)
        emit("response.output_item.done", output_index=n, item=item)
    emit("response.completed", response=whole)
    return events


def anthropic(body, answer):
    content = [{"type": "tool_use", "id": c["id"], "name": c["name"], "input": c["arguments"]} for c in answer["calls"]] or [{"type": "text", "text": answer["text"]}]
    reason = "tool_use" if answer["calls"] else "end_turn"
    base = {"id": f"msg_{answer['id']}", "type": "message", "role": "assistant", "model": answer["response_model"]}
    usage = {"input_tokens": answer["input_tokens"], "output_tokens": answer["output_tokens"]}
    if not body.get("stream"):
        return {**base, "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage}
    events = [("message_start", {"message": {**base, "content": [], "stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}})]
    for n, block in enumerate(content):
        is_text = block["type"] == "text"
        events.append(("content_block_start", {"index": n, "content_block": {**block, "text": ""} if is_text else {**block, "input": {}}}))
        for part in pieces(block["text"] if is_text else json.dumps(block["input"], ensure_ascii=False)):
            events.append(("content_block_delta", {"index": n, "delta": {"type": "text_delta", "text": part} if is_text else {"type": "input_json_delta", "partial_json": part}}))
        events.append(("content_block_stop", {"index": n}))
    events += [("message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": answer["output_tokens"]}}), ("message_stop", {})]
    return [(name, {"type": name, **data}) for name, data in events]


def gemini(_body, answer):
    parts = [{"functionCall": {"id": c["id"], "name": c["name"], "args": c["arguments"]}} for c in answer["calls"]] or [{"text": t} for t in [answer["text"]]]
    usage = {"promptTokenCount": answer["input_tokens"], "candidatesTokenCount": answer["output_tokens"], "totalTokenCount": answer["input_tokens"] + answer["output_tokens"]}
    base = {"responseId": answer["id"], "modelVersion": answer["response_model"]}

    def part_of(parts, finish=None):
        return {**base, "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, **({"finishReason": finish} if finish else {})}]}

    whole = {**part_of(parts, "STOP"), "usageMetadata": usage}
    if not answer["stream"]:
        return whole
    texts = [(None, part_of([{"text": t}])) for t in pieces(answer["text"] or "")]
    return [*texts, (None, {**part_of([] if texts else parts, "STOP"), "usageMetadata": usage})]


def converse(_body, answer):
    content = [{"toolUse": {"toolUseId": c["id"], "name": c["name"], "input": c["arguments"]}} for c in answer["calls"]] or [{"text": answer["text"]}]
    reason = "tool_use" if answer["calls"] else "end_turn"
    usage = {"inputTokens": answer["input_tokens"], "outputTokens": answer["output_tokens"], "totalTokens": answer["input_tokens"] + answer["output_tokens"]}
    if not answer["stream"]:
        return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 12}}
    events = [("messageStart", {"role": "assistant"})]
    for n, block in enumerate(content):
        use = block.get("toolUse")
        if use:
            events.append(("contentBlockStart", {"contentBlockIndex": n, "start": {"toolUse": {"toolUseId": use["toolUseId"], "name": use["name"]}}}))
        for part in pieces(json.dumps(use["input"], ensure_ascii=False) if use else block["text"]):
            events.append(("contentBlockDelta", {"contentBlockIndex": n, "delta": {"toolUse": {"input": part}} if use else {"text": part}}))
        events.append(("contentBlockStop", {"contentBlockIndex": n}))
    return [*events, ("messageStop", {"stopReason": reason}), ("metadata", {"usage": usage, "metrics": {"latencyMs": 12}})]


def aws_event(name, data):
    """One message of `application/vnd.amazon.eventstream`."""
    headers = b"".join(
        struct.pack("!B", len(key)) + key.encode() + b"\x07" + struct.pack("!H", len(value)) + value.encode()
        for key, value in ((":event-type", name), (":content-type", "application/json"), (":message-type", "event")))
    payload = json.dumps(data).encode()
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack("!I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack("!I", zlib.crc32(message))


APIS = [
    (re.compile(r"/chat/completions$"), from_chat, chat),
    (re.compile(r"/responses$"), from_responses, responses),
    (re.compile(r"/v1/messages$"), from_anthropic, anthropic),
    (re.compile(r"/models/(?P<model>[^:/]+):(?P<stream>stream)?[gG]enerateContent$"), from_gemini, gemini),
    (re.compile(r"/model/(?P<model>[^/]+)/converse(?P<stream>-stream)?$"), from_converse, converse),
]


class ModelServer:
    """`exchanges`: what was asked and answered; `leftover`: scripted answers that nobody asked for; `unexpected`: requests without an answer."""

    def __init__(self):
        self.exchanges, self.leftover, self.unexpected = [], [], []
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def send(self, status, content_type, payload):
                self.send_response(status)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def do_GET(self):
                self.send(200, "application/json", b'{"object":"list","data":[{"id":"gpt-4o-mini","object":"model"}]}')

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                path = urllib.parse.unquote(self.path.split("?")[0])
                if path == "/script":
                    owner.leftover = list(body)
                    return self.send(200, "application/json", b"{}")
                result = owner.answer(path, body)
                if result is None:
                    return self.send(404, "application/json", b'{"error":{"message":"nothing is scripted for this request","type":"invalid_request_error"}}')
                if isinstance(result, dict):
                    return self.send(200, "application/json", json.dumps(result).encode())
                if path.endswith("/converse-stream"):
                    return self.send(200, "application/vnd.amazon.eventstream", b"".join(aws_event(*event) for event in result))
                lines = [(f"event: {name}\n" if name else "") + "data: " + (data if isinstance(data, str) else json.dumps(data)) + "\n\n" for name, data in result]
                return self.send(200, "text/event-stream", "".join(lines).encode())

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def answer(self, path, body):
        with self._lock:
            for pattern, read, write in APIS:
                match = pattern.search(path)
                if match is None:
                    continue
                asked = read(body)
                if not self.leftover:
                    self.unexpected.append(path)
                    return None
                step, number = self.leftover.pop(0), len(self.exchanges)
                parts = match.groupdict()
                model = body.get("model") or parts.get("model")
                calls = [{"id": call.get("id") or f"call_{number}{n}Rk27x", **call} for n, call in enumerate(step.get("calls") or [])]
                answer = {
                    "id": f"{number}f3a9", "calls": calls, "text": step.get("text"), "stream": bool(body.get("stream") or parts.get("stream")),
                    "input_tokens": 210 + 30 * number, "output_tokens": 21 + 3 * number,
                    "response_model": model + ("-2024-07-18" if model == "gpt-4o-mini" else ""),
                }
                self.exchanges.append({"at": time.time_ns(), "model": model, **asked, "answer": answer})
                return write(body, answer)
            return None

    def close(self):
        self._http.shutdown()

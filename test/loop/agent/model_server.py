"""A scripted model behind the OpenAI chat completions API: find_order, refund_order, an answer. Standard library only. Prints its address.

The instructions name the version of the agent, and the version decides which requests the model gets wrong: it then asks for 500.
"""
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOO_MUCH = 500.0
# Words of requests that each version gets wrong.
WRONG = {"1.0": ["everything"], "1.1": ["voucher"], "1.2": ["postage"]}


def amount(version, text):
    if any(word in text for word in WRONG[version]):
        return TOO_MUCH
    if "everything" in text:
        return 79.9
    return float(re.search(r"refund (\d+(?:\.\d+)?)", text)[1])


def message(messages):
    system = next(one["content"] for one in messages if one["role"] in ("system", "developer"))
    version = re.search(r"Instructions (\S+):", system)[1]
    text = next(one["content"] for one in reversed(messages) if one["role"] == "user")
    asked = [one for one in messages if one["role"] == "assistant"]
    if len(asked) >= 2:
        return {"role": "assistant", "content": "I cannot refund that." if amount(version, text) == TOO_MUCH else "Refunded."}
    name, arguments = [("find_order", {"order_id": "A-1042"}), ("refund_order", {"order_id": "A-1042", "amount": amount(version, text)})][len(asked)]
    call = {"id": f"call_{len(asked)}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = message(body["messages"])
        answer = json.dumps({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000, "model": body["model"],
            "choices": [{"index": 0, "message": said, "finish_reason": "tool_calls" if "tool_calls" in said else "stop"}],
            "usage": {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60},
        }).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()

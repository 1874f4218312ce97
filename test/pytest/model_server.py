"""A scripted model behind the OpenAI chat completions API: find_order, then refund_order, then an answer. Standard library only.

The amount of the refund is the first part of the path: http://127.0.0.1:PORT/39.95/v1. Prints its address.
"""
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def message(amount, messages):
    after_user = messages[max(at for at, one in enumerate(messages) if one["role"] == "user") + 1 :]
    asked = sum(one["role"] == "assistant" for one in after_user)
    calls = [("find_order", {"order_id": "A-1042"}), ("refund_order", {"order_id": "A-1042", "amount": amount})]
    if asked >= len(calls):
        return {"role": "assistant", "content": "Done."}
    name, arguments = calls[asked]
    return {"role": "assistant", "content": None, "tool_calls": [{"id": f"call_{asked}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = message(float(self.path.split("/")[1]), body["messages"])
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

"""Takes OTLP over HTTP on loopback and keeps each body as it came over the wire."""
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """`bodies`: {kind, path, content_type, content_encoding, user_agent, payload} in order of arrival."""

    def __init__(self):
        self.bodies = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def _answer(self, content_type="application/json", payload=b"{}"):
                self.send_response(200)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            do_GET = do_PUT = do_PATCH = _answer

            def do_POST(self):
                payload = self._payload()
                path = self.path.split("?")[0]
                content_type = self.headers.get("content-type", "")
                kind = {"/traces": "traces", "/logs": "logs"}.get(path[path.rfind("/"):])
                if kind and payload:
                    owner.bodies.append({
                        "kind": kind, "path": path, "content_type": content_type, "content_encoding": self.headers.get("content-encoding"),
                        "user_agent": self.headers.get("user-agent"), "payload": payload})
                if "protobuf" in content_type:
                    return self._answer(content_type, b"")
                return self._answer()

            def _payload(self):
                if self.headers.get("transfer-encoding", "").lower() != "chunked":
                    return self.rfile.read(int(self.headers.get("content-length") or 0))
                parts = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self):
        self._http.shutdown()

"""Scores the agent run of each test by a tracejury that lives as long as the test session. Copy this file beside your tests.

TRACEJURY names the command: "npx tracejury" where the package is installed, "npm run --silent tracejury --" in a checkout.
"""
import contextlib, json, os, shlex, socket, subprocess, time, urllib.request

import pytest
from opentelemetry import trace

CONFIG = """
evaluators: [ defaults ]
closing: { settle: 200ms, quiet: 2s }
store: { url: "memory:", content: all }
journal: { url: "memory:" }
"""
WAIT_SECONDS = 30


def free_address():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{found.getsockname()[1]}"


OTLP, CONSOLE = free_address(), free_address()
# Set while pytest loads this file: before your tests import the agent, whose exporter reads it.
os.environ.update(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{OTLP}", OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf")


def get(path):
    with urllib.request.urlopen(f"http://{CONSOLE}{path}", timeout=5) as answer:
        return json.loads(answer.read() or "null") if path.startswith("/api/") else answer.status


def until(found, what):
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if result := found(): return result
        time.sleep(0.1)
    raise AssertionError(what)


@pytest.fixture(scope="session")
def tracejury_service(tmp_path_factory):
    file = tmp_path_factory.mktemp("tracejury") / "tracejury.yaml"
    file.write_text(f'listen: {{ otlp_http: "{OTLP}", otlp_grpc: "127.0.0.1:0", console: "{CONSOLE}" }}\n{CONFIG}')
    service = subprocess.Popen([*shlex.split(os.environ.get("TRACEJURY", "npx tracejury")), "serve", "-c", str(file)])
    try:
        until(lambda: service.poll() is not None or get("/readyz") == 200, "tracejury is not ready")
        yield service.poll() is None or pytest.fail("tracejury did not start")
    finally:
        service.terminate()
        service.wait(WAIT_SECONDS)


@pytest.fixture
def tracejury(tracejury_service, request):
    """The trace of this test: spans that the test causes belong to it."""
    with contextlib.closing(Trace(request.node.name)) as recorded:
        yield recorded


class Trace:
    def __init__(self, name):
        self.context, self.found = trace.get_tracer("pytest").start_as_current_span(name), None
        self.trace_id = format(self.context.__enter__().get_span_context().trace_id, "032x")
        assert int(self.trace_id, 16), "no TracerProvider is set: import the module that sets up tracing above the tests"

    def close(self):
        if self.context is not None:
            self.context.__exit__(None, None, None)
            trace.get_tracer_provider().force_flush()
            self.context = None

    def run(self):
        """The agent run of the test as the API has it; the one that began first, where agents call agents."""
        self.close()
        if self.found is None:
            runs = until(lambda: get(f"/api/v1/runs?trace={self.trace_id}")["runs"], f"no agent run in trace {self.trace_id}")
            self.found = get(f"/api/v1/runs/{self.trace_id}/{min(runs, key=lambda one: one['started_at'])['span_id']}")
        return self.found

    def assert_run(self, *evaluators):
        """Each named evaluator passed; a skipped one did not. Without names: at least one passed, and none failed."""
        verdicts = {verdict["name"]: verdict for verdict in self.run()["verdicts"]}
        said = {name: f"{one['status']}: {one['explanation']}" for name, one in verdicts.items()}
        failed = [name for name, one in verdicts.items() if one["passed"] is False or one["status"] == "failed"]
        bad = [name for name in evaluators if verdicts.get(name, {}).get("passed") is not True] or ([] if evaluators else failed)
        assert not bad, "\n".join(f"{name}: {said.get(name, 'no such evaluator is on')}" for name in bad)
        assert any(one["passed"] for one in verdicts.values()), f"nothing was scored: {said}"

    def expect_tool_calls(self, expected):
        """Names, or mappings of `name` and `arguments`, in order; arguments that are not listed may be anything."""
        wanted = [{"name": one} if isinstance(one, str) else one for one in expected]
        calls = self.run()["tool_calls"]
        assert [call["name"] for call in calls] == [one["name"] for one in wanted]
        for call, arguments in zip(calls, [one.get("arguments", {}) for one in wanted]):
            assert {key: (call["arguments"] or {}).get(key) for key in arguments} == arguments, call["name"]

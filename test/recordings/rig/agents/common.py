"""What the agents share: the tools, the record of what truly happened, the script for the model, the OpenTelemetry set-up."""
import http.client
import inspect
import json
import os
import pathlib
import threading
import time

MODEL_URL = os.environ["RIG_MODEL_URL"]
SCENARIO = os.environ["RIG_SCENARIO"]
INSTRUMENTATION = os.environ["RIG_INSTRUMENTATION"]
SCRIPT = json.loads((pathlib.Path(__file__).parent.parent / "scenarios.json").read_text(encoding="utf-8"))[SCENARIO]
TURNS = SCRIPT["turns"]
INPUTS = [turn["input"] for turn in TURNS]
SESSION = SCRIPT.get("session")
REQUEST = TURNS[0].get("request")
STREAM = SCENARIO == "stream"
HANDOFF = SCENARIO == "handoff"
MODEL = "gpt-4o-mini"
AGENT, SUB_AGENT = "stock_clerk", "pickup_planner"
SYSTEM = "You look after a warehouse. Answer with the help of the tools."
SUB_SYSTEM = "You plan pickups at the loading dock."
SUB_FINAL = "Slot PU-77 on Friday."
BASE_URL = f"{MODEL_URL}/v1"

os.environ.update({
    "OPENAI_API_KEY": "not-a-key", "OPENAI_BASE_URL": BASE_URL, "OPENAI_API_BASE": BASE_URL, "OTEL_SERVICE_NAME": "warehouse", "DO_NOT_TRACK": "1",
    "OTEL_METRICS_EXPORTER": "none", "CREWAI_DISABLE_TELEMETRY": "true", "ANONYMIZED_TELEMETRY": "false"})

_truth = {"agent_name": None, "session_id": None, "system_prompt": None, "own_tools": [], "turns": [], "sub_agent": None}
_lock = threading.Lock()


def facts(**values):
    """What the agent's code told the SDK: `agent_name`, `session_id`, `system_prompt`."""
    _truth.update(values)


def begin(text):
    _truth["turns"].append({"input": text, "begin": time.time_ns(), "executions": []})


def end(final):
    _truth["turns"][-1].update(final_response=final, end=time.time_ns())


class StockError(Exception):
    pass


_log = pathlib.Path(os.environ["RIG_TRUTH"] + ".server")
_is_server = False


def log_executions():
    """For a process beside the agent's: what it executes goes to a file, which the agent's record takes up."""
    global _is_server
    _is_server = True


def executed(name, arguments, run):
    call = {"name": name, "arguments": arguments, "start": time.time_ns()}
    if not _is_server:
        with _lock:
            _truth["turns"][-1]["executions"].append(call)
    try:
        call["result"] = run()
        return call["result"]
    except Exception as error:
        call["error"] = {"type": type(error).__name__, "message": str(error)}
        raise
    finally:
        if _is_server:
            with _log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(call) + "\n")


STOCK = {"LAMP-3": ("Porto", 17, ["A4", "C1"]), "MUG-8": ("Gent", 230, ["B2"]), "Łampa-7": ("東京", 9, ["Ż1"])}


def check_stock(sku: str, warehouse: str) -> dict:
    """Tell how many pieces of an article a warehouse holds."""
    def run():
        _, available, bins = STOCK[sku]
        return {"sku": sku, "warehouse": warehouse, "available": available, "bins": bins, "price": 12.5}

    return executed("check_stock", {"sku": sku, "warehouse": warehouse}, run)


def reserve_stock(sku: str, quantity: int, notes: list[str]) -> dict:
    """Put pieces of an article aside for a customer."""
    def run():
        if quantity > STOCK[sku][1]:
            raise StockError(f"{quantity} exceeds the {STOCK[sku][1]} pieces left of {sku}")
        return {"reservation": "RS-311", "sku": sku, "quantity": quantity, "packed": False, "note": "Abholung in 2–3 Tagen"}

    return executed("reserve_stock", {"sku": sku, "quantity": quantity, "notes": list(notes)}, run)


def book_pickup(reservation: str, day: str) -> dict:
    """Book a slot at the loading dock for a reservation."""
    return executed("book_pickup", {"reservation": reservation, "day": day}, lambda: {"slot": "PU-77", "reservation": reservation, "day": day, "dock": 3})


TOOLS = {"check_stock": check_stock, "reserve_stock": reserve_stock}
_JSON_TYPES = {str: {"type": "string"}, int: {"type": "integer"}, list[str]: {"type": "array", "items": {"type": "string"}}}


def definition(function):
    """Name, description and JSON schema, as one writes them by hand for a client SDK."""
    parameters = inspect.signature(function).parameters
    properties = {name: _JSON_TYPES[parameter.annotation] for name, parameter in parameters.items()}
    return {"name": function.__name__, "description": function.__doc__, "input_schema": {"type": "object", "properties": properties, "required": list(properties)}}


DEFINITIONS = [definition(function) for function in TOOLS.values()]
CHAT_TOOLS = [{"type": "function", "function": {"name": d["name"], "description": d["description"], "parameters": d["input_schema"]}} for d in DEFINITIONS]


def default_script(handoff=None):
    """The answers of the model. `handoff`: the call that passes the work on, with `via`: handoff (the second agent answers) or tool (the first one does)."""
    script = []
    for turn in TURNS:
        if HANDOFF and handoff:
            script.append({"calls": [{"name": handoff["name"], "arguments": handoff["arguments"]}]})
        script += [{"calls": step} for step in turn["steps"]]
        if HANDOFF and handoff and handoff["via"] == "tool":
            script.append({"text": SUB_FINAL})
        script.append({"text": turn["final"]})
    return script


def plan(handoff=None, script=None):
    """Sends the script to the model server. Call it before the first request."""
    if HANDOFF and handoff:
        _truth["sub_agent"] = {"agent_name": SUB_AGENT, "via": handoff["via"], "via_tool": handoff["name"], "tools": ["book_pickup"]}
    _truth["own_tools"] = [definition(f) for f in [*TOOLS.values(), *([book_pickup] if HANDOFF else [])]]
    body = json.dumps(script or default_script(handoff)).encode()
    connection = http.client.HTTPConnection(MODEL_URL.removeprefix("http://"))
    connection.request("POST", "/script", body)
    connection.getresponse().read()
    connection.close()


def finish(flush=lambda: None):
    """Sends what is left and hands the record over."""
    flush()
    for line in _log.read_text(encoding="utf-8").splitlines() if _log.exists() else []:
        call = json.loads(line)
        next(turn for turn in _truth["turns"] if turn["begin"] <= call["start"] <= turn["end"])["executions"].append(call)
    pathlib.Path(os.environ["RIG_TRUTH"]).write_text(json.dumps(_truth, ensure_ascii=False), encoding="utf-8")

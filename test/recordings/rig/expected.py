"""Writes what an agent truly did in the form of expected.json: from its own record and from that of the model server, never from the spans.

The spans only tell which OTLP trace a turn became, and which of the values stand in them at all.
"""
import platform

from evidence import named, search, units_of


def expected_of(entry, scenario, told, wire, exchanges, versions):
    spans, logs = units_of(wire.decoded)
    turns = told["turns"]
    own_exchanges = [[e for e in exchanges if turn["begin"] <= e["at"] <= turn["end"]] for turn in turns]
    traces = [trace_of(told, turn, own, spans + logs) for turn, own in zip(turns, own_exchanges, strict=True)]
    other = place(traces, turns, wire, spans)
    absent, partly = search(traces, own_exchanges, spans + logs).excuses()
    absent_in_spans, _ = search(traces, own_exchanges, spans).excuses()
    for path in entry.get("not_carried", []):
        absent = sorted({*absent, path})
    framework = entry.get("framework")
    return {
        "source": {
            "package": entry["package"], "version": versions[entry["package"]], "framework": framework, "framework_version": versions[framework] if framework else None,
            "language": "python", "language_version": ".".join(platform.python_version_tuple()[:2]), "scopes": wire.scopes()},
        "dialect": entry["dialect"], "scenario": scenario,
        "files": [about for about, _ in wire.files()],
        "decoded": {"spans": len(wire.spans()), "log_records": len(wire.records()), "otlp_traces": len({one.trace_id for one in [*wire.spans(), *wire.records()] if one.trace_id})},
        "traces": traces, "other_otlp_traces": other,
        "not_carried": absent, "partly_carried": [path for path in partly if path not in absent],
        "only_in_logs": [path for path in absent_in_spans if path not in absent] if logs else [],
        "machine_facts_replaced": wire.is_replaced, "notes": entry.get("notes", []),
    }


def trace_of(told, turn, exchanges, units):
    asked = [{**call, "group": number if len(e["answer"]["calls"]) > 1 else None} for number, e in enumerate(exchanges) for call in e["answer"]["calls"]]
    seen = {call_id: result for e in exchanges for call_id, result in e["results"].items()}
    sub = told["sub_agent"]
    calls = [executed_call(run, asked, seen) for run in sorted(turn["executions"], key=lambda run: run["start"])]
    passed_on = [handover(call, sub, seen) for call in asked if sub and call["name"] == sub["via_tool"]]
    below = [call for call in calls if sub and call["name"] in sub["tools"]]
    groups = {}
    for call in calls:
        if call.get("parallel_group") is not None:
            call["parallel_group"] = groups.setdefault(call["parallel_group"], len(groups) + 1)
    tools = {tool["name"]: tool for e in exchanges for tool in e["tools"]}
    own_tools = {tool["name"]: tool for tool in told["own_tools"]}
    usage = {side: sum(e["answer"][f"{side}_tokens"] for e in exchanges) for side in ("input", "output")}
    prompt = told["system_prompt"]
    as_sent = exchanges[0]["system"] if exchanges else None
    trace = {
        "agent_name": told["agent_name"], "session_id": told["session_id"], "otlp_trace_id": None, "input": turn["input"], "final_response": turn["final_response"],
        "tool_calls": passed_on + [call for call in calls if call not in below],
        "tools": [described(tool, own_tools.get(tool["name"]), units) for tool in tools.values()],
        "llm_calls": len(exchanges), "tokens": usage,
        "sub_agents": [{"agent_name": sub["agent_name"], "via": sub["via"], "via_tool": sub["via_tool"], "input": None, "final_response": None,
                        "tool_calls": below, "tools": []}] if sub else [],
    }
    if exchanges:
        # A router has names of its own for models: the one that the bytes hold counts.
        names = [exchanges[0]["model"], *([told["model"]] if told.get("model") else [])]
        trace["model"] = next((name for name in names if any(text == name for unit in units for _, text in unit.texts)), names[0])
    # A framework may add to the prompt: the agent's own words count where they stand alone, otherwise what the model was sent.
    if prompt and any(text.strip() == prompt for unit in units for _, text in unit.variants):
        trace["system_prompt"] = prompt
    elif as_sent:
        trace["system_prompt"] = as_sent
    return trace


def executed_call(run, asked, seen):
    """The call as the agent ran it, with the id under which the model asked for it."""
    match = next((call for call in asked if call["name"] == run["name"] and call["arguments"] == run["arguments"] and not call.get("taken")), None)
    call = {"name": run["name"], "arguments": run["arguments"], **({"error": run["error"]} if "error" in run else {"result": run["result"]})}
    if match is None:
        return call
    match["taken"] = True
    if match["id"] in seen:
        call["result_as_the_model_saw_it"] = seen[match["id"]]
    if match["group"] is not None:
        call["parallel_group"] = match["group"]
    return {"id": match["id"], **call}


def handover(call, sub, seen):
    told = {"id": call["id"], "name": call["name"], "arguments": call["arguments"]}
    if call["id"] in seen:
        told |= {"result": seen[call["id"]], "result_as_the_model_saw_it": seen[call["id"]]}
    return told | ({"framework_internal": True} if sub["via"] == "handoff" else {})


def described(tool, own, units):
    """The definition as the model got it; where the framework rewrote the description, the one of the two that the bytes hold."""
    texts = [tool["description"], *([own["description"]] if own else [])]
    carried = [text for text in texts if any(unit.holds(text) for unit in units)]
    return {"name": tool["name"], "description": (carried or texts)[0], "input_schema": tool["input_schema"] or {"type": "object", "properties": {}}}


def place(traces, turns, wire, units):
    """Gives each turn its OTLP trace, by the time in which the agent ran it. The rest are other traces."""
    spans = {}
    for span in wire.spans():
        spans.setdefault(span.trace_id.hex(), []).append(span)
    other = []
    homes = [[] for _ in traces]
    for trace_id, own in sorted(spans.items(), key=lambda pair: min(s.start_time_unix_nano for s in pair[1])):
        turn = next((n for n, t in enumerate(turns) if any(t["begin"] <= s.start_time_unix_nano <= t["end"] for s in own)), None)
        is_run = turn is not None and tells_of(traces[turn], [unit for unit in units if unit.trace_id == trace_id])
        if is_run:
            homes[turn].append(trace_id)
        else:
            known = {s.span_id for s in own}
            other.append({"otlp_trace_id": trace_id, "root_spans": [s.name for s in own if s.parent_span_id not in known]})
    for trace, home in zip(traces, homes, strict=True):
        if len(home) == 1:
            trace["otlp_trace_id"] = home[0]
        else:
            trace["split_over_otlp_traces"] = home
    return other


def tells_of(trace, units):
    """A trace that names no model, no tool that was called and no answer is none of an agent run."""
    names = [call["name"] for call in trace["tool_calls"]] + [trace.get("model") or ""]
    return any(name and named(units, name) for name in names) or any(unit.holds(trace["final_response"] or "\0") for unit in units)

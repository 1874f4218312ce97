"""Looks in decoded OTLP bodies for the values that an agent truly used, and says which fields no byte tells.

Every attribute, event, name and body counts, as it stands and unescaped once to three times, since texts are often JSON inside JSON.
"""
import json
import re

KINDS = re.compile(r'"?(llm|chat|chat_model|generation|generate_content|text_completion|completion)"?', re.I)
ERROR_SIGNS = re.compile(
    r"""\\*["']?(status|outcome|level|state)\\*["']?\s*[=:]\s*\\*["']?(error|failed|failure|ERROR)\b|(\b|_)(is_?)?[eE]rror\\*["']?\s*[=:]\s*\\*["']?[Tt]rue|success\\*["']?\s*[=:]\s*[Ff]alse""")


def unescaped(text):
    text = re.sub(r"(?:\\u[0-9a-fA-F]{4})+", lambda m: m.group().encode().decode("unicode_escape").encode("utf-16", "surrogatepass").decode("utf-16", "replace"), text)
    return text.replace('\\"', '"').replace("\\'", "'").replace("\\n", "\n").replace("\\\\", "\\")


def blanks(text):
    return " ".join(text.split())


class Unit:
    """One span or log record: its texts with their keys, its numbers with their keys, whether it says that it failed."""

    def __init__(self, name, trace_id, has_failed, pairs):
        self.name, self.trace_id, self.has_failed = name, trace_id, has_failed
        self.texts, self.numbers, self.groups = [("name", name)], [], {}
        for key, value in pairs:
            if isinstance(value, str):
                self.texts.append((key, value))
            else:
                self.numbers.append((key, value))
            self.groups.setdefault(key.rpartition(".")[0], []).append(f"{key.rpartition('.')[2]}: {value}")
        self.variants = []
        for key, text in self.texts:
            for _ in range(4):
                self.variants.append((key, blanks(text)))
                shorter = unescaped(text)
                if shorter == text:
                    break
                text = shorter
        self.variants += [(prefix, blanks("\n".join(own))) for prefix, own in self.groups.items() if len(own) > 1]

    def holds(self, text):
        wanted = blanks(text)
        return any(wanted in variant for _, variant in self.variants)


def any_value(value, key=""):
    kind = value.WhichOneof("value")
    if kind in ("kvlist_value", "array_value"):
        yield key, json.dumps(plain(value), ensure_ascii=False)
    if kind == "kvlist_value":
        for pair in value.kvlist_value.values:
            yield from any_value(pair.value, f"{key}.{pair.key}")
    elif kind == "array_value":
        for place, item in enumerate(value.array_value.values):
            yield from any_value(item, f"{key}.{place}")
    elif kind == "bytes_value":
        yield key, value.bytes_value.decode("utf-8", "replace")
    elif kind is not None:
        yield key, getattr(value, kind)


def plain(value):
    kind = value.WhichOneof("value")
    if kind == "kvlist_value":
        return {pair.key: plain(pair.value) for pair in value.kvlist_value.values}
    if kind == "array_value":
        return [plain(item) for item in value.array_value.values]
    return None if kind is None else str(value.bytes_value) if kind == "bytes_value" else getattr(value, kind)


def units_of(decoded):
    """(units of spans, units of log records) of [(kind, message)]."""
    spans, logs = [], []
    for kind, message in decoded:
        for resource in message.resource_spans if kind == "traces" else message.resource_logs:
            about = [pair for a in resource.resource.attributes for pair in any_value(a.value, a.key)]
            for scope in resource.scope_spans if kind == "traces" else resource.scope_logs:
                for one in scope.spans if kind == "traces" else scope.log_records:
                    pairs = about + [pair for a in one.attributes for pair in any_value(a.value, a.key)]
                    if kind == "traces":
                        for event in one.events:
                            pairs += [("event", event.name), *(pair for a in event.attributes for pair in any_value(a.value, a.key))]
                        pairs.append(("status.message", one.status.message))
                        failed = one.status.code == 2 or any(e.name == "exception" for e in one.events) or any(a.key == "error.type" for a in one.attributes)
                        spans.append(Unit(one.name, one.trace_id.hex(), failed, pairs))
                    else:
                        pairs += [*any_value(one.body, "body"), ("event_name", one.event_name)]
                        logs.append(Unit(one.event_name or "log", one.trace_id.hex(), False, pairs))
    return spans, logs


def scalar(value):
    if isinstance(value, bool):
        return "(?:true|false)" if value is None else ("[Tt]rue" if value else "[Ff]alse")
    if isinstance(value, (int, float)):
        return re.escape(f"{value:g}") + r"(?:\.0+)?(?![\w.]*\d)"
    return re.escape(blanks(value))


def leaves(value, key=None):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, name)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif value is not None:
        yield key, value


def holds_object(unit, value):
    """Some text holds every key beside its value: `"sku": "LAMP-3"`, `sku='LAMP-3'`, `sku: LAMP-3`."""
    if not isinstance(value, (dict, list)):
        return unit.holds(value if isinstance(value, str) else json.dumps(value))
    patterns = [
        re.compile((rf"""\b{re.escape(key)}\\*["']?\s*[:=]\s*\\*["']*""" if key else r"""(?<![\w])""") + scalar(leaf)) for key, leaf in leaves(value)]
    return any(all(pattern.search(text) for pattern in patterns) for _, text in unit.variants)


def counted(units, number):
    """The number stands under a key of tokens or usage, as a number or inside a text."""
    inside = re.compile(rf"""(?:token|usage)[\w ]*\\*["']?\s*[:=]\s*{number}(?!\d)""", re.I)
    return any(
        any(value == number and re.search("token|usage", key, re.I) for key, value in unit.numbers)
        or any(inside.search(text) or (text == str(number) and re.search("token|usage", key, re.I)) for key, text in unit.variants)
        for unit in units)


def named(units, name):
    pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])")
    return any(pattern.search(text) for unit in units for _, text in unit.variants)


class Finding:
    """Carried or not, value by value, for each field path."""

    def __init__(self):
        self.states = {}

    def note(self, path, is_carried):
        self.states.setdefault(path, []).append(bool(is_carried))

    def excuses(self):
        absent = sorted(path for path, all_of in self.states.items() if not any(all_of))
        partly = sorted(path for path, all_of in self.states.items() if any(all_of) and not all(all_of))
        return absent, partly


def search(traces, exchanges, units):
    """Which values of `traces` (as in expected.json) some unit holds. `exchanges`: those with the model, one list for each trace."""
    found = Finding()

    def some(test):
        return any(test(unit) for unit in units)

    for trace, own in zip(traces, exchanges, strict=True):
        for path in ("input", "final_response", "system_prompt"):
            if trace.get(path):
                found.note(path, some(lambda unit, text=trace[path]: unit.holds(text)))
        for path in ("agent_name", "session_id", "model"):
            if trace.get(path):
                found.note(path, named(units, trace[path]) or (path == "model" and some(lambda unit: unit.holds(trace["model"]))))
        for sub in trace["sub_agents"]:
            found.note("agent_name", named(units, sub["agent_name"]))
        answers = [exchange["answer"] for exchange in own]
        for side in ("input", "output"):
            each = all(counted(units, answer[f"{side}_tokens"]) for answer in answers)
            found.note(f"tokens.{side}", each or counted(units, trace["tokens"][side]))
        by_model = sum(any(text.startswith(trace["model"]) and len(text) < 60 for _, text in unit.texts) for unit in units if unit.trace_id in trace_ids(trace))
        by_kind = sum(any(KINDS.fullmatch(text) for _, text in unit.texts) for unit in units if unit.trace_id in trace_ids(trace))
        found.note("llm_calls", max(by_model, by_kind) >= len(answers) or all(counted(units, answer["input_tokens"]) for answer in answers))
        for call in [*trace["tool_calls"], *(call for sub in trace["sub_agents"] for call in sub["tool_calls"])]:
            note_call(found, call, units, some)
        for tool in trace["tools"]:
            names = list((tool["input_schema"] or {}).get("properties") or {})
            found.note("tools[].name", named(units, tool["name"]))
            found.note("tools[].description", tool["description"] == "" or some(lambda unit, text=tool["description"]: unit.holds(text)))
            found.note("tools[].input_schema", some(lambda unit, names=names: holds_schema(unit, names)))
    return found


def note_call(found, call, units, some):
    if "id" in call:
        found.note("tool_calls[].id", some(lambda unit: unit.holds(call["id"])))
    found.note("tool_calls[].name", named(units, call["name"]))
    found.note("tool_calls[].arguments", some(lambda unit: holds_object(unit, call["arguments"])))
    if "error" in call:
        message = call["error"]["message"]
        found.note("tool_calls[].error.message", some(lambda unit: unit.holds(message)))
        found.note("tool_calls[].error.type", some(lambda unit: unit.holds(call["error"]["type"])))
        found.note("tool_calls[].error", some(lambda unit: says_failed(unit, call["name"], message)))
    elif "result" in call or "result_as_the_model_saw_it" in call:
        forms = [call[key] for key in ("result", "result_as_the_model_saw_it") if call.get(key) is not None]
        found.note("tool_calls[].result", some(lambda unit: any(holds_object(unit, form) for form in forms)))


def says_failed(unit, name, message):
    if unit.has_failed and (unit.holds(name) or unit.holds(message)):
        return True
    return any(blanks(message) in text and ERROR_SIGNS.search(text) for _, text in unit.variants)


def holds_schema(unit, names):
    return any(
        re.search(r"properties|(?i:\bstring\b|\bobject\b)", text) and all(re.search(rf"\b{re.escape(name)}\b", text) for name in names) for _, text in unit.variants)


def trace_ids(trace):
    return [trace["otlp_trace_id"]] if trace["otlp_trace_id"] else trace.get("split_over_otlp_traces", [])

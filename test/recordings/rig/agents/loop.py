"""The plain loop that people write by hand around a client SDK: ask, run the tools, ask again. `instrument.hooks` may wrap a turn and a tool."""
import json

import common
import instrument


def run(ask, add_user, add_results):
    """`ask()` gives (text, [(id, name, arguments)]) and keeps the answer in its conversation; `add_results` gets [(id, name, result text, failed)]."""
    tools = {name: instrument.hooks.tool(function) for name, function in common.TOOLS.items()}

    def run_tool(name, arguments):
        try:
            return json.dumps(tools[name](**arguments), ensure_ascii=False), False
        except common.StockError as error:
            return f"Error: {error}", True

    def answer_customer(question):
        add_user(question)
        while True:
            answer, calls = ask()
            if not calls:
                return answer
            add_results([(call_id, name, *run_tool(name, arguments)) for call_id, name, arguments in calls])

    turn = instrument.hooks.turn(answer_customer)
    for text in common.INPUTS:
        common.begin(text)
        common.end(turn(text))


def chat(create):
    """The loop over a chat completions function, as of OpenAI, LiteLLM and others."""
    messages = [{"role": "system", "content": common.SYSTEM}]
    common.facts(system_prompt=common.SYSTEM)

    def ask():
        request = {"model": common.MODEL, "messages": messages, "tools": common.CHAT_TOOLS, "temperature": 0.2}
        if common.STREAM:
            text, calls = "", {}
            for chunk in create(**request, stream=True, stream_options={"include_usage": True}):
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    for part in choice.delta.tool_calls or []:
                        call = calls.setdefault(part.index, [part.id, "", ""])
                        call[1] += part.function.name or ""
                        call[2] += part.function.arguments or ""
            asked = [tuple(call) for call in calls.values()]
        else:
            message = create(**request).choices[0].message
            text, asked = message.content, [(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or []]
        entry = {"role": "assistant", "content": text or None}
        if asked:
            entry["tool_calls"] = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in asked]
        messages.append(entry)
        return text, [(i, n, json.loads(a)) for i, n, a in asked]

    run(ask, lambda text: messages.append({"role": "user", "content": text}),
        lambda results: messages.extend({"role": "tool", "tool_call_id": i, "content": text} for i, _, text, _ in results))

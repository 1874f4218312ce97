"""The plain loop over Anthropic's SDK."""
import common
import instrument

flush = instrument.start()
import anthropic
import loop

common.facts(system_prompt=common.SYSTEM)
common.plan()
client = instrument.hooks.wrap(anthropic.Anthropic(base_url=common.MODEL_URL, api_key="not-a-key", max_retries=0))
messages = []


def ask():
    request = {"model": "claude-sonnet-4-5", "max_tokens": 500, "system": common.SYSTEM, "messages": messages, "tools": common.DEFINITIONS}
    if common.STREAM:
        with client.messages.stream(**request) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**request)
    content = [block.model_dump(include={"type", "text", "id", "name", "input"}) for block in message.content]
    messages.append({"role": "assistant", "content": content})
    return "".join(b.get("text", "") for b in content), [(b["id"], b["name"], b["input"]) for b in content if b["type"] == "tool_use"]


loop.run(ask, lambda text: messages.append({"role": "user", "content": text}),
         lambda results: messages.append({"role": "user", "content": [
             {"type": "tool_result", "tool_use_id": i, "content": text, "is_error": failed} for i, _, text, failed in results]}))
common.finish(flush)

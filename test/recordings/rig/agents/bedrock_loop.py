"""The plain loop over Bedrock's Converse API."""
import json

import boto3
import common
import instrument

flush = instrument.start()
import loop

common.facts(system_prompt=common.SYSTEM, model="claude-3-5-haiku-20241022-v1:0")
common.plan()
client = boto3.client("bedrock-runtime", endpoint_url=common.MODEL_URL, region_name="eu-west-1", aws_access_key_id="none", aws_secret_access_key="none")
messages = []
TOOLS = {"tools": [{"toolSpec": {"name": d["name"], "description": d["description"], "inputSchema": {"json": d["input_schema"]}}} for d in common.DEFINITIONS]}


def ask():
    request = {"modelId": "anthropic.claude-3-5-haiku-20241022-v1:0", "messages": messages, "system": [{"text": common.SYSTEM}], "toolConfig": TOOLS,
               "inferenceConfig": {"temperature": 0.2, "maxTokens": 500}}
    content = streamed(client.converse_stream(**request)["stream"]) if common.STREAM else client.converse(**request)["output"]["message"]["content"]
    messages.append({"role": "assistant", "content": content})
    uses = [block["toolUse"] for block in content if "toolUse" in block]
    return "".join(block.get("text", "") for block in content), [(use["toolUseId"], use["name"], use["input"]) for use in uses]


def streamed(events):
    blocks = {}
    for event in events:
        if "contentBlockStart" in event:
            use = event["contentBlockStart"]["start"]["toolUse"]
            blocks[event["contentBlockStart"]["contentBlockIndex"]] = {"toolUse": {**use, "input": ""}}
        elif "contentBlockDelta" in event:
            block = blocks.setdefault(event["contentBlockDelta"]["contentBlockIndex"], {"text": ""})
            delta = event["contentBlockDelta"]["delta"]
            if "text" in delta:
                block["text"] += delta["text"]
            else:
                block["toolUse"]["input"] += delta["toolUse"]["input"]
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    return list(blocks.values())


def add_results(results):
    messages.append({"role": "user", "content": [
        {"toolResult": {"toolUseId": i, "content": [{"text": text}], "status": "error" if failed else "success"}} for i, _, text, failed in results]})


loop.run(ask, lambda text: messages.append({"role": "user", "content": [{"text": text}]}), add_results)
common.finish(flush)

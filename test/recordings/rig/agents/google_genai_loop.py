"""The plain loop over Google's GenAI client."""
import common
import instrument

flush = instrument.start()
import loop
from google import genai
from google.genai import types

common.facts(system_prompt=common.SYSTEM)
common.plan()
client = genai.Client(api_key="not-a-key", http_options=types.HttpOptions(base_url=common.MODEL_URL))
declarations = [types.FunctionDeclaration(name=d["name"], description=d["description"], parameters_json_schema=d["input_schema"]) for d in common.DEFINITIONS]
config = types.GenerateContentConfig(system_instruction=common.SYSTEM, tools=[types.Tool(function_declarations=declarations)], temperature=0.2)
contents = []


def ask():
    request = {"model": "gemini-2.5-flash", "contents": contents, "config": config}
    if common.STREAM:
        parts = [part for chunk in client.models.generate_content_stream(**request) for part in (chunk.candidates[0].content.parts or [])]
    else:
        parts = client.models.generate_content(**request).candidates[0].content.parts
    contents.append(types.Content(role="model", parts=parts))
    calls = [part.function_call for part in parts if part.function_call]
    return "".join(part.text or "" for part in parts), [(call.id, call.name, call.args) for call in calls]


def add_results(results):
    contents.append(types.Content(role="user", parts=[
        types.Part(function_response=types.FunctionResponse(id=i, name=name, response={"error" if failed else "result": text})) for i, name, text, failed in results]))


loop.run(ask, lambda text: contents.append(types.Content(role="user", parts=[types.Part(text=text)])), add_results)
common.finish(flush)

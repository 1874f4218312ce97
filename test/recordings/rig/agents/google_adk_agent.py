"""Google ADK with the Gemini API. Handoff: the other agent is an AgentTool of the first one."""
import asyncio
import os

import common
import instrument

os.environ.update({"GOOGLE_API_KEY": "not-a-key", "GOOGLE_GEMINI_BASE_URL": common.MODEL_URL, "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
                   "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT"})
flush = instrument.start()
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

common.facts(agent_name=common.AGENT, system_prompt=common.SYSTEM, session_id=common.SESSION or "session-1")
common.plan({"via": "tool", "name": common.SUB_AGENT, "arguments": {"request": common.REQUEST}})
tools = list(common.TOOLS.values())
if common.HANDOFF:
    tools = [AgentTool(LlmAgent(name=common.SUB_AGENT, model="gemini-2.5-flash", description="Plans pickups.", instruction=common.SUB_SYSTEM, tools=[common.book_pickup]))]
agent = LlmAgent(name=common.AGENT, model="gemini-2.5-flash", instruction=common.SYSTEM, tools=tools)


async def main():
    runner = InMemoryRunner(agent=agent, app_name="warehouse")
    session = await runner.session_service.create_session(app_name="warehouse", user_id="user-4", session_id=common.SESSION or "session-1")
    for text in common.INPUTS:
        common.begin(text)
        final = ""
        async for event in runner.run_async(user_id="user-4", session_id=session.id, new_message=types.Content(role="user", parts=[types.Part(text=text)])):
            if event.is_final_response() and event.content:
                final = "".join(part.text or "" for part in event.content.parts)
        common.end(final)


asyncio.run(main())
common.finish(flush)

/** The dialects, in the order in which they read a span: specific before generic. */
import type { Collector } from './collector.ts';
import { autogen } from './autogen.ts';
import { beeai } from './beeai.ts';
import { claudeAgent } from './claude-agent.ts';
import { crewai } from './crewai.ts';
import { embabel } from './embabel.ts';
import { genAi } from './gen-ai.ts';
import { generic } from './generic.ts';
import { genkit } from './genkit.ts';
import { googleAdk } from './google-adk.ts';
import { haystack } from './haystack.ts';
import { koog } from './koog.ts';
import { laminar } from './laminar.ts';
import { langchain4j } from './langchain4j.ts';
import { langfuse } from './langfuse.ts';
import { langsmith } from './langsmith.ts';
import { logfire } from './logfire.ts';
import { mastra } from './mastra.ts';
import { mcp } from './mcp.ts';
import { mlflow } from './mlflow.ts';
import { openInference } from './openinference.ts';
import { openlit } from './openlit.ts';
import { pydanticAi } from './pydantic-ai.ts';
import { springAiAlibaba } from './spring-ai-alibaba.ts';
import { springAi } from './spring-ai.ts';
import { strands } from './strands.ts';
import { toolAttributes } from './tool-attributes.ts';
import { traceloop } from './traceloop.ts';
import { uipath } from './uipath.ts';
import { vercelAi } from './vercel-ai.ts';

export const collectors: readonly Collector[] = [
  vercelAi,
  langfuse,
  langsmith,
  mlflow,
  genkit,
  crewai,
  traceloop,
  autogen,
  claudeAgent,
  strands,
  googleAdk,
  springAiAlibaba,
  springAi,
  embabel,
  langchain4j,
  koog,
  haystack,
  laminar,
  logfire,
  pydanticAi,
  mastra,
  openlit,
  uipath,
  mcp,
  beeai,
  openInference,
  genAi,
  toolAttributes,
  generic,
];

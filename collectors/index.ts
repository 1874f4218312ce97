/** The dialects, in the order in which they read a span: specific before generic. */
import type { Collector } from './collector.ts';
import { autogen } from './autogen.ts';
import { claudeAgent } from './claude-agent.ts';
import { crewai } from './crewai.ts';
import { genAi } from './gen-ai.ts';
import { genkit } from './genkit.ts';
import { googleAdk } from './google-adk.ts';
import { langfuse } from './langfuse.ts';
import { langsmith } from './langsmith.ts';
import { mastra } from './mastra.ts';
import { mlflow } from './mlflow.ts';
import { openInference } from './openinference.ts';
import { openlit } from './openlit.ts';
import { pydanticAi } from './pydantic-ai.ts';
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
  springAi,
  pydanticAi,
  mastra,
  openlit,
  uipath,
  openInference,
  genAi,
  toolAttributes,
];

/** The AI SDK 6 with Axiom's wrappers around the model, the tools and the turn. */
import { createOpenAI } from '@ai-sdk/openai';
import { trace } from '@opentelemetry/api';
import * as ai from 'ai';
import { initAxiomAI, RedactionPolicy, withSpan, wrapAISDKModel, wrapTools } from 'axiom/ai';
import { model } from '../kit.ts';
import { aiSdkAgents } from './ai-sdk-agents.mjs';
import { modelAt } from './model-at.mjs';
import { otlp } from './otlp.mjs';

export async function start(options) {
  const provider = otlp();
  initAxiomAI({ tracer: trace.getTracer('shop'), redactionPolicy: RedactionPolicy.AxiomDefault });
  const asked = (functionOf) => (request) => functionOf({ ...request, tools: wrapTools(request.tools) });
  const sdk = { ...ai, generateText: asked(ai.generateText), streamText: asked(ai.streamText) };
  const optionsOf = (agent) => ({ model: wrapAISDKModel(createOpenAI({ apiKey: 'none', baseURL: modelAt(agent) }).chat(model)) });
  const turn = aiSdkAgents(sdk, { ...options, optionsOf });
  const about = {
    capability: 'order_support',
    step: 'answer',
    ...(options.session === undefined ? {} : { conversationId: options.session }),
  };
  return { turn: (input) => withSpan(about, () => turn(input)), stop: () => provider.shutdown() };
}

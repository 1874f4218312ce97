/** Mastra's own names beside the GenAI conventions that it also speaks: `mastra.span.type`. */
import { idAttribute, textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { observedModel, observedRun } from './parsing/observation.ts';

const sessionKeys = ['sessionId', 'session_id', 'threadId', 'thread_id', 'resourceId'].map((key) => `mastra.metadata.${key}`);

export const mastra: Collector = {
  id: 'mastra',
  summary: 'Mastra (mastra.span.type).',
  recognisedBy: { keys: ['mastra.span.type'] },
  wants: {
    keys: [
      'mastra.span.type',
      'mastra.agent_run.input',
      'mastra.agent_run.output',
      'mastra.workflow_run.input',
      'mastra.workflow_run.output',
      'mastra.model_step.input',
      'mastra.model_step.output',
      'gen_ai.operation.name',
      'gen_ai.usage.reasoning_tokens',
      ...sessionKeys,
    ],
    prefixes: [],
  },
  captureHints: {
    content: 'Content is on by default.',
    tools: 'Tools are sent as bare names, without schemas; name the tools under tools in the configuration.',
  },
  carriedBy: {
    input: ['mastra.agent_run.input'],
    final_response: ['mastra.agent_run.output'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const sessionId = sessionKeys.map((key) => idAttribute(span, key)).find((value) => value !== undefined);
  const type = textAttribute(span, 'mastra.span.type');
  // The conventions' name for this number is another one.
  const reasoning = span.attribute('gen_ai.usage.reasoning_tokens');
  return {
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(type === 'agent_run' || type === 'workflow_run'
      ? observedRun({ name: span.name, input: span.attribute(`mastra.${type}.input`), output: span.attribute(`mastra.${type}.output`) })
      : {}),
    ...(isRequest(span, type)
      ? observedModel({
          name: span.name,
          input: span.attribute('mastra.model_step.input'),
          output: span.attribute('mastra.model_step.output'),
        })
      : {}),
    ...(typeof reasoning === 'number' ? { reasoningTokens: reasoning } : {}),
  };
}

/** Without a span of the request below it, the step is the request: the span around it counts all steps as one. */
function isRequest(span: Span, type: string | undefined): boolean {
  return type === 'model_step' && textAttribute(span, 'gen_ai.operation.name') === type;
}

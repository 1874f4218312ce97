/** Mastra's own names beside the GenAI conventions that it also speaks: `mastra.span.type`. */
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { observedRun } from './reading/observation.ts';

const sessionKeys = ['sessionId', 'session_id', 'threadId', 'thread_id', 'resourceId'].map((key) => `mastra.metadata.${key}`);

export const mastra: Collector = {
  id: 'mastra',
  summary: 'Mastra (mastra.span.type).',
  recognisedBy: { keys: ['mastra.span.type'] },
  wants: { keys: ['mastra.span.type', 'mastra.agent_run.input', 'mastra.agent_run.output', ...sessionKeys], prefixes: [] },
  captureHints: { content: 'Content is on by default; tool definitions are sent as bare names.' },
  read,
};

function read(span: Span): SpanFacts {
  const sessionId = sessionKeys.map((key) => textAttribute(span, key)).find((value) => value !== undefined);
  const isRun = textAttribute(span, 'mastra.span.type') === 'agent_run';
  return {
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(isRun ? observedRun({ name: span.name, input: span.attribute('mastra.agent_run.input'), output: span.attribute('mastra.agent_run.output') }) : {}),
  };
}

/** Failures that the spans of agents and requests state. */
import type { SpanFacts } from '../../../collectors/collector.ts';
import type { ToolError } from '../../model/agent-trace.ts';
import { errorOf } from './span-facts.ts';
import type { Node } from './span-tree.ts';

/** True when a status of ERROR or the dialect states that a request or an agent failed. */
export function statesFailure({ span, reading: { facts } }: Pick<Node, 'span' | 'reading'>): boolean {
  return span.status.code === 'error' || facts.failed !== undefined;
}

/**
 * The failure of a request or an agent. A status of ERROR or the dialect states it. Exception events and `error.type` count where the span
 * has no output, because an agent may record an exception and go on.
 */
export function failureOf(node: Pick<Node, 'span' | 'reading'>): ToolError | undefined {
  const {
    span,
    reading: { facts },
  } = node;
  if (statesFailure(node)) return errorOf(span, facts);
  return span.status.code === 'ok' || hasOutput(facts) ? undefined : errorOf(span, facts);
}

export function hasOutput({ output, outputDump, outputMessages, outputTokens }: SpanFacts): boolean {
  return (output ?? outputDump) !== undefined || (outputMessages?.length ?? 0) > 0 || (outputTokens ?? 0) > 0;
}

/** Runs over several traces that span links join: agents that talk over a message bus, each message a trace of its own. */
import type { SpanFacts } from '../../../collectors/collector.ts';
import { lastText } from '../../../collectors/parsing/messages.ts';
import type { RunKey } from '../../model/agent-trace.ts';
import type { TraceId } from '../../model/ids.ts';
import type { AgentScope } from './agent-scopes.ts';
import { byStart, type Node } from './span-tree.ts';

/**
 * Such a run has no span around it. It is known by the span that told its answer, the one place that all of its traces led to, and its
 * sub-agents under the same trace id; until there is an answer it is known by its first agent's span.
 */
export function keyPlace(
  scope: AgentScope,
  parent: RunKey | undefined,
): Pick<RunKey, 'traceId' | 'spanId'> & { readonly spanTraceId: TraceId } {
  const { traceId, spanId } = scope;
  if (parent !== undefined) return { traceId: parent.traceId, spanId, spanTraceId: traceId };
  const answer = answersIn(scope, []).sort(byStart).at(-1)?.span;
  return answer === undefined
    ? { traceId, spanId, spanTraceId: traceId }
    : { traceId: answer.traceId, spanId: answer.spanId, spanTraceId: answer.traceId };
}

/** What the first span that passes messages on and knows the input tells. */
export function reportedByMessages(own: readonly Node[]): SpanFacts | undefined {
  return own.find(({ told: { facts } }) => facts.followsLinks === true && facts.input !== undefined)?.told.facts;
}

/** Adds them to what is found. */
function answersIn({ own, subAgents }: AgentScope, found: Node[]): Node[] {
  for (const node of own)
    if (node.told.facts.followsLinks === true && lastText(node.told.facts.outputMessages ?? [], 'assistant') !== undefined)
      found.push(node);
  for (const sub of subAgents) answersIn(sub, found);
  return found;
}

/** An agent with many sub-agents that have each done some work. */
import type { Span } from '../../src/model/span.ts';
import { agentSpan, modelSpan, toolSpan } from './gen-ai-spans.ts';

/** Spans of one sub-agent, its tool's included. */
export const spansPerHelper = 18;

/** The outermost agent has id 1, its sub-agents 101, 201 and so on. */
export function largeRun(subAgents: number): readonly Span[] {
  const found: Span[] = [agentSpan({ id: 1, start: 1, end: 100_000, agent: 'planner' })];
  for (let sub = 0; sub < subAgents; sub++) {
    const id = 100 * (sub + 1);
    found.push(
      toolSpan({ id, parent: 1, tool: 'helper', start: id, end: id + 90 }),
      agentSpan({ id: id + 1, parent: id, start: id + 1, end: id + 89, agent: `helper ${sub}` }),
    );
    for (let turn = 0; turn < 8; turn++)
      found.push(
        modelSpan({ id: id + 10 + turn, parent: id + 1, start: id + 10 + turn, asks: [{ id: `c${id + turn}`, name: 't' }] }),
        toolSpan({ id: id + 30 + turn, parent: id + 1, start: id + 30 + turn, call: `c${id + turn}` }),
      );
  }
  return found;
}

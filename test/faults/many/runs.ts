/** The runs that agents send: each trace number has one, the same in every trial of a program. */
import type { Span } from '../../../src/model/span.ts';
import { agentSpan, modelSpan, toolSpan } from '../../builders/gen-ai-spans.ts';

/** Spans of the two requests of a run. One in four has a tool that fails, one in four calls its tool twice, and one in four ends with an error. */
export function requestsOf(trace: number, startMs: number): readonly (readonly Span[])[] {
  const kind = trace % 4;
  const at = (ms: number) => ({ trace, start: startMs + ms, end: startMs + ms + 1 });
  const input = `where is number ${trace}?`;
  const asked = Array.from({ length: kind === 2 ? 2 : 1 }, (_, call) => ({ id: `c${trace}-${call}`, name: 'find', arguments: '{"x":1}' }));
  const tools = asked.map(({ id, name, arguments: given }, call) => {
    const data = { ...at(3 + call), id: 3 + call, parent: 1, call: id, tool: name, arguments: given };
    return toolSpan(kind === 1 ? { ...data, status: 'error', message: 'not found' } : { ...data, result: 'there' });
  });
  return [
    [modelSpan({ ...at(1), id: 2, parent: 1, user: input, asks: asked }), ...tools],
    [agentSpan({ ...at(0), end: startMs + 7, id: 1, agent: 'finder', input, output: 'there', status: kind === 3 ? 'error' : 'ok' })],
  ];
}

/** The run that a question of the judge is about. */
export function traceIn(question: string): number {
  return Number(/where is number (\d+)\?/.exec(question)?.[1]);
}

export function traceIdOf(trace: number): string {
  return trace.toString(16).padStart(32, '0');
}

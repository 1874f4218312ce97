/** Spans of long runs: an agent hands tasks to sub-agents, which ask their model and call a tool by turns. */
import { attributedSpan, type SpanPlace } from './span.ts';
import type { Span } from '../../../src/model/span.ts';

export interface RunShape {
  readonly trace: number;
  readonly subAgents: number;
  /** Requests of each sub-agent, each followed by a call. */
  readonly turns: number;
  readonly startMs: number;
  /** Time from the beginning of one span to that of the next. */
  readonly stepMs: number;
}

export function spansIn({ subAgents, turns }: Pick<RunShape, 'subAgents' | 'turns'>): number {
  return 1 + subAgents * (2 + 2 * turns + 1);
}

const prose = 'The traveller prefers a window seat, does not eat meat, and wants to arrive before noon. ';

/** In the order in which they end: the outermost agent last. About 1 KB a span. */
export function* runSpans({ trace, subAgents, turns, startMs, stepMs }: RunShape): Generator<Span> {
  let id = trace * 1_000_000;
  const root = ++id;
  let atMs = startMs;
  for (let sub = 0; sub < subAgents; sub++) {
    const [tool, agent] = [++id, ++id];
    const began = atMs;
    const next = (parent: number): SpanPlace => ({ trace, id: ++id, parent, startMs: (atMs += stepMs), endMs: atMs + stepMs * 0.9 });
    for (let turn = 0; turn <= turns; turn++) {
      const call = `call_${trace}_${sub}_${turn}`;
      const history =
        turn === 0
          ? []
          : [
              {
                role: 'tool',
                parts: [{ type: 'tool_call_response', id: `call_${trace}_${sub}_${turn - 1}`, response: `{"found":${turn}}` }],
              },
            ];
      const output =
        turn === turns
          ? { type: 'text', content: `Task ${sub} is done. ${prose}` }
          : { type: 'tool_call', id: call, name: 'search', arguments: { task: sub, turn } };
      yield attributedSpan(next(agent), `chat m`, {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'm',
        'gen_ai.usage.input_tokens': 900,
        'gen_ai.usage.output_tokens': 40,
        'gen_ai.input.messages': JSON.stringify([
          { role: 'user', parts: [{ type: 'text', content: `Task ${sub}. ${prose.repeat(4)}` }] },
          ...history,
        ]),
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [output] }]),
      });
      if (turn < turns)
        yield attributedSpan(next(agent), 'execute_tool search', {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'search',
          'gen_ai.tool.call.id': call,
          'gen_ai.tool.call.arguments': `{"task":${sub},"turn":${turn}}`,
          'gen_ai.tool.call.result': `{"found":${turn}}`,
        });
    }
    yield attributedSpan({ trace, id: agent, parent: tool, startMs: began, endMs: atMs + stepMs }, 'invoke_agent helper', {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'helper',
    });
    yield attributedSpan({ trace, id: tool, parent: root, startMs: began, endMs: atMs + stepMs }, 'execute_tool helper', {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'helper',
      'gen_ai.tool.call.result': `Task ${sub} is done.`,
    });
  }
  yield attributedSpan({ trace, id: root, parent: undefined, startMs, endMs: atMs + 2 * stepMs }, 'invoke_agent planner', {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'planner',
  });
}

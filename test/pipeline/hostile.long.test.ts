/**
 * Traces that are built to make a reader slow. The sizes are such that only work that grows with the number of spans comes to an end
 * within the test's time limit: 50,000 spans squared would take minutes.
 */
import { describe, expect, test } from 'vitest';
import type { Span } from '../../src/model/span.ts';
import { agentSpan, modelSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { gathered } from '../builders/gathered.ts';
import { span } from '../builders/spans.ts';

const spansMax = 50_000;

function many(make: (id: number) => Span, count: number = spansMax): readonly Span[] {
  return Array.from({ length: count }, (_, index) => make(index + 1));
}

const above = (id: number): number | undefined => (id === 1 ? undefined : id - 1);
const call = (id: number): { readonly id: string; readonly name: string } => ({ id: `c${id}`, name: 't' });

const cases: readonly { readonly name: string; readonly spans: () => readonly Span[]; readonly runs: number }[] = [
  {
    name: 'one chain of spans with work at its end',
    spans: () => [...many((id) => span({ id, parent: above(id) })), toolSpan({ id: 60_000, parent: spansMax })],
    runs: 1,
  },
  {
    name: 'one chain of server spans with work at its end',
    spans: () => [...many((id) => span({ id, parent: above(id), kind: 2 })), toolSpan({ id: 60_000, parent: spansMax })],
    runs: 1,
  },
  {
    name: 'one chain backwards',
    spans: () => [...many((id) => span({ id, parent: id + 1 })), toolSpan({ id: 60_000, parent: 1 })],
    runs: 1,
  },
  { name: 'one cycle of parents', spans: () => many((id) => toolSpan({ id, parent: id === 1 ? spansMax : id - 1 })), runs: 1 },
  { name: 'agents inside agents', spans: () => many((id) => agentSpan({ id, parent: above(id) })), runs: 64 },
  { name: 'agents of one name inside each other', spans: () => many((id) => agentSpan({ id, parent: above(id), agent: 'a' })), runs: 1 },
  {
    name: 'agents of one name beside each other under an agent, which are its turns',
    spans: () => many((id) => agentSpan({ id, parent: id === 1 ? undefined : 1, agent: 'a' })),
    runs: 1,
  },
  {
    name: 'agents beside each other under an agent',
    spans: () => many((id) => agentSpan({ id, parent: id === 1 ? undefined : 1, agent: id < 3 ? 'a' : `a${id}` })),
    runs: spansMax - 1,
  },
  {
    name: 'agents under the end of a chain of spans',
    spans: () => [
      agentSpan({ id: 1, end: 90 }),
      toolSpan({ id: 2, parent: 1 }),
      ...many((id) => (id <= spansMax / 2 ? span({ id: id + 2, parent: id + 1 }) : agentSpan({ id: id + 2, parent: spansMax / 2 + 2 }))),
    ],
    runs: spansMax / 2 + 1,
  },
  {
    name: 'agents that hand over to each other, with as many tools',
    spans: () => [
      span({ id: 1, attributes: { 'gen_ai.operation.name': 'invoke_workflow' } }),
      ...many((id) =>
        id % 2 === 1
          ? agentSpan({ id: id + 1, parent: 1, agent: `a${id}`, start: id === 1 ? 0 : 9 })
          : toolSpan({ id: id + 1, parent: 2, tool: `t${id}` }),
      ),
    ],
    runs: spansMax / 2,
  },
  {
    name: 'agents and as many strays',
    spans: () => many((id) => (id % 2 === 1 ? agentSpan({ id, start: 0, end: 90 }) : toolSpan({ id, parent: 100_000 + id, start: 5 }))),
    runs: spansMax,
  },
  { name: 'strays of one parent', spans: () => many((id) => toolSpan({ id, parent: 90_000 })), runs: 1 },
  { name: 'models inside models', spans: () => many((id) => modelSpan({ id, parent: above(id), says: 'a' })), runs: 1 },
  {
    name: 'models that all run at once',
    spans: () => [
      agentSpan({ id: 1 }),
      ...many((id) => modelSpan({ id: id + 1, parent: 1, start: id / 1_000, end: 1_000_000, asks: [call(id)] })),
    ],
    runs: 1,
  },
  {
    name: 'calls and results without ids that never fit',
    spans: () => [
      agentSpan({ id: 1 }),
      ...many((id) =>
        modelSpan({
          id: id + 1,
          parent: 1,
          attributes: {
            'gen_ai.output.messages': [
              {
                role: 'assistant',
                parts: [
                  { type: 'tool_call', name: 'f' },
                  { type: 'tool_call_response', name: 'g', response: 'r' },
                ],
              },
            ],
          },
        }),
      ),
    ],
    runs: 1,
  },
  {
    name: 'tools of one name under one parent, all at one time',
    spans: () => [
      agentSpan({ id: 1, start: 5 }),
      ...many((id) => toolSpan({ id: id + 1, parent: 1, start: 5, end: 5, scope: `s${id % 3}` })),
    ],
    runs: 1,
  },
  {
    name: 'tools inside tools',
    spans: () => [agentSpan({ id: 1 }), ...many((id) => toolSpan({ id: id + 1, parent: id, tool: `t${id % 2}` }))],
    runs: 1,
  },
  {
    name: 'calls and executions whose ids never fit',
    spans: () => [
      agentSpan({ id: 1 }),
      ...many((id) =>
        id % 2 === 0 ? modelSpan({ id: id + 1, parent: 1, asks: [call(id)] }) : toolSpan({ id: id + 1, parent: 1, call: `other${id}` }),
      ),
    ],
    runs: 1,
  },
  {
    name: 'spans of one time under one parent',
    spans: () => [agentSpan({ id: 1, start: 5 }), ...many((id) => span({ id: id + 1, parent: 1, start: 5, end: 5 }))],
    runs: 1,
  },
];

describe('hostile traces', () => {
  for (const { name, spans, runs } of cases) {
    test(`hostile: ${name}`, () => {
      const to = gathered({ spansPerTraceMax: 2 * spansMax });
      to.spans(...spans());
      to.closeAll();
      expect(to.closed()).toHaveLength(runs);
    });
  }

  test('hostile: a trace that grows span by span for hours', () => {
    const to = gathered();
    for (let id = 2; id <= 30_000; id++) {
      to.spans(toolSpan({ id, parent: 1 }));
      to.pass(600);
    }
    to.spans(agentSpan({ id: 1 }));
    to.pass(10_000);
    expect(to.closed()).toHaveLength(1);
  });

  test('hostile: thirty thousand traces under memory pressure', () => {
    const to = gathered({ bytesMax: 1_000_000 });
    for (let trace = 1; trace <= 30_000; trace++) to.spans(toolSpan({ id: 2, parent: 1, trace }));
    expect(to.bytes()).toBeLessThanOrEqual(1_000_000);
  });

  test('hostile: ten thousand traces open at once, each growing span by span', () => {
    const to = gathered();
    for (let round = 0; round < 5; round++) {
      to.spans(
        ...Array.from({ length: 10_000 }, (_, trace) =>
          round === 4 ? agentSpan({ id: 1, trace: trace + 1 }) : toolSpan({ id: round + 2, parent: 1, trace: trace + 1 }),
        ),
      );
      to.pass(100);
    }
    to.pass(1_000);
    expect(to.closed()).toHaveLength(10_000);
  });
});

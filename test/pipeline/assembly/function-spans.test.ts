/** Spans of the application’s own functions, which say no kind. */
import { describe, expect, test } from 'vitest';
import type { ToolCall } from '../../../src/model/agent-trace.ts';
import type { Span } from '../../../src/model/span.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { onlyTrace } from '../../builders/assembled.ts';
import { agentSpan, assistant, modelSpan, type CallData } from '../../builders/gen-ai-spans.ts';
import { span } from '../../builders/spans.ts';

const f1: CallData = { id: 'c1', name: 'f', arguments: { x: 1 } };

const root = agentSpan({ id: 1, start: 0, end: 1_000 });

interface Case {
  readonly name: string;
  readonly spans: readonly Span[];
  /** In order; only the members named are compared. */
  readonly calls: readonly Partial<ToolCall>[];
}

const cases: readonly Case[] = [
  ...(
    [
      ['has its failure', { name: 'run f', start: 12, end: 14 }, { message: 'no such place', type: 'KeyError', sign: 'exception_event' }],
      ['that began before the call was asked for does not', { name: 'f', start: 5, end: 6 }, undefined],
      ['that ended after its answer does not', { name: 'f', start: 12, end: 40 }, undefined],
      ['that has only the end of its name does not', { name: 'self', start: 12, end: 14 }, undefined],
    ] as const
  ).map(([what, own, error]): Case => ({
    name: `an application’s span that is named after the call ${what}`,
    spans: [
      modelSpan({ id: 2, parent: 1, start: 1, end: 10, user: 'q', asks: [f1] }),
      span({
        id: 3,
        parent: 1,
        ...own,
        events: [{ name: 'exception', attributes: { 'exception.message': 'no such place', 'exception.type': 'KeyError' } }],
      }),
      modelSpan({ id: 4, parent: 1, start: 20, end: 30, user: 'q', told: [{ id: 'c1', response: 'Error: no such place' }], says: 'a' }),
    ],
    calls: [{ id: 'c1', executed: true, result: 'Error: no such place', ...(error === undefined ? {} : { error }) }],
  })),
  ...(
    [
      ['between its request and its answer', { name: 'shop.f', start: 12, end: 14 }, { spanId: spanId(3), startUnixNano: 12_000_000n }],
      ['before its request', { name: 'f', start: 5, end: 6 }, { startUnixNano: 10_000_000n }],
      ['of another name', { name: 'self', start: 12, end: 14 }, { startUnixNano: 10_000_000n }],
    ] as const
  ).map(([when, own, ran]): Case => ({
    name: `an application’s span ${when} ${'spanId' in ran ? 'ran' : 'is none of'} the call`,
    spans: [
      modelSpan({ id: 2, parent: 1, start: 1, end: 10, user: 'q', asks: [f1] }),
      span({ id: 3, parent: 1, ...own }),
      modelSpan({ id: 4, parent: 1, start: 20, end: 30, user: 'q', told: [{ id: 'c1', response: 'r' }], says: 'a' }),
    ],
    calls: [{ id: 'c1', executed: true, result: 'r', ...ran }],
  })),
  {
    name: 'an application’s span ran a call that only the next request shows',
    spans: [
      modelSpan({ id: 2, parent: 1, start: 1, end: 10, user: 'q' }),
      span({ id: 3, parent: 1, name: 'f', start: 12, end: 14 }),
      modelSpan({
        id: 4,
        parent: 1,
        start: 20,
        end: 30,
        user: 'q',
        history: [assistant({ asks: [f1] })],
        told: [{ id: 'c1', response: 'r' }],
        says: 'a',
      }),
    ],
    calls: [{ id: 'c1', result: 'r', spanId: spanId(3), startUnixNano: 12_000_000n }],
  },
];

describe('function spans', () => {
  for (const { name, spans, calls } of cases)
    test(`function spans: ${name}`, () => {
      const found = onlyTrace([root, ...spans]).toolCalls;
      expect(found).toHaveLength(calls.length);
      for (const [index, call] of calls.entries()) expect(found[index]).toMatchObject(call);
    });
});

/** Calls that models ask for, and that later requests repeat. */
import { describe, expect, test } from 'vitest';
import type { ToolCall } from '../../../src/model/agent-trace.ts';
import type { Span } from '../../../src/model/span.ts';
import { onlyTrace } from '../../builders/assembled.ts';
import { agentSpan, assistant, modelSpan, toolMessage, type CallData } from '../../builders/gen-ai-spans.ts';

const f1: CallData = { id: 'c1', name: 'f', arguments: { x: 1 } };
const f2: CallData = { id: 'c2', name: 'f', arguments: { x: 1 } };
const root = agentSpan({ id: 1, start: 0, end: 1_000 });

interface Case {
  readonly name: string;
  readonly spans: readonly Span[];
  /** In order; only the members named are compared. */
  readonly calls: readonly Partial<ToolCall>[];
}

const cases: readonly Case[] = [
  {
    name: 'a call that the next request repeats under an id of the framework’s own is one call',
    spans: [
      modelSpan({ id: 2, parent: 1, user: 'q', asks: [f1] }),
      modelSpan({
        id: 3,
        parent: 1,
        user: 'q',
        history: [assistant({ asks: [{ ...f1, id: 'own' }] })],
        told: [{ id: 'own', response: { r: 1 } }],
        asks: [f2],
      }),
      modelSpan({
        id: 4,
        parent: 1,
        user: 'q',
        history: [
          assistant({ asks: [{ ...f1, id: 'own' }] }),
          toolMessage([{ id: 'own', response: { r: 1 } }]),
          assistant({ asks: [{ ...f2, id: 'own 2' }] }),
        ],
        told: [{ id: 'own 2', response: { r: 2 } }],
        says: 'a',
      }),
    ],
    calls: [
      { name: 'f', id: 'c1', turn: 0, result: { r: 1 } },
      { name: 'f', id: 'c2', turn: 1, result: { r: 2 } },
    ],
  },
  {
    name: 'a like call without an answer stays a separate one where the request repeats the known one too',
    spans: [
      modelSpan({ id: 2, parent: 1, user: 'q', asks: [f1] }),
      modelSpan({ id: 3, parent: 1, user: 'q', history: [assistant({ asks: [f1, f2] })], says: 'a' }),
    ],
    calls: [{ id: 'c1' }, { id: 'c2' }],
  },
];

describe('requested calls', () => {
  for (const { name, spans, calls } of cases)
    test(`requested calls: ${name}`, () => {
      const found = onlyTrace([root, ...spans]).toolCalls;
      expect(found).toHaveLength(calls.length);
      for (const [index, call] of calls.entries()) expect(found[index]).toMatchObject(call);
    });
});

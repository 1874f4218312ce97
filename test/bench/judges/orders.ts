/** Runs of an agent that looks for orders; some fail in a tool. The same seed gives the same runs. */
import { parseTraceId, type TraceId } from '../../../src/model/ids.ts';
import type { Span } from '../../../src/model/span.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { seeded } from '../../builders/seeded.ts';

export interface Order {
  readonly number: number;
  readonly traceId: TraceId;
  readonly fails: boolean;
}

/** Names of those that ask about them. */
export const evaluators = ['first', 'second'] as const;

const failedShare = 0.04;

/** `from`: the first number; runs of one number are the same to a judge. */
export function orders(count: number, seed: number, from = 1): readonly Order[] {
  const chance = seeded(seed);
  const hex = (): string =>
    chance
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0');
  return Array.from({ length: count }, (_, at) => {
    const traceId = parseTraceId(`${hex()}${hex()}${hex()}${hex()}`);
    if (traceId === undefined) throw new Error('no trace id');
    return { number: from + at, traceId, fails: chance.share() < failedShare };
  });
}

/** `atMs`: when the run begins. */
export function spansOf({ number, traceId, fails }: Order, atMs: number): readonly Span[] {
  const spans = [
    toolSpan({
      id: 2,
      parent: 1,
      start: 1,
      end: 2,
      tool: 'find_order',
      arguments: `{"order":${number}}`,
      ...(fails ? { status: 'error', message: 'the order service timed out' } : { result: '{"status":"sent"}' }),
    }),
    agentSpan({
      id: 1,
      start: 0,
      end: 7,
      agent: 'finder',
      input: `Where is order ${number}?`,
      output: fails ? 'I could not find out.' : 'It is on its way.',
    }),
  ];
  const later = BigInt(Math.floor(atMs)) * 1_000_000n;
  const [first] = spans.map(({ startUnixNano }) => startUnixNano).toSorted((one, other) => (one < other ? -1 : 1));
  return spans.map((span) => ({
    ...span,
    traceId,
    startUnixNano: span.startUnixNano - (first ?? 0n) + later,
    endUnixNano: span.endUnixNano - (first ?? 0n) + later,
  }));
}

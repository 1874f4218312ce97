/**
 * The spans that benchmarks send: runs of 12 spans (the agent, five times a model call and a tool, the answer), about 3.2 KB a span, in two
 * dialects by turns. Spans leave in the order in which they end; a trace is cut into 2 to 4 pieces that go into consecutive requests
 * of about 100 spans. The same seed gives the same bytes.
 */
import { seeded, type Random } from '../demo/day.ts';
import { agents, type SimulatedCall, type SimulatedRun } from '../demo/scenarios.ts';
import { spansOfRun, type Ids } from '../demo/spans.ts';
import { parseSpanId, parseTraceId } from '../../src/model/ids.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';

export interface Workload {
  /** In the order in which they are sent. */
  readonly bodies: readonly Buffer[];
  readonly traces: number;
  readonly spans: number;
  readonly bytes: number;
}

export const spansPerTrace = 12;
const usualRequestSpans = 99;
const turnsPerTrace = 5;
const failedShare = 0.05;
const prose = 'The traveller prefers a window seat, does not eat meat, and wants to arrive before noon; prices are checked twice. ';

/** `whole` cuts no trace, so that every request is complete. `mark` is in every session id and question. */
export function workload({
  seed,
  spans: wanted,
  whole = false,
  mark = '',
  spansPerRequest = usualRequestSpans,
}: {
  readonly seed: number;
  readonly spans: number;
  readonly whole?: boolean;
  readonly mark?: string;
  readonly spansPerRequest?: number;
}): Workload {
  const random = seeded(seed);
  const ids = idsFrom(random);
  const traces = Math.max(1, Math.round(wanted / spansPerTrace));
  const requests: Span[][] = [];
  for (let trace = 0; trace < traces; trace++) {
    const spans = spansOfRun(run(trace, mark, random), 1_800_000_000_000 + trace * 50, ids);
    const first = Math.floor((trace * spansPerTrace) / spansPerRequest);
    const pieces = whole ? 1 : random.between(2, 4);
    spans.forEach((span, at) => {
      const request = first + Math.floor((at * pieces) / spans.length);
      (requests[request] ??= []).push(span);
    });
  }
  const bodies = requests.filter((spans) => spans !== undefined).map((spans) => writeTraces(spans, 'protobuf'));
  return {
    bodies,
    traces,
    spans: requests.reduce((sum, { length }) => sum + length, 0),
    bytes: bodies.reduce((sum, { length }) => sum + length, 0),
  };
}

function run(trace: number, mark: string, random: Random): SimulatedRun {
  const agent = {
    ...agents['travel-agent'],
    sdk: trace % 2 === 0 ? ('flattened' as const) : ('conventions' as const),
    system: prose.repeat(8),
  };
  return {
    agent,
    scenario: 'load',
    input: `Plan trip ${mark}${trace}. ${prose.repeat(random.between(1, 4))}`,
    sessionId: `session-${mark}${trace}`,
    turns: Array.from({ length: turnsPerTrace }, (_, turn) => ({ thoughtMs: random.between(300, 2_000), calls: [call(turn, random)] })),
    answerMs: random.between(300, 2_000),
    answer: `Trip ${trace} is planned. ${prose}`,
  };
}

function call(turn: number, random: Random): SimulatedCall {
  const failed = random.next() < failedShare;
  return {
    tool: 'book_hotel',
    arguments: { city: `City ${turn} ${random.between(1, 1_000_000)}`, nights: random.between(1, 30) },
    outcome: failed
      ? { kind: 'failed', message: 'booking backend timed out' }
      : { kind: 'returned', result: { confirmation: `HX-${random.between(1, 1_000_000)}`, note: prose.repeat(random.between(1, 8)) } },
    tookMs: random.between(20, 900),
  };
}

function idsFrom(random: Random): Ids {
  const hex = (digits: number): string =>
    Array.from({ length: digits / 8 }, () => random.between(1, 0xffff_ffff).toString(16).padStart(8, '0')).join('');
  return {
    traceId: () => known(parseTraceId(hex(32))),
    spanId: () => known(parseSpanId(hex(16))),
  };
}

function known<Id>(id: Id | undefined): Id {
  if (id === undefined) throw new Error('no id');
  return id;
}

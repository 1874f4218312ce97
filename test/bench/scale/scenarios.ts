/** Hard cases for the gathering: one huge trace, one that stays open for a day, and many at once. */
import type { Span } from '../../../src/model/span.ts';
import { runSpans, spansIn } from './spans.ts';

export interface Request {
  readonly atMs: number;
  readonly spans: readonly Span[];
}

export interface Scenario {
  readonly name: string;
  /** `share` of the full size. */
  readonly requests: (share: number) => Generator<Request>;
  /** The number of runs that must have closed in the end. */
  readonly runs: (share: number) => number;
}

const begin = 1_800_000_000_000;
const spansPerRequest = 500;
const turns = 48;
const dayMs = 24 * 3_600_000;
/** One export interval of a batch processor. */
const intervalMs = 5_000;

function* inRequests(spans: Iterable<Span>, everyMs: number): Generator<Request> {
  let batch: Span[] = [];
  let atMs = 0;
  for (const span of spans) {
    batch.push(span);
    if (batch.length < spansPerRequest) continue;
    yield { atMs: (atMs += everyMs), spans: batch };
    batch = [];
  }
  if (batch.length > 0) yield { atMs: atMs + everyMs, spans: batch };
}

function* overADay(share: number): Generator<Request> {
  const subAgents = Math.round(430 * share);
  const stepMs = dayMs / spansIn({ subAgents, turns });
  let batch: Span[] = [];
  let atMs = 0;
  for (const span of runSpans({ trace: 1, subAgents, turns, startMs: begin, stepMs })) {
    batch.push(span);
    const endedMs = Number(span.endUnixNano / 1_000_000n) - begin;
    if (endedMs < atMs + intervalMs) continue;
    atMs = Math.floor(endedMs / intervalMs) * intervalMs;
    yield { atMs: atMs + intervalMs, spans: batch };
    batch = [];
  }
  if (batch.length > 0) yield { atMs: atMs + 2 * intervalMs, spans: batch };
}

/** All runs begin together and end together: their agents' spans come last. */
function* manyAtOnce(share: number): Generator<Request> {
  const runs = Array.from({ length: Math.round(10_000 * share) }, (_, run) =>
    runSpans({ trace: run + 1, subAgents: 1, turns: 4, startMs: begin, stepMs: 1_000 }),
  );
  let atMs = 0;
  for (let round = 0; round < spansIn({ subAgents: 1, turns: 4 }); round++) {
    const spans = function* (): Generator<Span> {
      for (const run of runs) {
        const { value } = run.next();
        if (value !== undefined) yield value;
      }
    };
    for (const request of inRequests(spans(), 100)) yield { atMs: atMs + request.atMs, spans: request.spans };
    atMs += 30_000;
  }
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'one trace of 50 000 spans',
    requests: (share) => inRequests(runSpans({ trace: 1, subAgents: Math.round(505 * share), turns, startMs: begin, stepMs: 10 }), 100),
    runs: (share) => 1 + Math.round(505 * share),
  },
  { name: 'one run open for 24 hours, a span every 2 s', requests: overADay, runs: (share) => 1 + Math.round(430 * share) },
  { name: '10 000 runs of 12 spans open at once', requests: manyAtOnce, runs: (share) => 2 * Math.round(10_000 * share) },
];

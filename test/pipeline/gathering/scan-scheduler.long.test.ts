/** A large trace is looked at, and its runs are closed, a piece at a time: what comes of it is what one look at all of it gives. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import type { ScoredRun } from '../../../src/model/scored-run.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant, type SpanId } from '../../../src/model/ids.ts';
import type { Span } from '../../../src/model/span.ts';
import { defaultGroupLimits, type GroupLimits } from '../../../src/pipeline/gathering/close-policy.ts';
import { pipeline } from '../../../src/pipeline/pipeline.ts';
import { spansPerStep } from '../../../src/pipeline/assembly/span-tree.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { agentSpan, choiceRecord, modelSpan, modelSpanWithRecords } from '../../builders/gen-ai-spans.ts';
import { largeRun, spansPerHelper } from '../../builders/large-run.ts';
import { seeded } from '../../builders/seeded.ts';
import { span } from '../../builders/spans.ts';

const toolError = configuredEvaluator({ use: 'tool_error' }, evaluators);
if (toolError.kind === 'faulty') throw new Error('tool_error cannot be configured');
const settings = {
  closing: { settleMs: 500, quietMs: 5_000, abandonMs: 60_000, lateMs: 600_000 },
  plan: [{ configured: toolError.evaluator, sampleRate: 1 }],
};
/** More than any look here takes. */
const piecesMax = 500;
/** A run counts as its spans and twenty more. */
const runsPerPiece = spansPerStep / 20;

/** `readMs`: how long it takes to read a span. */
function host(limits: Partial<GroupLimits> = {}, { readMs = 0 } = {}) {
  const clock = manualClock(0);
  const delivered: (ScoredRun & { readonly atMs: number })[] = [];
  const read = new Set<SpanId>();
  const said: string[] = [];
  const counting = collectors.map((collector) => ({
    ...collector,
    read: (...of: Parameters<typeof collector.read>) => {
      read.add(of[0].spanId);
      clock.advance(readMs);
      return collector.read(...of);
    },
  }));
  const flow = pipeline({
    ...settings,
    collectors: counting,
    context: evaluationContext(),
    clock,
    telemetry: metricRegistry(),
    limits: { ...defaultGroupLimits, ...limits },
    ask: () => undefined,
    settled: () => said.push('settled'),
    deliver(item) {
      delivered.push({ ...item, atMs: clock.nowMs() });
      said.push('run');
    },
  });
  const isDue = (): boolean => (flow.nextDueMs() ?? Infinity) <= clock.nowMs();
  return {
    flow,
    delivered,
    read,
    said,
    isDue,
    send: (...spans: readonly Span[]) => flow.spans(noTenant, spans),
    wait: (ms: number) => clock.advance(ms),
    /** One piece, and what it did. */
    piece() {
      const before = delivered.length;
      read.clear();
      flow.advance(1);
      return { runs: delivered.length - before, read: read.size };
    },
    /** Lets time pass; all that is due happens at once. */
    pass(ms: number) {
      const end = clock.nowMs() + ms;
      for (let next = flow.nextDueMs(); next !== undefined && next <= end; next = flow.nextDueMs()) {
        clock.advance(Math.max(0, next - clock.nowMs()));
        flow.advance();
      }
      clock.advance(end - clock.nowMs());
    },
    /** Every revision, in order, and when it came. */
    revisions: () =>
      delivered.map(
        ({ run, atMs }) =>
          `${atMs} ms: ${Number.parseInt(run.spanId, 16)} under ${run.parent === undefined ? 'none' : Number.parseInt(run.parent.spanId, 16)}: ${run.revision}, ${run.completeness}, ${run.contentHash}`,
      ),
    /** The last revision of each run, with its verdicts. */
    last: () =>
      [...new Map(delivered.map((item) => [item.run.spanId, item])).values()]
        .map(({ run: { spanId, parent, completeness, trace, partOf }, evaluations }) => ({
          spanId,
          parent,
          completeness,
          trace,
          partOf,
          verdicts: evaluations.map(({ verdict }) => verdict),
        }))
        .toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1)),
  };
}

type Host = ReturnType<typeof host>;

function pieces(to: Host, between: () => void = () => undefined): readonly ReturnType<Host['piece']>[] {
  const found: ReturnType<Host['piece']>[] = [];
  while (to.isDue()) {
    found.push(to.piece());
    expect(found.length).toBeLessThan(piecesMax);
    between();
  }
  return found;
}

const large = largeRun(150);
const middle = largeRun(40);

/** The length of the quiet that a trace of this size needs. */
const restMs = 5_000;

describe('under way', () => {
  test('under way: one call of `advance` reads a few spans, and hands out a few runs, however many there are', () => {
    const to = host();
    to.send(...large);
    to.wait(restMs);
    const done = pieces(to);
    expect(Math.max(...done.map(({ read }) => read))).toBeLessThanOrEqual(spansPerStep);
    expect(Math.max(...done.map(({ runs }) => runs))).toBeLessThanOrEqual(runsPerPiece);
    expect([done.length > (large.length / spansPerStep) * 2, to.delivered.length]).toEqual([true, 151]);
  });

  test('under way: a small trace is one piece', () => {
    const to = host();
    to.send(...largeRun(1));
    to.wait(restMs);
    expect(pieces(to)).toEqual([{ runs: 2, read: spansPerHelper + 1 }]);
  });

  test('under way: a small trace of many runs closes a few at a time', () => {
    const to = host();
    to.send(
      ...Array.from({ length: 200 }, (_, at) =>
        span({ id: at + 1, parent: 1_000 + at, attributes: { 'gen_ai.operation.name': 'invoke_agent' } }),
      ),
    );
    to.wait(restMs * 2);
    const done = pieces(to);
    expect([Math.max(...done.map(({ runs }) => runs)) <= runsPerPiece, to.delivered.length]).toEqual([true, 200]);
  });

  test('under way: a trace is reported as settled once, in the turn of its last runs and before them', () => {
    const to = host();
    to.send(...large);
    to.wait(restMs);
    while (!to.said.includes('settled')) {
      const before = to.said.length;
      to.piece();
      if (to.said.includes('settled')) to.said.splice(0, before);
    }
    expect([to.said[0], to.said.filter((one) => one === 'settled').length, to.said.includes('run'), to.delivered.length]).toEqual([
      'settled',
      1,
      true,
      151,
    ]);
  });

  test('under way: pieces give the runs that one look gives, in the same order', () => {
    const [byPieces, atOnce] = [host(), host()];
    for (const to of [byPieces, atOnce]) {
      to.send(...large);
      to.wait(restMs);
    }
    pieces(byPieces);
    atOnce.flow.advance();
    expect(byPieces.revisions()).toEqual(atOnce.revisions());
    expect(byPieces.last()).toEqual(atOnce.last());
  });

  test('under way: what comes between pieces is as if it had come after the look', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const chance = seeded(seed);
        const [root, ...others] = middle;
        // Without its root the trace is looked at by parts.
        const shuffled = chance.pick([chance.shuffled(middle), [...chance.shuffled(others), ...(root === undefined ? [] : [root])]]);
        const first = middle.length - 1 - chance.below(200);
        const waitMs = chance.pick([600, restMs]);
        const [byPieces, atOnce] = [host(), host()];
        for (const to of [byPieces, atOnce]) {
          to.send(...shuffled.slice(0, first));
          to.wait(waitMs);
        }
        atOnce.flow.advance();
        byPieces.piece();
        for (let from = first; from < middle.length - 1;) {
          const some = shuffled.slice(from, Math.min(middle.length - 1, (from += 1 + chance.below(40))));
          for (let piece = chance.below(6); piece > 0; piece--) byPieces.piece();
          for (const to of [byPieces, atOnce]) to.send(...some);
        }
        pieces(byPieces);
        for (const to of [byPieces, atOnce]) {
          to.pass(20_000);
          to.send(...shuffled.slice(-1));
          to.pass(1_200_000);
        }
        expect(byPieces.revisions()).toEqual(atOnce.revisions());
      }),
      { numRuns: 40 },
    );
  });

  test('under way: spans in any order, between pieces or not, end in the verdicts that they get at once', () => {
    const whole = host();
    whole.send(...middle);
    whole.pass(1_200_000);
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const chance = seeded(seed);
        const shuffled = chance.shuffled(middle);
        const to = host();
        for (let from = 0; from < middle.length;) {
          to.send(...shuffled.slice(from, (from += 1 + chance.below(150))));
          to.wait(chance.pick([0, 1, 100, 700, 6_000]));
          for (let piece = chance.below(12); piece > 0; piece--) to.piece();
        }
        to.pass(1_200_000);
        expect(to.last()).toEqual(whole.last());
      }),
      { numRuns: 40 },
    );
  });

  test('under way: a run of many bytes is hashed in one piece and scored in the next, with anything in between', () => {
    const to = host();
    const run = (last: number): readonly Span[] => [
      agentSpan({ id: 1, output: 'x'.repeat(300_000), bytes: 300_000 }),
      modelSpan({ id: last, parent: 1, says: 'done' }),
    ];
    to.send(...run(2));
    to.wait(restMs);
    expect([to.piece().runs, to.piece().runs, to.isDue()]).toEqual([0, 1, false]);
    to.send(modelSpan({ id: 3, parent: 1, says: 'more' }));
    to.wait(restMs);
    expect(to.piece().runs).toBe(0);
    // It is news for the next look; this one ends as it would have before it came.
    to.send(modelSpan({ id: 4, parent: 1, says: 'still more' }));
    to.pass(restMs * 2);
    expect(to.delivered.map(({ run: { revision, trace } }) => [revision, trace.modelCalls.length])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  test('under way: when looking takes long the closing is left to the next turn, and comes then', () => {
    const to = host({}, { readMs: 10 });
    for (let trace = 1; trace <= 20; trace++) to.send(agentSpan({ id: 1, trace }), modelSpan({ id: 2, trace, parent: 1, says: 'done' }));
    to.wait(restMs);
    const done = pieces(to);
    expect(done.every(({ runs, read }) => runs === 0 || read === 0)).toBe(true);
    expect(to.delivered).toHaveLength(20);
  });

  test('under way: a trace to which something comes between all pieces is looked at all the same', () => {
    const to = host();
    to.send(...large);
    to.wait(restMs);
    let id = 900_000;
    const done = pieces(to, () => to.send(modelSpan({ id: ++id, parent: 1 })));
    // Spans that came since wait for their own look.
    expect([to.delivered.length, done.length < piecesMax, to.said.includes('settled')]).toEqual([151, true, false]);
    to.pass(60_000);
    expect(
      to.delivered.filter(({ run }) => run.revision === 2).map(({ run }) => [Number.parseInt(run.spanId, 16), run.trace.modelCalls.length]),
    ).toEqual([[1, id - 900_000]]);
    expect(to.said.filter((one) => one === 'settled')).toHaveLength(1);
  });

  test('under way: a record that comes for a span that was read already is not lost', () => {
    const to = host();
    to.send(...large, agentSpan({ id: 800_000, parent: 1, start: 3 }), modelSpanWithRecords({ id: 800_001, parent: 800_000, start: 4 }));
    to.wait(restMs * 2);
    // All spans, and more.
    for (let piece = 0; piece < large.length / spansPerStep + 3; piece++) to.piece();
    to.flow.logs(noTenant, [choiceRecord({ span: 800_001, text: 'done' })]);
    pieces(to);
    to.pass(60_000);
    const told = to.last().find(({ spanId }) => Number.parseInt(spanId, 16) === 800_000);
    expect([told?.completeness, told?.trace.finalResponse]).toEqual(['complete', 'done']);
  });
});

/** Events on a trace while it is looked at, after this number of pieces. */
const turns: readonly { readonly name: string; readonly happens: (to: Host) => void; readonly revisions: number }[] = [
  { name: 'the process ends', happens: (to) => to.flow.finish(), revisions: 151 },
  { name: 'another configuration comes', happens: (to) => to.flow.exchange(settings), revisions: 151 },
  { name: 'memory runs short', happens: (to) => to.send(agentSpan({ id: 1, trace: 2, bytes: 2_000_000 })), revisions: 152 },
  {
    name: 'a trace that goes on with it joins it',
    happens: (to) => to.send(span({ id: 7, trace: 2, scope: 'autogen SingleThreadedAgentRuntime', links: [{ trace: 1, span: 1 }] })),
    revisions: 151,
  },
];

for (const { name, happens, revisions } of turns) {
  test(`under way: ${name}, and every run closes once`, () => {
    for (let before = 1; before < 40; before += 3) {
      const to = host({ bytesMax: 1_000_000 });
      to.send(...large);
      to.wait(restMs);
      for (let piece = 0; piece < before; piece++) to.piece();
      happens(to);
      to.pass(1_200_000);
      expect([before, to.delivered.length, new Set(to.revisions()).size, to.flow.bytes()]).toEqual([before, revisions, revisions, 0]);
    }
  });
}

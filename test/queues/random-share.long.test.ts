/** A queue whose rule prefers flagged runs, from the writing of runs to the label: what it draws at random is a fair sample of the traffic. */
import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { drawOf } from '../../src/model/queue-draw.ts';
import { parseTraceId, type TraceId } from '../../src/model/ids.ts';
import { annotationQueues } from '../../src/queues/annotation-queues.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { openedInMemory } from '../builders/memory-store.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';
import { seeded, type Chance } from '../builders/seeded.ts';

const worlds = 300;
const runs = 60;
const room = 12;
const answers = 20;

/** Ids as senders make them. */
function anyTraceId(chance: Chance): TraceId {
  const words = Array.from({ length: 4 }, () =>
    chance
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  );
  const id = parseTraceId(words.join(''));
  if (id === undefined) throw new Error('no trace id');
  return id;
}

interface World {
  /** Flagged runs of the traffic; all of them are judged, and of the others a half. */
  readonly flagged: number;
  /** Σ 1 / (probability of the verdict and of the draw) of labelled drawn runs, and of those that are flagged. */
  readonly weight: number;
  readonly flaggedWeight: number;
  /** That of the first third of the traffic. */
  readonly earlyWeight: number;
  readonly drawn: number;
  /** Flagged ones among all labelled runs. */
  readonly labelledFlagged: number;
}

async function world(chance: Chance): Promise<World> {
  const store = await openedInMemory();
  const clock = manualClock();
  const queues = annotationQueues({
    store,
    settings: () => [
      {
        name: 'refunds',
        whenText: 'tool_error < 1',
        sample: 1,
        max: 100,
        ask: [{ kind: 'evaluator', name: 'goal' }],
        people: 1,
        dueMs: undefined,
        order: 'oldest',
        random: 0.5,
        leaseMs: 60_000,
        blind: true,
      },
    ],
    thresholds: () => new Map(),
    redaction: () => undefined,
    telemetry: noTelemetry,
    clock,
  });
  const entering = { queue: 'refunds', at: 0, dueAt: undefined, addedBy: 'rule refunds' };
  const flags = new Set<string>();
  const early = new Set<string>();
  const judged = new Map<string, number>();
  const label = async (): Promise<void> => {
    const item = (await queues.next('refunds', { person: 'ann' }))?.found?.item;
    if (item === undefined) return;
    const given = { person: 'ann', item: item.id, lease: item.lease?.id ?? 0, comment: '' };
    await queues.answer('refunds', { ...given, answers: [{ name: 'goal', value: flags.has(item.traceId) ? 'fail' : 'pass' }] });
  };
  for (let at = 0; at < runs; at++) {
    const own = run({ traceId: anyTraceId(chance) });
    const isFlagged = chance.share() < 0.2;
    if (isFlagged) flags.add(own.traceId);
    if (at < runs / 3) early.add(own.traceId);
    const probability = isFlagged ? 1 : 0.5;
    await store.write([scoredRun({ goal: scored(1) }, own, { evaluatorKind: 'judge', sampleProbability: probability })]);
    if (isFlagged) await store.queues.add({ ...entering, items: [{ ...own, why: '' }], itemsMax: 100, reopens: false });
    if (chance.share() >= probability) continue;
    judged.set(own.traceId, probability);
    await store.queues.draw({
      ...entering,
      evaluator: 'goal',
      drawnMax: room,
      items: [{ ...own, why: '', draw: drawOf(own, probability) }],
    });
    // People work while runs come, and finish a part of what is drawn.
    if (at % 3 === 2) await label();
  }
  for (let more = 0; more < answers - runs / 3; more++) await label();
  const labelled = await store.annotations.onRuns({ from: 0, to: Number.MAX_SAFE_INTEGER, kinds: ['human'], limit: 1_000 });
  const drawn = labelled.flatMap(({ traceId: id, annotation: { probability } }) =>
    probability === undefined
      ? []
      : [{ isFlagged: flags.has(id), isEarly: early.has(id), weight: 1 / probability / (judged.get(id) ?? 1) }],
  );
  await store.stop();
  return {
    flagged: flags.size / runs,
    weight: drawn.reduce((sum, { weight }) => sum + weight, 0),
    flaggedWeight: drawn.filter(({ isFlagged }) => isFlagged).reduce((sum, { weight }) => sum + weight, 0),
    earlyWeight: drawn.filter(({ isEarly }) => isEarly).reduce((sum, { weight }) => sum + weight, 0),
    drawn: drawn.length,
    labelledFlagged: labelled.filter(({ traceId: id }) => flags.has(id)).length / labelled.length,
  };
}

test('queues: weighted labels of drawn runs have the shares of flagged and of early runs that the traffic has', async () => {
  const chance = seeded(2026);
  const found: World[] = [];
  for (let at = 0; at < worlds; at++) found.push(await world(chance));
  const sum = (of: (one: World) => number): number => found.reduce((all, one) => all + of(one), 0);
  const [share, truth] = [sum(({ flaggedWeight }) => flaggedWeight) / sum(({ weight }) => weight), sum(({ flagged }) => flagged) / worlds];
  const error =
    Math.sqrt(sum(({ flaggedWeight, weight, flagged }) => (flaggedWeight - flagged * weight) ** 2)) / sum(({ weight }) => weight);
  // All labels together do not make such a sample.
  expect(sum(({ labelledFlagged }) => labelledFlagged) / worlds).toBeGreaterThan(truth + 0.15);
  expect(sum(({ drawn }) => drawn) / worlds).toBeGreaterThan(5);
  expect(Math.abs(share - truth)).toBeLessThan(3 * error);
  expect(error).toBeLessThan(0.03);
  // While the rate falls, people take only the lowest numbers: the cut-off counts that.
  const earlyShare = sum(({ earlyWeight }) => earlyWeight) / sum(({ weight }) => weight);
  const earlyError = Math.sqrt(sum(({ earlyWeight, weight }) => (earlyWeight - weight / 3) ** 2)) / sum(({ weight }) => weight);
  expect(Math.abs(earlyShare - 1 / 3)).toBeLessThan(3 * earlyError);
  expect(earlyError).toBeLessThan(0.03);
}, 300_000);

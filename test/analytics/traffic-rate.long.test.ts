/** Rates over all traffic whose truth is known, by designs that services have: small samples, raised runs, sessions. */
import { describe, expect, test } from 'vitest';
import { trafficRate } from '../../src/analytics/corrected-rate.ts';
import { noTenant } from '../../src/model/ids.ts';
import type { VerdictRow } from '../../src/model/store/verdict-rows.ts';
import { spanId } from '../builders/agent-trace.ts';
import { seeded, type Chance } from '../builders/seeded.ts';
import { traceId } from '../builders/spans.ts';

interface Design {
  readonly runs: number;
  readonly rate: number;
  /** Share of the runs that are raised to 1. They pass less often. */
  readonly flagged: number;
  readonly passes: number;
  /** Runs of a session, of which half do as the session does. */
  readonly session: number;
}

const designs = [100, 400, 1_000].flatMap((runs) =>
  [0.01, 0.02, 0.05, 0.5].flatMap((rate) =>
    [0, 0.1, 0.3].flatMap((flagged) =>
      [0.5, 0.9, 0.99].flatMap((passes) => [1, 5, 20].map((session): Design => ({ runs, rate, flagged, passes, session }))),
    ),
  ),
);

/** Whether the interval holds the truth, and the error of the point; undefined: it is not estimable. */
function drawn(
  { runs, rate, flagged, passes, session }: Design,
  chance: Chance,
): { readonly holds: boolean; readonly error: number } | undefined {
  const ofFlagged = flagged === 0 ? passes : Math.max(0.05, passes - 0.4);
  const ofOthers = flagged === 0 ? passes : Math.min(1, (passes - flagged * ofFlagged) / (1 - flagged));
  const truth = flagged * ofFlagged + (1 - flagged) * ofOthers;
  const rows: VerdictRow[] = [];
  let shared = 0;
  for (let at = 0; at < runs; at++) {
    if (at % session === 0) shared = chance.share();
    const own = session > 1 && chance.share() < 0.5 ? shared : chance.share();
    const isFlagged = chance.share() < flagged;
    if (chance.share() >= (isFlagged ? 1 : rate)) continue;
    rows.push({
      tenant: noTenant,
      traceId: traceId(at + 1),
      spanId: spanId(1),
      agent: 'a',
      version: undefined,
      model: undefined,
      prompt: undefined,
      sessionId: session === 1 ? undefined : `s${Math.floor(at / session)}`,
      word: own < (isFlagged ? ofFlagged : ofOthers) ? 'pass' : 'fail',
      score: undefined,
      label: '',
      sampleProbability: isFlagged ? 1 : rate,
      ...(isFlagged ? { raisedBy: 1 / rate } : {}),
    });
  }
  const left = runs - rows.length;
  const decided = (decision: string, count: number) => ({ agent: 'a', decision, runs: count, chosen: 0, weight: 0, unchosen: count });
  const { rate: found } = trafficRate({ rows, labels: new Map(), decided: [decided('scored', rows.length), decided('sampled_out', left)] });
  return found.kind === 'estimated' ? { holds: found.low <= truth && truth <= found.high, error: found.point - truth } : undefined;
}

const worlds = 300;
/** Of so many worlds, chance may take three points from 95 %. */
const leastCoverage = 0.9;

describe('rates over designs that services have', () => {
  test('statistics: the interval holds the truth in every design, or the rate is not estimable', () => {
    const chance = seeded(2026);
    const found = designs.map((design) => {
      const told = Array.from({ length: worlds }, () => drawn(design, chance)).filter((one) => one !== undefined);
      const mean = (of: (one: (typeof told)[number]) => number): number => told.reduce((sum, one) => sum + of(one), 0) / told.length;
      return { design, told: told.length, coverage: mean(({ holds }) => Number(holds)), bias: mean(({ error }) => error) };
    });
    // Where hardly a draw has a figure, it is one of those that have few runs without a raise.
    const estimable = found.filter(({ told }) => told >= worlds / 20);
    expect(estimable.length).toBeGreaterThan(designs.length / 2);
    const isScarce = ({ runs, session }: Design): boolean => runs / session < 30;
    expect(estimable.filter(({ design, coverage }) => !isScarce(design) && coverage < leastCoverage)).toEqual([]);
    const all =
      estimable.reduce((sum, { coverage, told }) => sum + coverage * told, 0) / estimable.reduce((sum, { told }) => sum + told, 0);
    expect(all).toBeGreaterThan(0.93);
    expect(all).toBeLessThan(0.98);
  }, 120_000);
});

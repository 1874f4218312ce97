/** Traffic whose true rate is known, by designs that services have: small samples, raised runs, sessions. */
import { trafficRate } from '../../src/analytics/corrected-rate.ts';
import type { VerdictRow } from '../../src/model/store/verdict-rows.ts';
import type { Chance } from '../builders/seeded.ts';
import { verdictRow } from '../builders/verdict-row.ts';

export interface Design {
  readonly runs: number;
  readonly rate: number;
  /** Share of the runs that are raised to 1. They pass less often. */
  readonly flagged: number;
  readonly passes: number;
  /** Runs of a session, half of them like the session. */
  readonly session: number;
}

/** Each number of runs with every rate, share of flagged runs, truth and length of sessions. */
export const designsOf = (runs: number): readonly Design[] =>
  [0.01, 0.02, 0.05, 0.5].flatMap((rate) =>
    [0, 0.1, 0.3].flatMap((flagged) =>
      [0.5, 0.9, 0.99].flatMap((passes) => [1, 5, 20].map((session): Design => ({ runs, rate, flagged, passes, session }))),
    ),
  );

/** True when the interval holds the truth, and the error of the point; undefined when it is not estimable. */
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
    rows.push(
      verdictRow(at + 1, {
        sessionId: session === 1 ? undefined : `s${Math.floor(at / session)}`,
        word: own < (isFlagged ? ofFlagged : ofOthers) ? 'pass' : 'fail',
        label: '',
        sampleProbability: isFlagged ? 1 : rate,
        ...(isFlagged ? { raisedBy: 1 / rate } : {}),
      }),
    );
  }
  const left = runs - rows.length;
  const decided = (decision: string, count: number) => ({ agent: 'a', decision, runs: count, chosen: 0, weight: 0, unchosen: count });
  const { rate: found } = trafficRate({ rows, labels: new Map(), decided: [decided('scored', rows.length), decided('sampled_out', left)] });
  return found.kind === 'estimated' ? { holds: found.low <= truth && truth <= found.high, error: found.point - truth } : undefined;
}

export interface DesignFound {
  readonly design: Design;
  /** Worlds with a figure. */
  readonly told: number;
  /** Share of these whose interval holds the truth. */
  readonly coverage: number;
  /** Mean error of the point. */
  readonly bias: number;
}

export function foundIn(design: Design, worlds: number, chance: Chance): DesignFound {
  let [told, held, error] = [0, 0, 0];
  for (let world = 0; world < worlds; world++) {
    const one = drawn(design, chance);
    if (one === undefined) continue;
    told++;
    held += Number(one.holds);
    error += one.error;
  }
  return { design, told, coverage: held / told, bias: error / told };
}

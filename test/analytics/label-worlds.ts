/** Queues that prefer flagged runs: what people's labels say of a judge, and of the traffic, where the truth is known. */
import { labelledRuns, trafficRate, type TrafficRate } from '../../src/analytics/corrected-rate.ts';
import { agreementOf, type JudgeAgreement } from '../../src/analytics/judge-agreement.ts';
import type { AnnotatedRun } from '../../src/model/store/annotation-store.ts';
import type { VerdictRow } from '../../src/model/store/verdict-rows.ts';
import { sampledBy } from '../../src/model/verdict.ts';
import { notEstimable, type Estimate, type NotEstimable } from '../../src/statistics/estimate.ts';
import { seeded, type Chance } from '../builders/seeded.ts';
import { verdictRow } from '../builders/verdict-row.ts';
import { type Simulated, tally } from '../statistics/world.ts';

interface Traffic {
  readonly runs: number;
  /** Share of the runs that are judged; flagged ones are raised to 1 where `raises`. */
  readonly rate: number;
  readonly raises?: boolean;
  /** Flagged runs that a rule of the queue has chosen, and that people have labelled. */
  readonly chosen: number;
  /** Runs that the queue has drawn at random; people have labelled the first of them. */
  readonly drawn: number;
  readonly labelled?: number;
  /** Runs of a session, half of them like the session. */
  readonly session?: number;
}

/** One run in ten is flagged. Half of these fail, and the judge finds nearly all of that; it finds fewer faults of the others. */
const flaggedShare = 0.1;
const kinds = {
  flagged: { fails: 0.5, recall: 0.97, specificity: 0.85 },
  other: { fails: 0.05, recall: 0.7, specificity: 0.97 },
} as const;

const shareOf = { flagged: flaggedShare, other: 1 - flaggedShare } as const;
const total = (of: (kind: keyof typeof kinds) => number): number => shareOf.flagged * of('flagged') + shareOf.other * of('other');
const failing = total((kind) => kinds[kind].fails);
const found = total((kind) => kinds[kind].fails * kinds[kind].recall);
const spared = total((kind) => (1 - kinds[kind].fails) * kinds[kind].specificity);
const judgedFailing = found + (1 - failing - spared);
const expected = failing * judgedFailing + (1 - failing) * (1 - judgedFailing);

export const truths = {
  recall: found / failing,
  precision: found / judgedFailing,
  specificity: spared / (1 - failing),
  accuracy: found + spared,
  kappa: (found + spared - expected) / (1 - expected),
  'pass rate': 1 - failing,
  'Rogan–Gladen': 1 - failing,
} as const;
type Figure = keyof typeof truths;

export interface Day {
  readonly agreement: JudgeAgreement | undefined;
  readonly traffic: TrafficRate;
}

/** One day of it. */
export function drawnDay({ runs, rate, raises = false, chosen, drawn, labelled = drawn, session = 1 }: Traffic, chance: Chance): Day {
  const rows: VerdictRow[] = [];
  const truth: { readonly row: VerdictRow; readonly fails: boolean; readonly isFlagged: boolean; readonly draw: number }[] = [];
  let shared = 0;
  for (let at = 0; at < runs; at++) {
    if (at % session === 0) shared = chance.share();
    const own = session > 1 && chance.share() < 0.5 ? shared : chance.share();
    const isFlagged = chance.share() < flaggedShare;
    const { fails: failRate, recall, specificity } = kinds[isFlagged ? 'flagged' : 'other'];
    const fails = own < failRate;
    const says = chance.share() < (fails ? recall : 1 - specificity);
    const probability = raises && isFlagged ? 1 : rate;
    if (chance.share() >= probability) continue;
    const row = verdictRow(at + 1, {
      sessionId: session === 1 ? undefined : `s${Math.floor(at / session)}`,
      word: says ? 'fail' : 'pass',
      label: says ? 'fail' : 'pass',
      sampleProbability: probability,
      ...sampledBy({ raisedBy: raises && isFlagged ? 1 / rate : undefined }),
    });
    rows.push(row);
    truth.push({ row, fails, isFlagged, draw: chance.share() * probability });
  }
  const order = truth.toSorted((one, other) => one.draw - other.draw);
  const reach = order[drawn]?.draw ?? 1;
  const annotated = [
    ...order.slice(0, labelled).map((run) => ({ ...run, probability: Math.min(1, reach / run.row.sampleProbability) })),
    ...order
      .slice(labelled)
      .filter(({ isFlagged }) => isFlagged)
      .slice(0, chosen)
      .map((run) => ({ ...run, probability: undefined })),
  ].map(({ row, fails, probability }): AnnotatedRun => ({
    tenant: row.tenant,
    traceId: row.traceId,
    spanId: row.spanId,
    ...(row.sessionId === undefined ? {} : { sessionId: row.sessionId }),
    annotation: {
      name: 'goal',
      by: 'ann',
      kind: 'human',
      label: undefined,
      score: undefined,
      passed: !fails,
      explanation: '',
      at: 0,
      ...(probability === undefined ? {} : { probability }),
    },
    verdict: {
      evaluator: 'goal',
      kind: 'judge',
      version: 1,
      model: 'm',
      word: row.word,
      label: row.label,
      sampleProbability: row.sampleProbability,
    },
  }));
  const labels = new Map(
    labelledRuns(annotated).runs.flatMap(({ key, passed, probability }) =>
      passed === undefined ? [] : [[key, { passed, probability }] as const],
    ),
  );
  const decided = (decision: string, count: number) => ({ agent: 'a', decision, runs: count, chosen: 0, weight: 0, unchosen: count });
  return {
    agreement: agreementOf(annotated).judges[0],
    traffic: trafficRate({ rows, labels, decided: [decided('scored', rows.length), decided('sampled_out', runs - rows.length)] }),
  };
}

function figureOf({ agreement, traffic }: Day, figure: Figure): Estimate | NotEstimable {
  const none = notEstimable('no_labels');
  switch (figure) {
    case 'kappa':
      return agreement?.kappa ?? none;
    case 'pass rate':
      // Without enough labels it is the rate of the judge, and is marked so.
      return traffic.corrected ? traffic.rate : (traffic.uncorrected ?? none);
    case 'Rogan–Gladen':
      return traffic.roganGladen;
    default:
      return agreement?.rates[figure] ?? none;
  }
}

const traffics: readonly (readonly [string, Traffic])[] = [
  ['all of 2,000 judged, 200 chosen and 400 drawn labels', { runs: 2_000, rate: 1, chosen: 200, drawn: 400 }],
  ['all of 2,000 judged, 200 chosen labels, 150 of 300 drawn', { runs: 2_000, rate: 1, chosen: 200, drawn: 300, labelled: 150 }],
  [
    '10 % of 8,000 judged, those flagged all, 200 chosen and 300 drawn labels',
    { runs: 8_000, rate: 0.1, raises: true, chosen: 200, drawn: 300 },
  ],
  [
    '10 % of 8,000 judged, those flagged all, 200 chosen and 120 drawn labels',
    { runs: 8_000, rate: 0.1, raises: true, chosen: 200, drawn: 120 },
  ],
  ['2,000 runs in sessions of 4, 200 chosen and 400 drawn labels', { runs: 2_000, rate: 1, chosen: 200, drawn: 400, session: 4 }],
  ['scarce: 60 drawn labels', { runs: 2_000, rate: 1, chosen: 200, drawn: 60 }],
];

export interface LabelWorld {
  readonly name: string;
  readonly simulated: (options: { readonly worlds: number; readonly seed: number }) => { readonly [figure in Figure]: Simulated };
}

export const labelWorlds: readonly LabelWorld[] = traffics.map(([name, traffic]) => ({
  name,
  simulated({ worlds, seed }) {
    const chance = seeded(seed);
    const figures = (Object.keys(truths) as Figure[]).map((figure) => [figure, tally(truths[figure])] as const);
    for (let world = 0; world < worlds; world++) {
      const day = drawnDay(traffic, chance);
      for (const [figure, drawn] of figures) drawn.add({ estimate: figureOf(day, figure) });
    }
    return Object.fromEntries(figures.map(([figure, drawn]) => [figure, drawn.result()])) as { readonly [figure in Figure]: Simulated };
  },
}));

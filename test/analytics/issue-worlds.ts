/** Traffic of an agent in which failures have a planted cause, or none. */
import { type ComparedProperty, type IssueDifference, issueDifferences } from '../../src/analytics/issue-differences.ts';
import type { ComparedRun } from '../../src/model/store/issue-store.ts';
import type { Chance } from '../builders/seeded.ts';

const dayMicros = 86_400_000_000;
const start = 1_700_006_400 * 1_000_000;
const tools = ['search', 'book', 'refund', 'weather', 'mail'] as const;

/** Later runs have later versions, and each version has its own prompt. */
export function drawnRun(chance: Chance): ComparedRun {
  const age = chance.share();
  const version = `1.${Math.floor(Math.min(2.99, age * 3 + (chance.share() - 0.5)))}`.replace('-1', '0');
  return {
    version,
    model: chance.pick(['large', 'large', 'small']),
    service: chance.pick(['europe', 'america', 'asia']),
    user: undefined,
    environment: undefined,
    prompt: `prompt of ${version}`,
    inputTokens: Math.floor(Math.exp(6 + 2 * chance.share() + chance.share())),
    tools: tools.filter(() => chance.share() < 0.35),
    earlierRuns: chance.share() < 0.2 ? undefined : Math.min(9, Math.floor(-4 * Math.log(1 - chance.share()))),
    startedAt: Math.floor(start + age * 14 * dayMicros),
  };
}

export interface Cause {
  readonly property: ComparedProperty;
  readonly value: string;
  readonly isIn: (run: ComparedRun) => boolean;
}

const hourOf = ({ startedAt }: ComparedRun): number => Math.floor((startedAt % dayMicros) / (dayMicros / 24));
const turn = ({ earlierRuns = -1 }: ComparedRun): number => earlierRuns + 1;

export const causes: readonly Cause[] = [
  ...['1.0', '1.1', '1.2'].map((value): Cause => ({ property: 'version', value, isIn: ({ version }) => version === value })),
  ...['1.0', '1.2'].map((version): Cause => ({
    property: 'prompt',
    value: `prompt of ${version}`,
    isIn: (run) => run.version === version,
  })),
  ...['large', 'small'].map((value): Cause => ({ property: 'model', value, isIn: ({ model }) => model === value })),
  ...tools.map((value): Cause => ({ property: 'tool', value, isIn: (run) => run.tools.includes(value) })),
  ...['europe', 'asia'].map((value): Cause => ({ property: 'service', value, isIn: ({ service }) => service === value })),
  { property: 'session_length', value: '1', isIn: (run) => turn(run) === 1 },
  { property: 'session_length', value: '4 to 9', isIn: (run) => turn(run) >= 4 && turn(run) <= 9 },
  { property: 'hour', value: '00:00 to 03:00 UTC', isIn: (run) => hourOf(run) < 3 },
  { property: 'hour', value: '15:00 to 18:00 UTC', isIn: (run) => hourOf(run) >= 15 && hourOf(run) < 18 },
];

/** Each run fails with the one or the other probability. */
export function differencesOf(
  chance: Chance,
  { runs, cause, rate, otherwise }: { readonly runs: number; readonly cause?: Cause; readonly rate: number; readonly otherwise: number },
): readonly IssueDifference[] {
  const drawn = Array.from({ length: runs }, () => drawnRun(chance));
  const [own, others]: [ComparedRun[], ComparedRun[]] = [[], []];
  for (const run of drawn) (chance.share() < (cause?.isIn(run) === true ? rate : otherwise) ? own : others).push(run);
  return issueDifferences({ tool: '' }, { own, others });
}

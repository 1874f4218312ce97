/** Runs × probability × tokens × price, from what a store tells of the last days. */
import { evaluationContext } from '../../../evaluators/context.ts';
import { priceOf } from '../../../evaluators/prices.ts';
import type { ConfiguredEvaluator } from '../../../evaluators/configured.ts';
import type { Config, EvaluatorConfig } from '../../config/config.ts';
import type { Run } from '../../model/agent-trace.ts';
import { promptBounds, promptOf } from '../../judges/prompt.ts';
import { rateByScores } from '../../pipeline/raising.ts';
import type { Micros, RunPlace, RunRow, Store } from '../../stores/store.ts';
import { givenTraces } from '../eval/given-traces.ts';

export interface Traffic {
  /** Newest first, at most `runsMax`. */
  readonly runs: readonly RunRow[];
  /** That these are of. */
  readonly days: number;
  /** Runs with their content. */
  readonly whole: readonly Run[];
  readonly sampled: number;
}

export interface Forecast {
  readonly name: string;
  readonly model: string;
  /** Verdicts a day. */
  readonly asked: number;
  /** Of the runs. */
  readonly share: number;
  /** Of one verdict. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Where the input tokens come from. */
  readonly basis: 'given' | 'estimated';
  /** A day; undefined: the model has no price. */
  readonly usd: number | undefined;
}

export interface ForecastWith {
  readonly config: Pick<Config, 'judges' | 'prices'>;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

const runsMax = 20_000;
const pageRuns = 200;
/** Runs whose content is looked at. */
const wholeMax = 300;
const dayMicros = 86_400_000_000;
/** A store that has just begun says little about a day; less than an hour is taken as one. */
const hourMicros = 3_600_000_000;
const charsPerToken = 4;
const outputTokensUsual = 200;
/** As long as that of a judge. */
const nonce = 'x'.repeat(24);

export async function storedTraffic(store: Pick<Store, 'runs' | 'run'>, { from, to }: { readonly from: Micros; readonly to: Micros }): Promise<Traffic> {
  const runs: RunRow[] = [];
  for (let after: RunPlace | undefined; runs.length < runsMax; ) {
    const page = await store.runs({ from, to, limit: pageRuns, ...(after === undefined ? {} : { after }) });
    runs.push(...page.runs);
    if (page.next === undefined) break;
    after = page.next;
  }
  const oldest = runs.at(-1)?.startedAt ?? to;
  const whole: Run[] = [];
  // Spread over all of them: traffic of the day is not that of the night.
  const step = Math.max(1, Math.floor(runs.length / wholeMax));
  for (let at = 0; at < runs.length && whole.length < wholeMax; at += step) {
    const row = runs[at];
    const run = row === undefined ? undefined : await wholeRun(store, row);
    if (run !== undefined) whole.push(run);
  }
  return { runs, days: Math.max(hourMicros, to - oldest) / dayMicros, whole, sampled: whole.length };
}

/** Undefined: its content is not kept, or cannot be read. */
async function wholeRun(store: Pick<Store, 'run'>, row: RunRow): Promise<Run | undefined> {
  const content = (await store.run(row))?.content;
  if (content === undefined) return undefined;
  try {
    const [given] = givenTraces('a stored run', content);
    if (given === undefined) return undefined;
    const { tenant, traceId, spanId, agent, model, service, version } = row;
    return {
      tenant, traceId, spanId,
      trace: { ...given.trace, status: row.status === 'error' ? 'error' : 'ok', ...(agent === undefined ? {} : { agent }), ...(model === undefined ? {} : { model }) },
      dialects: [],
      ...(service === undefined ? {} : { service }),
      ...(version === undefined ? {} : { serviceVersion: version }),
      resourceAttributes: {},
      traceState: '',
      startUnixNano: BigInt(row.startedAt) * 1_000n,
      endUnixNano: BigInt(row.endedAt) * 1_000n,
      completeness: row.completeness as Run['completeness'],
      revision: row.revision,
      contentHash: '',
    };
  } catch {
    return undefined;
  }
}

export function forecastOf({ configured, judge = '', sampleRate, raise, when }: EvaluatorConfig, { runs, days, whole }: Traffic, { config, inputTokens, outputTokens = outputTokensUsual }: ForecastWith): Forecast {
  const entry = config.judges.find(({ name }) => name === judge);
  const model = entry?.model ?? judge;
  const meant = when === undefined ? whole : whole.filter(when);
  const questions = meant.flatMap((run) => firstQuestion(configured, run) ?? []);
  // Of the runs with content; where there are none, every run counts.
  const applies = whole.length === 0 ? 1 : questions.length / whole.length;
  const share = (applies * runs.reduce((sum, { verdicts }) => sum + rateByScores(sampleRate, raise, (evaluator) => verdicts.find(({ name }) => name === evaluator)?.score), 0)) / runs.length;
  const asked = (share * runs.length) / days;
  const estimated = questions.length === 0 ? 0 : questions.reduce((sum, chars) => sum + chars, 0) / questions.length / charsPerToken;
  const input = inputTokens ?? estimated;
  const price = entry?.price ?? priceOf(model, config.prices);
  return { name: configured.name, model, asked, share, inputTokens: input, outputTokens, basis: inputTokens === undefined ? 'estimated' : 'given', usd: price === undefined ? undefined : (asked * (input * price.inputPerMillion + outputTokens * price.outputPerMillion)) / 1_000_000 };
}

/** Characters of what is asked first; undefined: nothing is asked about this run. */
function firstQuestion(configured: ConfiguredEvaluator, run: Run): number | undefined {
  if (configured.kind === 'rule') return undefined;
  const asking = configured.judge(run.trace, {}, evaluationContext(), run);
  try {
    const step = asking.next();
    if (step.done === true || step.value.kind === 'call') return undefined;
    if (step.value.kind === 'embed') return step.value.texts.join('').length;
    const { system, user } = promptOf(step.value, { nonce, ...promptBounds });
    return system.length + user.length;
  } catch {
    return undefined;
  }
}

/** Where a replay takes verdicts of judges from: from cached answers, from the judges within a budget, or from nowhere. */
import { randomBytes } from 'node:crypto';
import { priceOf } from '../../../evaluators/pricing/prices.ts';
import { UsageError } from '../command.ts';
import type { Config, JudgeConfig } from '../../config/config.ts';
import { overBudget, type TokenPrice } from '../../judges/budget/budgets.ts';
import { fixedBudget, type FixedBudget } from '../../judges/budget/fixed-budget.ts';
import { memorySpend } from '../../judges/budget/rate-window.ts';
import { cacheMsMax } from '../../judges/client/answer-cache.ts';
import { answerTokensDefault } from '../../judges/judge.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { BudgetReservation } from '../../model/budget.ts';
import type { Day } from '../../model/store/judge-store.ts';
import type { Store } from '../../model/store/store.ts';
import type { ToJudge } from '../../pipeline/evaluation/evaluate.ts';
import type { AskEnd } from '../../pipeline/jury/judge-driver.ts';
import { judgePool, noBatches } from '../../service/judge-pool.ts';
import { clock } from '../../service/node-runtime.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

export const judgeModes = ['cached', 'ask', 'skip'] as const;
export type JudgeMode = (typeof judgeModes)[number];

/** Reasons why no judge was asked. They do not concern the run. */
export const notAskedReasons = { cached: 'no_cached_answer', skip: 'judges_skipped', ask: 'replay_budget' } as const;

export interface ReplayJudges {
  /** Resolves, never rejects. */
  ask(run: Run, work: ToJudge): Promise<AskEnd>;
  /** US dollars that this replay has spent, with what is reserved. */
  spentUsd(): Promise<number>;
  stop(): Promise<void>;
}

interface ReplayJudgesOptions {
  readonly mode: JudgeMode;
  readonly config: Config;
  /** `undefined` for files of spans. */
  readonly store: Pick<Store, 'judgeSpend' | 'judgeAnswers'> | undefined;
  /** Required to ask. */
  readonly budgetUsd: number | undefined;
  /** Identifies the replay over several processes. */
  readonly id: string;
  readonly day: Day;
  /** True when a text may be stored: it has nothing to redact. */
  readonly mayStore: (text: string) => boolean;
  readonly onFault: (error: unknown) => void;
}

const stopMs = 1_000;

/** The account of the replay among the budgets. */
const accountOf = (id: string): string => `replay:${id}`;

export async function replayJudges(options: ReplayJudgesOptions): Promise<ReplayJudges> {
  const { mode, config, store, mayStore, onFault } = options;
  if (mode === 'skip') return skippingJudges;
  const budget = mode === 'ask' ? budgetOf(options) : undefined;
  const judges = config.judges.map((judge) => replayJudge(judge, config));
  const pool = judgePool(judges, noTelemetry, { within: (judge) => reservationOf(judge, budget), onFault });
  if (store !== undefined)
    await pool.open(
      // Without permission to ask, nothing is spent, so the ledger of the service is none of its business.
      { judgeSpend: mode === 'ask' ? store.judgeSpend : memorySpend(), judgeAnswers: store.judgeAnswers, judgeBatches: noBatches },
      mayStore,
    );
  return {
    ask: (run, work) =>
      new Promise((resolve) => {
        // An endpoint has no cache and no price.
        if (mode === 'cached' && work.configured.kind === 'http') resolve({ kind: 'over_budget', reason: notAskedReasons.cached });
        else pool.ask(run, work, resolve);
      }),
    spentUsd: async () => (await budget?.spentUsd()) ?? 0,
    async stop() {
      await pool.executor.stop(stopMs);
      await budget?.settled();
      await pool.settle();
      await pool.stop();
    },
  };
}

const skippingJudges: ReplayJudges = {
  ask: async () => ({ kind: 'over_budget', reason: notAskedReasons.skip }),
  spentUsd: async () => 0,
  async stop() {},
};

/** The named judge, else the only one. `asking`: the subject of the message that there is none. */
export function chosenJudge({ judges }: Pick<Config, 'judges'>, name: string | undefined, asking: string): JudgeConfig {
  const names = judges.map((one) => one.name).join(', ');
  if (judges.length === 0) throw new UsageError(`${asking} asks a judge. Name a configuration that has one with -c.`);
  if (name === undefined && judges.length > 1)
    throw new UsageError(`The configuration has several judges. Choose one with --judge: ${names}.`);
  const judge = judges.find((one) => name === undefined || one.name === name);
  if (judge === undefined) throw new UsageError(`The configuration has no judge ${JSON.stringify(name)}. It has ${names}.`);
  return judge;
}

/** Throws a UsageError when the budget cannot bound a judge. */
function budgetOf({ config, store, budgetUsd, id, day }: ReplayJudgesOptions): FixedBudget {
  if (budgetUsd === undefined)
    throw new UsageError(
      '--judges ask needs --budget USD, the most that the replay may spend; the forecast of a replay without it names the cost.',
    );
  for (const judge of config.judges)
    if (priceOfJudge(judge, config) === undefined)
      throw new UsageError(
        `--budget cannot bound the judge ${judge.name}, as ${judge.model} has no price. Add price: { input_per_million: …, output_per_million: … } to judges.${judge.name}; 0 for a model of your own.`,
      );
  return fixedBudget({
    store: store?.judgeSpend ?? memorySpend(),
    clock,
    account: accountOf(id),
    day,
    owner: randomBytes(12).toString('hex'),
    usd: budgetUsd,
    reason: notAskedReasons.ask,
  });
}

/** An old answer is as good as the stored verdict that came of it. A replay does not wait for batches. */
function replayJudge(judge: JudgeConfig, config: Config): JudgeConfig {
  const { batch: _batch, ...direct } = judge;
  const price = priceOfJudge(judge, config);
  return {
    ...direct,
    cacheMs: cacheMsMax,
    answerTokensMax: judge.answerTokensMax ?? answerTokensDefault,
    ...(price === undefined ? {} : { price }),
  };
}

function priceOfJudge({ price, model }: JudgeConfig, { prices }: Config): TokenPrice | undefined {
  return price ?? priceOf(model, prices);
}

function reservationOf({ price }: JudgeConfig, budget: FixedBudget | undefined): BudgetReservation {
  if (budget === undefined || price === undefined) return { take: async () => overBudget(notAskedReasons.cached) };
  return budget.at(price);
}

/**
 * The configured judges and the endpoints of evaluators behind one executor; the command line uses it too. A judge with another model or
 * endpoint is another judge: a waiting question goes to the judge that was configured when its run closed. Any other change, of a key or a
 * rate, applies to waiting questions as well.
 */
import { randomBytes } from 'node:crypto';
import type { ConfiguredHttp } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { Answer, Asking } from '../../evaluators/evaluator.ts';
import type { JudgeInForce } from '../analytics/judge-agreement.ts';
import type { Config, JudgeConfig } from '../config/config.ts';
import type { BatchingJudge } from '../judges/batch/batch-client.ts';
import type { EvaluatorBudget } from '../judges/batch/batch-job.ts';
import { batchPlaces } from '../judges/batch/batch-queue.ts';
import type { Budget } from '../judges/budget/budgets.ts';
import { bothReservations } from '../judges/budget/both-reservations.ts';
import { ledger, type Ledger, type LimitStatus } from '../judges/budget/ledger.ts';
import { memorySpend } from '../judges/budget/rate-window.ts';
import { answerCache } from '../judges/client/answer-cache.ts';
import { endpointQueueKey, httpCalls } from '../judges/client/http-calls.ts';
import { judgeCircuitBreaker, type JudgeCircuitBreaker, questionChain, type QuestionChain } from '../judges/judge-chain.ts';
import type { JudgeDeps } from '../judges/judge.ts';
import { judgeOutages, type OutageLogger } from '../judges/judge-outages.ts';
import { openAiCompatibleClient } from '../judges/openai-compatible.ts';
import { judgeExecutor, type JudgeExecutor, type JudgeJob, type QueueKey } from '../judges/queue/executor.ts';
import { juryEnd } from '../judges/queue/jury.ts';
import type { Run } from '../model/agent-trace.ts';
import type { BudgetReservation } from '../model/budget.ts';
import { jsonText, type JsonValue } from '../model/json.ts';
import type { JudgeOutage } from '../model/judge-outage.ts';
import type { JudgeBatchStore } from '../model/store/judge-store.ts';
import type { Store } from '../model/store/store.ts';
import { runTargetId, type Verdict } from '../model/verdict.ts';
import type { Pace, PlannedEvaluator, ToJudge } from '../pipeline/evaluation/evaluate.ts';
import { pacedBy } from '../pipeline/evaluation/sampling.ts';
import { type Ask, type AskEnd, askOf } from '../pipeline/jury/judge-driver.ts';
import { judgesOf, type Panel, panelModel, slotsOf } from '../pipeline/jury/jury-panel.ts';
import { type Lend, lendNothing } from '../runtime/concurrency-limiter.ts';
import { exchangeable, type Exchangeable } from './hot-swap.ts';
import { clock, sleep } from './node-runtime.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

export interface JudgePool {
  readonly executor: JudgeExecutor;
  readonly ask: (run: Run, work: ToJudge, done: (end: AskEnd) => void) => void;
  /** The same without the cache: it neither reads nor writes answers. */
  readonly askAnew: JudgePool['ask'];
  /** Vectors of texts that are not blank, within the budget of the judge. Resolves, never rejects. */
  readonly embed: (judge: string, texts: readonly string[]) => Promise<Answer>;
  /** Prepares other judges, and may fail. The returned function puts them in place and does not fail. */
  readonly prepare: (configs: readonly JudgeConfig[]) => () => void;
  readonly pace: Pace;
  /** Status of the limits of the day, of every judge and of these evaluators. */
  readonly budgets: (plan: readonly Planned[]) => readonly BudgetStatus[];
  /** Judges and endpoints that do not answer. */
  readonly outages: () => readonly JudgeOutage[];
  /** Runs that the judge of a queue works on at the same time. */
  readonly places: (queueKey: string) => number;
  /** Milliseconds that runs may wait for the batches of a judge, beyond the time for other judges. */
  readonly moreMs: (judge: string) => number;
  /**
   * Keeps budgets and answers in a store from now on; `mayStore` is false for a text that must not go there. `owner`: the name under which this
   * process holds batches. Rejects when the store cannot be read.
   */
  readonly open: (
    store: Pick<Store, 'judgeSpend' | 'judgeAnswers' | 'judgeBatches'>,
    mayStore: (text: string) => boolean,
    owner?: string,
  ) => Promise<void>;
  /** Stops the batches; their questions go on waiting in the store. */
  readonly stopBatches: () => void;
  /** Writes the costs to the store. Rejects when it cannot be written. */
  readonly settle: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Removed judges that still have runs. Beyond it the first one stops, and its questions fail. */
const retiredMax = 16;

/** Jobs of a removed judge that are taken together to end them as `no_such_judge`. */
const placesOfUnknownJudge = 8;

interface Question {
  /** Identifies the run and the evaluator. */
  readonly asker: string;
  /** `true` when neither the cache nor a batch may answer. */
  readonly isAnew: boolean;
  readonly work: Pick<ToJudge, 'configured' | 'budget'>;
  readonly asked: Pick<JudgeJob, 'name' | 'agent' | 'tenant' | 'threshold'> & { readonly questions: () => Asking<Verdict> };
}

interface Asker extends Pick<Question, 'asker' | 'isAnew'> {
  readonly budget: EvaluatorBudget | undefined;
  readonly lend: Lend;
}

interface JudgeEntry {
  config: JudgeConfig;
  readonly queueKey: QueueKey;
  readonly client: Exchangeable<BatchingJudge>;
  readonly breaker: JudgeCircuitBreaker;
  readonly chain: QuestionChain;
  readonly answer: (asker: Asker) => Ask;
  /** Runs that wait or are worked on. */
  jobs: number;
}

interface JudgePoolOptions {
  /** Receives the fault of a store that cannot be used. */
  readonly onFault?: (error: unknown) => void;
  readonly onNoConnection?: JudgeDeps['onNoConnection'];
  /** Gets a line when a judge does not answer, and when it answers again. */
  readonly logger?: OutageLogger;
  /** Questions in the store that the budget of a judge or an evaluator pays for. */
  readonly waiting?: (payer: Payer) => number;
  /** A further budget of every request, beside that of the judge. */
  readonly within?: (judge: JudgeConfig) => BudgetReservation;
}

export function judgePool(
  configs: readonly JudgeConfig[],
  telemetry: Telemetry,
  { onFault = () => undefined, onNoConnection = () => undefined, waiting = () => 0, within, logger }: JudgePoolOptions = {},
): JudgePool {
  const context = evaluationContext();
  const outages = judgeOutages({ telemetry, clock, logger });
  const parts = { telemetry, clock, sleep, random: Math.random, onRetry: outages.retried, onReply: outages.ended };
  const endpoints = httpCalls(parts);
  const executor = judgeExecutor({ telemetry, sleep });
  const answers = answerCache({ telemetry, clock });
  const owner = randomBytes(12).toString('hex');
  const costLedger = ledger({ store: memorySpend(), telemetry, clock, sleep, owner, waiting, onFault });
  const ended = new AbortController();
  const retired = new Set<JudgeEntry>();
  let entries: ReadonlyMap<string, JudgeEntry> = new Map();
  const budgets = judgeBudgets(costLedger, () => entries);
  let opened = 0;
  let kept: readonly [store: JudgeBatchStore, mayStore: (text: string) => boolean, owner: string] | undefined;

  function judgeOf(config: JudgeConfig): BatchingJudge {
    const reservation = bothReservations(within?.(config), budgets.reservation(config));
    return openAiCompatibleClient(config, {
      ...parts,
      onNoConnection,
      ...(reservation === undefined ? {} : { reservation }),
      nonce: () => randomBytes(12).toString('hex'),
    });
  }

  function judgeEntry(config: JudgeConfig): JudgeEntry {
    const client = exchangeable(judgeOf(config));
    const breaker = judgeCircuitBreaker({ name: config.name, ...parts, signal: ended.signal });
    const chain = questionChain({
      ...parts,
      cache: answers,
      breaker,
      client: client.use,
      judge: config,
      settings: () => entry.config,
      reservation: () => budgets.batchReservation(entry.config),
      onBatched: () => outages.ended(config.name, undefined),
      newId: () => randomBytes(16).toString('hex'),
      onFault,
    });
    const answer = ({ asker: id, budget, isAnew, lend }: Asker): Ask =>
      askOf({
        ask: (question, note) => (isAnew ? chain.askAnew : chain.ask)(question, { id, note, budget, lend }),
        embed: (request, note) => chain.embed(request, { id, note, budget, lend }),
      });
    const entry: JudgeEntry = {
      config,
      client,
      chain,
      answer,
      breaker,
      jobs: 0,
      // Names of judges have no colon. The number separates the slots of two judges that have the same name one after the other.
      queueKey: {
        name: `judge:${++opened}`,
        judge: config.name,
        model: config.model,
        answer: answer({ asker: '', budget: undefined, isAnew: false, lend: lendNothing }),
        get price() {
          return entry.config.price;
        },
        get batchPrice() {
          return entry.config.batch?.price;
        },
        get concurrency() {
          return entry.config.concurrency;
        },
        get room() {
          return workedOn(entry.config);
        },
      },
    };
    return entry;
  }

  /** The entry for a name in the next configuration: the same judge, the same with another client, or another judge. */
  function replacement(config: JudgeConfig): { readonly entry: JudgeEntry; readonly take: () => void } {
    const before = entries.get(config.name);
    if (before === undefined || before.config.baseUrl !== config.baseUrl || before.config.model !== config.model) {
      const entry = judgeEntry(config);
      return {
        entry,
        take: () => void (kept === undefined ? undefined : entry.chain.batches.open(...kept, true).catch(onFault)),
      };
    }
    if (isSame(before.config, config)) return { entry: before, take: () => undefined };
    const next = judgeOf(config);
    return {
      entry: before,
      take() {
        before.config = config;
        before.client.exchange(next);
        before.breaker.forget();
      },
    };
  }

  function prepare(next: readonly JudgeConfig[]): () => void {
    const ready = next.map((config) => ({ name: config.name, ...replacement(config) }));
    return () => {
      outages.keep((judge) => {
        const [before, after] = [entries.get(judge)?.config, next.find(({ name }) => name === judge)];
        return before !== undefined && after !== undefined && isSame(before, after);
      });
      const staying = new Set(ready.map(({ entry }) => entry));
      for (const entry of entries.values()) if (!staying.has(entry)) retire(entry);
      for (const { take } of ready) take();
      entries = new Map(ready.map(({ name, entry }) => [name, entry]));
    };
  }

  function retire(entry: JudgeEntry): void {
    retired.add(entry);
    release(entry);
    const [first] = retired;
    if (retired.size <= retiredMax || first === undefined) return;
    retired.delete(first);
    end(first);
  }

  function release(entry: JudgeEntry): void {
    if (entry.jobs === 0 && retired.delete(entry)) end(entry);
  }

  function end({ client, chain }: JudgeEntry): void {
    void client.stop();
    void chain.batches.stop();
  }

  function endpointKey({ name: evaluator, concurrency, tls }: ConfiguredHttp): QueueKey {
    const name = endpointQueueKey(evaluator);
    return { name, concurrency, answer: askOf({}, async (request) => await endpoints.call(name, request, tls)) };
  }

  function askOne(entry: JudgeEntry | undefined, { asker, work, asked, isAnew }: Question, done: (end: AskEnd) => void): void {
    if (entry === undefined) return done({ kind: 'overload', reason: 'no_such_judge' });
    entry.jobs++;
    const ended = (end: AskEnd): void => {
      entry.jobs--;
      release(entry);
      done(end);
    };
    const budget = budgets.evaluatorBudget(work, entry.config);
    executor.offer({ ...asked, key: entry.queueKey, answer: (lend) => entry.answer({ asker, budget, isAnew, lend }), done: ended });
  }

  /** Holds every judge of the panel until the vote is over, even when the configuration changes meanwhile. */
  async function juryOf(panel: Panel, { asked, ...question }: Question): Promise<AskEnd> {
    const own = new Map(
      judgesOf(panel).flatMap((name) => {
        const entry = entries.get(name);
        return entry === undefined ? [] : [[name, entry] as const];
      }),
    );
    for (const entry of own.values()) entry.jobs++;
    const end = await juryEnd({
      name: asked.name,
      panel,
      model: panelModel(panel, (judge) => own.get(judge)?.config.model),
      questions: asked.questions,
      ask: (judge, questions) => new Promise((resolve) => askOne(own.get(judge), { ...question, asked: { ...asked, questions } }, resolve)),
      identity: (judge) => jsonText([own.get(judge)?.config.baseUrl ?? judge, own.get(judge)?.config.model ?? '']),
      price: (judge) => own.get(judge)?.config.price,
      telemetry,
    });
    for (const entry of own.values()) {
      entry.jobs--;
      release(entry);
    }
    return end;
  }

  const asking =
    (isAnew: boolean): JudgePool['ask'] =>
    (run, work, done) => {
      const { configured, expected, judge, panel } = work;
      const asker = JSON.stringify([run.tenant, runTargetId(run), run.revision, configured.name, configured.optionsHash]);
      const question: Question = {
        asker,
        isAnew,
        work,
        asked: {
          name: configured.name,
          agent: run.trace.agent,
          tenant: run.tenant,
          threshold: configured.threshold,
          questions: () => configured.judge(run.trace, expected, context, run),
        },
      };
      if (configured.kind === 'http') executor.offer({ ...question.asked, key: endpointKey(configured), done });
      else if (panel === undefined) askOne(entries.get(judge ?? ''), question, done);
      else void juryOf(panel, question).then(done);
    };

  prepare(configs)();
  return {
    executor,
    prepare,
    ask: asking(false),
    askAnew: asking(true),
    embed: async (judge, texts) =>
      (await entries
        .get(judge)
        ?.chain.embed({ kind: 'embed', texts }, { id: '', note: undefined, budget: undefined, lend: lendNothing })) ?? {
        kind: 'failed',
        error: 'no_such_judge',
      },
    pace: budgets.pace,
    budgets: budgets.status,
    outages: outages.current,
    places(queueKey) {
      const entry = entries.get(judgeOfQueueKey(queueKey));
      // A judge with batches takes as many runs out of the store as its batches have room for.
      return entry === undefined
        ? placesOfUnknownJudge
        : entry.breaker.places(entry.config.batch === undefined ? entry.config.concurrency : Math.ceil(workedOn(entry.config) / 2));
    },
    moreMs: (judge) => entries.get(judge)?.config.batch?.withinMs ?? 0,
    async open({ judgeSpend, judgeAnswers, judgeBatches }, mayStore, batchOwner = onlyOwner) {
      answers.open(judgeAnswers, mayStore);
      await costLedger.open(judgeSpend);
      kept = [judgeBatches, mayStore, batchOwner];
      for (const { chain } of entries.values()) await chain.batches.open(...kept);
    },
    stopBatches() {
      for (const { chain } of [...entries.values(), ...retired]) void chain.batches.stop();
    },
    settle: costLedger.close,
    async stop() {
      ended.abort();
      await Promise.all([
        endpoints.stop(),
        ...[...entries.values(), ...retired].flatMap(({ client, chain }) => [client.stop(), chain.batches.stop()]),
      ]);
    },
  };
}

/** Runs that wait for a batch, or concurrent questions. */
function workedOn({ concurrency, batch }: JudgeConfig): number {
  return batch === undefined ? concurrency : Math.max(concurrency, batchPlaces(batch));
}

function isSame(one: JudgeConfig, other: JudgeConfig): boolean {
  const text = (config: JudgeConfig): string => jsonText(config as unknown as JsonValue, { sortKeys: true });
  return text(one) === text(other);
}

type Planned = Pick<PlannedEvaluator, 'configured' | 'judge' | 'panel' | 'budget'>;

/** `judge` is `undefined` for the limit of an evaluator, and `evaluator` for that of a judge. */
interface BudgetStatus extends LimitStatus {
  readonly judge: string | undefined;
  readonly evaluator: string | undefined;
}

/** Budgets of judges and evaluators. */
interface JudgeBudgets {
  /** `undefined` when the judge has no budget. */
  reservation(config: JudgeConfig): BudgetReservation | undefined;
  /** The same at the price of batches. */
  batchReservation(config: JudgeConfig): BudgetReservation | undefined;
  /** Budget of an evaluator with this judge, at the prices of the judge. */
  evaluatorBudget(work: Pick<Planned, 'configured' | 'budget'>, judge: JudgeConfig): EvaluatorBudget | undefined;
  readonly pace: Pace;
  /** Status of the limits of every judge and of these evaluators. */
  status(plan: readonly Planned[]): readonly BudgetStatus[];
}

/** `judges`: the configured judges by name. */
function judgeBudgets(ledger: Ledger, judges: () => ReadonlyMap<string, { readonly config: JudgeConfig }>): JudgeBudgets {
  const reservation = (budget: Budget | undefined): BudgetReservation | undefined =>
    budget === undefined ? undefined : ledger.reservation(budget);

  return {
    reservation: (config) => reservation(ofJudge(config)),
    batchReservation(config) {
      const budget = ofJudge(config);
      return reservation(budget === undefined ? undefined : { ...budget, ...inBatches(config) });
    },
    evaluatorBudget({ configured: { name }, budget }, config) {
      const direct = ofEvaluator(name, budget, config);
      return direct === undefined
        ? undefined
        : { direct: (lend) => ledger.reservation(direct, lend), batched: ledger.reservation({ ...direct, ...inBatches(config) }) };
    },
    pace({ configured: { name, kind }, judge, panel, budget }) {
      if (kind !== 'judge') return ledger.share([]);
      const asked = panel === undefined ? [judge ?? ''] : slotsOf(panel).map((slot) => slot.judge);
      const shares = asked.map((one) => ledger.share(listed(ofJudge(judges().get(one)?.config))));
      return pacedBy(ledger.share(listed(ofEvaluator(name, budget))), shares);
    },
    status(plan) {
      const all = [
        ...[...judges().values()].map(({ config }) => ofJudge(config)),
        ...plan.map(({ configured: { name }, budget }) => ofEvaluator(name, budget)),
      ];
      return all.flatMap(listed).flatMap((budget) =>
        ledger.status(budget).map((limit) => ({
          ...limit,
          judge: budget.of === 'judge' ? budget.name : undefined,
          evaluator: budget.of === 'evaluator' ? budget.name : undefined,
        })),
      );
    },
  };
}

/** `requests_per_minute` of a judge and of its budget are one limit: the lower one holds. */
function ofJudge(config: JudgeConfig | undefined): Budget | undefined {
  if (config === undefined || (config.budget === undefined && config.requestsPerMinute === undefined)) return undefined;
  const { budget, name, price, requestsPerMinute = Infinity } = config;
  const perMinute = Math.min(requestsPerMinute, budget?.requestsPerMinute ?? Infinity);
  return { ...budget, ...(perMinute === Infinity ? {} : { requestsPerMinute: perMinute }), of: 'judge', name, price };
}

function ofEvaluator(name: string, budget: Planned['budget'], judge?: JudgeConfig): Budget | undefined {
  return budget === undefined ? undefined : { ...budget, of: 'evaluator', name, price: judge?.price };
}

function inBatches({ batch, price }: JudgeConfig): Pick<Budget, 'price' | 'isBatched'> {
  return { price: batch?.price ?? price, isBatched: true };
}

function listed(budget: Budget | undefined): readonly Budget[] {
  return budget === undefined ? [] : [budget];
}

/** The owner of a budget. */
export type Payer = Pick<Budget, 'of' | 'name'>;

/**
 * The queue in which a pair of run and evaluator waits. Names of judges and evaluators contain neither a space nor a colon. Votes of one judge
 * wait in the queue of the judge, votes of several judges in a queue of the evaluator. An evaluator with its own budget has its own queue, so
 * that it delays no other.
 */
export function queueKeyOf({ configured: { kind, name }, judge = '', panel, budget }: Planned): string {
  if (kind !== 'judge') return endpointQueueKey(name);
  if (panel !== undefined && panel.judges.length > 1) return `jury:${name}`;
  const only = panel?.judges[0] ?? judge;
  return budget === undefined ? only : `${only} ${name}`;
}

/** The judge of a queue with a single judge. */
export function judgeOfQueueKey(queueKey: string): string {
  return queueKey.split(' ')[0] ?? '';
}

/** The judges that answer questions of a queue. */
export function judgesOfQueueKey(queueKey: string, plan: readonly Planned[]): readonly string[] {
  const panel = plan.find((planned) => planned.panel !== undefined && queueKeyOf(planned) === queueKey)?.panel;
  return panel === undefined ? [judgeOfQueueKey(queueKey)] : judgesOf(panel);
}

/** Questions of one pair that the budget pays for: one for each vote. Where evaluators share a queue, the largest number counts. */
export function questionsOf(queueKey: string, { of, name }: Payer, plan: readonly Planned[]): number {
  const questions = plan
    .filter((planned) => queueKeyOf(planned) === queueKey)
    .map(({ configured, judge, panel }) => {
      const judges = panel === undefined ? [judge] : slotsOf(panel).map((slot) => slot.judge);
      if (of === 'evaluator') return configured.name === name ? judges.length : 0;
      return judges.filter((one) => one === name).length;
    });
  return Math.max(0, ...questions);
}

/** Evaluators with a judge. An evaluator with several votes has no single model. */
export function judgesInForce({ evaluators, judges }: Pick<Config, 'evaluators' | 'judges'>): readonly JudgeInForce[] {
  return evaluators.flatMap(
    ({
      configured: {
        name,
        evaluator: { id, version },
      },
      judge,
      panel,
    }) =>
      judge === undefined && panel === undefined
        ? []
        : [{ name, evaluator: id, version, model: judges.find((one) => one.name === judge)?.model }],
  );
}

/** The owner of batches where only one process has the store open: its successor goes on with them at once. */
const onlyOwner = 'only';

/** Used by commands: the batches in the store belong to the service. */
export const noBatches: JudgeBatchStore = {
  async prepare() {},
  async submitted() {},
  async end() {},
  take: async () => ({ held: [], taken: [] }),
  async renew() {},
  async endOthers() {},
  find: async () => new Map(),
  async forget() {},
};

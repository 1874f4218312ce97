/**
 * A budget under traffic: runs, evaluators that ask about a share of them and about more of those in which a rule has found something, a budget for half of that,
 * and a service that is killed twice. Then the account, from the read API, the store and the judge's own bill.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { sampleDecision } from '../../../src/pipeline/evaluation/sampling.ts';
import { hostFolder, type Host } from '../../faults/host.ts';
import { billed, decisionsIn, stored, told, verdictsIn, type BudgetAccount, type Kill } from './budget-account.ts';
import { chargingJudge, inputPrice, outputPrice, type ChargingJudge } from './charging-judge.ts';
import { evaluators, orders, spansOf, type Order } from './orders.ts';

export interface BudgetTrialOptions {
  readonly runs: number;
  readonly seed: number;
  /** Share of the runs that are asked about without any rule. */
  readonly rate: number;
  /** Questions that the judge is asked at a time. */
  readonly concurrency?: number;
  readonly onProgress?: (line: string) => void;
}

const raisedTo: { readonly [evaluator in (typeof evaluators)[number]]: number } = { first: 1, second: 0.5 };
/** Shares of the runs, sent when it is killed: while there is a budget. */
const killsAfter = [0.15, 0.35];
const lookEveryMs = 25;
const looksMax = 2_400;
const runsPerRequest = 5;
const senders = 2;
/** The rough cost of a question: the budget is half of all that would be asked. */
const questionUsd = 0.0006;

export async function budgetTrial({
  runs,
  seed,
  rate,
  concurrency = 8,
  onProgress = () => undefined,
}: BudgetTrialOptions): Promise<BudgetAccount> {
  const all = orders(runs, seed);
  const wanted = evaluators.reduce(
    (sum, name) => sum + all.filter((order) => isChosen(order, order.fails ? raisedTo[name] : rate)).length,
    0,
  );
  const budgetUsd = Number(((wanted * questionUsd) / 2).toFixed(4));
  const judge = await chargingJudge();
  const folder = hostFolder(configuration(judge.baseUrl, { budgetUsd, rate, concurrency }));
  // Late in the day nearly all of a budget may be spent, and none of a next day's.
  const world = { clockMs: untilLate(Date.now()) };
  try {
    let service = await folder.start(world);
    const kills: Kill[] = [];
    const load = sending(all, Date.now() + world.clockMs, () => service);
    for (const share of killsAfter) {
      await load.until(Math.floor(runs * share));
      judge.hold();
      await underWay(judge, concurrency);
      kills.push({ verdicts: verdictsIn(folder.store, all), asked: judge.bill.length, underWay: judge.waiting() });
      await service.end('SIGKILL');
      judge.forget();
      onProgress(
        `killed after ${load.sent()} runs, with ${judge.bill.length} questions asked and ${kills.at(-1)?.underWay ?? 0} under way`,
      );
      service = await folder.start(world);
    }
    await load.done();
    await quiet(service, folder.store, runs * evaluators.length);
    onProgress('everything is decided');
    const decided = await told(service, all);
    await service.end('SIGTERM');
    return {
      ...decided,
      ...stored(folder.store, all),
      ...billed(judge.bill, kills),
      pairs: runs * evaluators.length,
      wanted,
      budgetUsd,
      kills: kills.length,
    };
  } finally {
    await folder.remove();
    await judge.close();
  }
}

function isChosen({ traceId }: Order, rate: number): boolean {
  return sampleDecision({ traceId, traceState: '', rate }).sampled;
}

function configuration(
  baseUrl: string,
  { budgetUsd, rate, concurrency }: { readonly budgetUsd: number; readonly rate: number; readonly concurrency: number },
): string {
  const entries = evaluators.map(
    (name) =>
      `  - { use: task_completion, name: ${name}, judge: main, sample: { rate: ${rate}, raise: [ { when: "tool_error < 1", to: ${raisedTo[name]} } ] }, expect: { tasks: ["task of the ${name}"] } }`,
  );
  return `judges: { main: { base_url: "${baseUrl}", model: m, concurrency: ${concurrency}, answer_tokens: 60, price: { input_per_million: ${inputPrice}, output_per_million: ${outputPrice} }, budget: { usd_per_day: ${budgetUsd} } } }
evaluators:
  - tool_error
${entries.join('\n')}`;
}

const dayMs = 86_400_000;
const lateMs = 23.5 * 3_600_000;

/** From now to 23:30 (UTC), today or tomorrow. */
function untilLate(nowMs: number): number {
  return (lateMs - (nowMs % dayMs) + dayMs) % dayMs;
}

interface Sending {
  readonly sent: () => number;
  /** Waits until this many runs were acknowledged. */
  until(runs: number): Promise<void>;
  done(): Promise<void>;
}

/** Sends each request again until it is acknowledged. */
function sending(all: readonly Order[], atMs: number, service: () => Host): Sending {
  const queue = Array.from({ length: Math.ceil(all.length / runsPerRequest) }, (_, at) =>
    all.slice(at * runsPerRequest, (at + 1) * runsPerRequest),
  ).values();
  let sent = 0;
  async function sender(): Promise<void> {
    for (const some of queue) {
      while ((await service().send(some.flatMap((order) => spansOf(order, atMs)))) !== 200) await pause(25);
      sent += some.length;
    }
  }
  const working = Promise.all(Array.from({ length: senders }, sender));
  return {
    sent: () => sent,
    async until(runs) {
      while (sent < runs) await pause(5);
    },
    async done() {
      await working;
    },
  };
}

/** Until as much is under way as may be, or nothing more comes. */
async function underWay(judge: ChargingJudge, concurrency: number): Promise<void> {
  for (let looks = 0; looks < looksMax && judge.waiting() < concurrency; looks++) await pause(lookEveryMs);
}

/** Until each pair has a decision and nothing waits, or for so long that something is lost. */
async function quiet(service: Host, store: string, pairs: number): Promise<void> {
  for (let looks = 0; looks < looksMax; looks++) {
    if (decisionsIn(store) >= pairs && !/^tracejury_judge_jobs_waiting\{[^}]*\} [1-9]/m.test(await service.metrics())) return;
    await pause(lookEveryMs);
  }
}

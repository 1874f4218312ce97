/** A room of batches with a real client, over a store, on a clock and sleeps that the test moves. */
import { createHash } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { Answer, Question } from '../../evaluators/evaluator.ts';
import type { EvaluatorBudget } from '../../src/judges/batch/batch-job.ts';
import { batchQueue, type BatchQueue } from '../../src/judges/batch/batch-queue.ts';
import type { BatchSettings, JudgeSettings } from '../../src/judges/judge.ts';
import { openAiCompatibleJudge } from '../../src/judges/openai-compatible.ts';
import type { JudgeBatchStore } from '../../src/model/store/judge-store.ts';
import { leaseOf } from '../../src/model/store/lease.ts';
import type { BudgetReservation } from '../../src/model/budget.ts';
import { manualClock, type ManualClock } from '../../src/model/clock.ts';
import type { JudgeCall } from '../../src/model/judge-call.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { lendNothing } from '../../src/runtime/concurrency-limiter.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { eventually } from '../service/running.ts';
import type { BatchServer } from './batch-server.ts';

export const question: Question = {
  id: 'q',
  instruction: 'Is it so?',
  data: [{ title: 'Text', text: 'a text' }],
  answerSchema: { type: 'object', additionalProperties: false, required: ['yes'], properties: { yes: { type: 'boolean' } } },
};
export const good = '{"yes":true}';

export interface BatchHost {
  readonly room: BatchQueue;
  readonly store: JudgeBatchStore;
  /** Batches of the judge that are not over. */
  unfinished(): Promise<readonly unknown[]>;
  readonly clock: ManualClock;
  readonly faults: readonly unknown[];
  readonly calls: readonly JudgeCall[];
  settings: JudgeSettings;
  /** Gives the answer when it comes. */
  ask(
    asker: string,
    of?: Question,
    budget?: EvaluatorBudget,
  ): { readonly answer: Promise<Answer>; readonly told: () => Answer | undefined };
  /** Time goes by, and sleepers wake, until something is so. */
  until<T>(is: () => T | undefined | Promise<T | undefined>, what: string, stepMs?: number): Promise<T>;
  /** Points of a counter by outcome. */
  counts(metric: string): { readonly [outcome: string]: number };
}

export interface HostOptions {
  readonly batch?: Partial<BatchSettings>;
  readonly judge?: Partial<JudgeSettings>;
  readonly store?: JudgeBatchStore;
  readonly clock?: ManualClock;
  readonly reservation?: BudgetReservation;
  readonly mayLie?: (text: string) => boolean;
  /** Default: each process has the name of the one before. */
  readonly owner?: string;
  /** The process had another endpoint for this judge before. */
  readonly isReload?: boolean;
}

/** The first one of a test over a server and a store, or the next process over the same. */
export async function batchHost(
  server: BatchServer,
  {
    batch,
    judge,
    store: given,
    clock = manualClock(Date.parse('2026-01-01T00:00:00Z')),
    reservation,
    mayLie = () => true,
    owner = 'same',
    isReload = false,
  }: HostOptions = {},
): Promise<BatchHost> {
  const store = given ?? (await memoryStore()).judgeBatches;
  const [telemetry, nap] = [metricRegistry(), manualSleep()];
  const [faults, calls]: [unknown[], JudgeCall[]] = [[], []];
  let ids = clock.nowMs();
  const host: { settings: JudgeSettings } = {
    settings: {
      name: 'main',
      baseUrl: server.baseUrl,
      model: 'm',
      apiKey: 'k',
      concurrency: 2,
      timeoutMs: 60_000,
      batch: { pollMs: 1_000, gatherMs: 5_000, withinMs: 3_600_000, requests: 10, bytes: 1_000_000, inFlight: 2, ...batch },
      ...judge,
    },
  };
  const client = openAiCompatibleJudge(host.settings, {
    telemetry,
    clock,
    random: () => 0,
    nonce: () => 'n0nce',
    sleep: async () => undefined,
  });
  const room = batchQueue({
    judge: host.settings,
    settings: () => host.settings,
    use: (work) => work(client),
    direct: (of, { note, budget }) => client.ask(of, note, budget?.direct(lendNothing)),
    reservation: () => reservation,
    newId: () => `own-${++ids}`,
    onFault: (error) => void faults.push(error),
    telemetry,
    clock,
    sleep: nap.sleep,
  });
  onTestFinished(async () => {
    await client.stop();
    const stopped = room.stop();
    await nap.wakeAll();
    await stopped;
  });
  await room.open(store, mayLie, owner, isReload);
  return Object.assign(host, {
    room,
    store,
    async unfinished() {
      const endpoint = createHash('sha256')
        .update(JSON.stringify([host.settings.baseUrl, host.settings.model]))
        .digest('hex');
      return (await store.take({ judge: 'main', endpoint, known: [] }, leaseOf(owner, clock))).taken;
    },
    clock,
    faults,
    calls,
    ask(asker: string, of = question, budget?: EvaluatorBudget) {
      let told: Answer | undefined;
      const answer = room.ask(of, { id: asker, note: (call) => void calls.push(call), budget }).then((one) => (told = one));
      return { answer, told: () => told };
    },
    until: <T>(is: () => T | undefined | Promise<T | undefined>, what: string, stepMs = 1_000) =>
      eventually(async () => {
        const now = await is();
        if (now !== undefined) return now;
        clock.advance(stepMs);
        await nap.wakeAll();
        return undefined;
      }, what),
    counts(metric: string) {
      const points = telemetry.snapshot().find(({ name }) => name === metric)?.points ?? [];
      return Object.fromEntries(
        points.map((point) => [point.labels['tracejury.outcome'] ?? '', point.kind === 'number' ? point.value : 0]),
      );
    },
  });
}

/** The nth batch, once it is there. */
export async function batchOf(host: BatchHost, server: BatchServer, nth = 1) {
  return await host.until(() => server.batches[nth - 1], `batch ${nth}`);
}

/**
 * The batch queue gathers questions to a judge and submits them as batches. An asker waits for its answer, possibly for hours. A question
 * that its batch does not answer is asked directly. The store knows the questions in progress by asker and text, so an asker that repeats
 * one after a restart waits for the same batch.
 */
import { createHash } from 'node:crypto';
import type { Answer, Question } from '../../../evaluators/evaluator.ts';
import type { JudgeBatchStore } from '../../model/store/judge-store.ts';
import { leaseOf, leaseRenewalMs } from '../../model/store/lease.ts';
import type { Tokens } from '../../model/budget.ts';
import { parseJson } from '../../model/json.ts';
import type { Clock, Sleep } from '../../model/clock.ts';
import type { NoteCall } from '../../model/judge-call.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { questionKey, textsOf } from '../client/answer-cache.ts';
import {
  batchJobs,
  type BatchEnd,
  type BatchReply,
  type BatchJob,
  type BatchJobs,
  type BatchJobDeps,
  type EvaluatorBudget,
  type Waiting,
} from './batch-job.ts';
import type { JudgeSettings } from '../judge.ts';
import { lendNothing, type Lend } from '../../runtime/concurrency-limiter.ts';

export interface BatchQueueOptions extends Pick<BatchJobDeps, 'settings' | 'use' | 'reservation' | 'newId' | 'onFault'> {
  /** Identifies the endpoint and the model. */
  readonly judge: Pick<JudgeSettings, 'baseUrl' | 'model'>;
  /** Asks one question at once. */
  readonly direct: (question: Question, asker: BatchAsker) => Promise<Answer>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

/** The evaluator and run that ask. */
export interface BatchAsker {
  /** The same for one run and evaluator, also in the next process. */
  readonly id: string;
  readonly note?: NoteCall | undefined;
  readonly budget?: EvaluatorBudget | undefined;
  /** Lends the slot of the question while it waits for its batch. */
  readonly lend?: Lend;
}

export interface BatchQueue {
  /**
   * Starts batching, and continues the batches that no other process looks after. `owner`: the name under which this process holds batches. Rejects
   * when the store cannot be read. `isReload`: the process has had another endpoint for this judge, whose batches it still looks after.
   */
  open(store: JudgeBatchStore, mayStore: (text: string) => boolean, owner: string, isReload?: boolean): Promise<void>;
  /** Asks directly before `open`. */
  ask(question: Question, asker: BatchAsker): Promise<Answer>;
  /** Releases the waiting askers. Their batches continue, and the next process gets the answers. May be called twice. */
  stop(): Promise<void>;
}

const deferred: Extract<Answer, { readonly kind: 'failed' }> = {
  kind: 'failed',
  error: 'judge_put_off: its batch is not back, and the service stops',
};

/** True when the pair of run and evaluator keeps waiting. */
export function isDeferred(answer: Answer): boolean {
  return answer.kind === 'failed' && answer.error === deferred.error;
}

/** Number of runs that may wait with a question each. */
export function batchPlaces({ requests, inFlight }: { readonly requests: number; readonly inFlight: number }): number {
  return requests * inFlight;
}

/** Retention of answers whose asker has not come back; longer than any batch takes. */
const answersMs = 14 * 86_400_000;
const answersMax = 100_000;
const forgetEveryMs = 3_600_000;
const pollDefaultMs = 30_000;

export function batchQueue(options: BatchQueueOptions): BatchQueue {
  const { settings, use, direct, telemetry, clock, sleep, onFault } = options;
  const pending = new Map<string, Waiting>();
  const jobs = new Set<BatchJob>();
  /** Questions in batches that another process looks after, or looked after until it died. */
  const elsewhere = new Map<string, Waiting>();
  const { baseUrl, model } = options.judge;
  const endpoint = createHash('sha256')
    .update(JSON.stringify([baseUrl, model]))
    .digest('hex');
  const shutdown = new AbortController();
  let wake = new AbortController();
  let store: { readonly given: JudgeBatchStore; readonly owner: string } | undefined;
  let own: BatchJobs | undefined;
  let working: Promise<void> | undefined;
  let polledMs = -Infinity;
  let renewedMs = -Infinity;
  let forgottenMs = -Infinity;

  function report(): void {
    const labels = { 'tracejury.judge': settings().name };
    telemetry.set(
      'tracejury.judge.batch.waiting',
      pending.size + elsewhere.size + [...jobs].reduce((sum, { waiting }) => sum + waiting.size, 0),
      labels,
    );
    telemetry.set('tracejury.judge.batch.in_flight', jobs.size, labels);
  }

  function count(outcome: string): void {
    telemetry.add('tracejury.judge.batch.questions', 1, { 'tracejury.judge': settings().name, 'tracejury.outcome': outcome });
  }

  function resolve({ resolves }: Waiting, reply: BatchReply): void {
    for (const one of resolves.splice(0)) one(reply);
  }

  function finish(end: BatchEnd): void {
    if (end.kind === 'again') return void pending.set(end.waiting.key, end.waiting);
    pending.delete(end.waiting.key);
    if (end.kind === 'direct') return askDirectly(end);
    if (end.answer.kind === 'answered') {
      count('answered');
      telemetry.add('tracejury.judge.requests', 1, { 'tracejury.judge': settings().name, 'tracejury.outcome': 'answered' });
    }
    resolve(end.waiting, end);
  }

  /** The first of several waiting callers asks, and the others share its answer. */
  function askDirectly({ waiting, reason, tokens }: Extract<BatchEnd, { readonly kind: 'direct' }>): void {
    count(reason);
    let answer: Promise<Answer> | undefined;
    const ask = async (directly: () => Promise<Answer>): Promise<Answer> => {
      if (shutdown.signal.aborted) return deferred;
      const answer = await directly();
      return tokens === undefined ? answer : { ...answer, tokens: sumOfTokens(tokens, answer.tokens) };
    };
    resolve(waiting, { kind: 'direct', ask: (directly) => (answer ??= ask(directly)) });
  }

  function isDue(): boolean {
    const { batch } = settings();
    const [first] = pending.values();
    return (
      batch !== undefined && first !== undefined && (pending.size >= batch.requests || clock.nowMs() - first.sinceMs >= batch.gatherMs)
    );
  }

  async function send(to: BatchJobs): Promise<void> {
    while (isDue() && jobs.size < (settings().batch?.inFlight ?? 0) && !shutdown.signal.aborted) {
      const ends = await to.launch([...pending.values()]);
      for (const { keys } of jobs) for (const key of keys) pending.delete(key);
      for (const end of ends) finish(end);
      // Questions of the kind `again` join the next turn.
      if (ends.some(({ kind }) => kind === 'again')) return;
    }
  }

  /** Renews what this process looks after, and takes over what a dead one left. */
  async function takeOver(from: JudgeBatchStore, owner: string): Promise<void> {
    const known = [...jobs].map(({ id }) => id);
    const { held, taken } = await from.take({ judge: settings().name, endpoint, known }, leaseOf(owner, clock));
    renewedMs = clock.nowMs();
    const kept = new Set(held);
    for (const job of jobs) {
      if (kept.has(job.id) || !known.includes(job.id)) continue;
      // This process stood still, and another one has taken the batch.
      jobs.delete(job);
      for (const [key, waiting] of job.waiting) elsewhere.set(key, waiting);
      for (const settle of job.settle.values()) settle('unknown');
    }
    for (const { id, remoteId, preparedAt, questions } of taken) {
      const waiting = new Map<string, Waiting>();
      for (const key of questions) {
        const asked = elsewhere.get(key) ?? pending.get(key);
        if (asked === undefined) continue;
        waiting.set(key, asked);
        elsewhere.delete(key);
        pending.delete(key);
      }
      jobs.add({
        id,
        remoteId,
        preparedMs: preparedAt / 1_000,
        keys: new Set(questions),
        waiting,
        settle: new Map(),
        cancelledMs: undefined,
      });
    }
  }

  /** Questions whose batch has ended elsewhere: answered, or asked in a batch of this process. */
  async function lookElsewhere(from: JudgeBatchStore): Promise<void> {
    if (elsewhere.size === 0) return;
    // Others begin to wait meanwhile.
    const keys = [...elsewhere.keys()];
    const found = await from.find(keys);
    for (const key of keys) {
      const waiting = elsewhere.get(key);
      if (waiting === undefined) continue;
      const state = found.get(key);
      if (state?.kind === 'in_batch') continue;
      elsewhere.delete(key);
      const answer = state === undefined ? undefined : await readAnswer(waiting.question, state.text);
      if (answer === undefined) pending.set(key, { ...waiting, sinceMs: clock.nowMs() });
      else resolve(waiting, { kind: 'answer', answer });
    }
  }

  async function turn(to: BatchJobs): Promise<void> {
    if (store !== undefined && clock.nowMs() - renewedMs >= leaseRenewalMs) await takeOver(store.given, store.owner);
    if (settings().batch === undefined) for (const waiting of pending.values()) finish({ kind: 'direct', waiting, reason: 'switched_off' });
    if (clock.nowMs() - polledMs >= (settings().batch?.pollMs ?? pollDefaultMs)) {
      polledMs = clock.nowMs();
      for (const job of jobs) {
        if (shutdown.signal.aborted) return;
        for (const end of await to.tend(job)) finish(end);
      }
      if (store !== undefined) await lookElsewhere(store.given);
    }
    await send(to);
    if (clock.nowMs() - forgottenMs < forgetEveryMs) return;
    forgottenMs = clock.nowMs();
    await store?.given.forget({ before: Math.floor((clock.nowMs() - answersMs) * 1_000), rows: answersMax });
  }

  /** Sleeps until the next poll or until a batch is due; a full batch wakes it. */
  async function rest(): Promise<void> {
    const { pollMs = pollDefaultMs, gatherMs = pollDefaultMs } = settings().batch ?? {};
    const signal = AbortSignal.any([shutdown.signal, wake.signal]);
    await sleep(Math.min(leaseRenewalMs, pollMs, pending.size === 0 ? pollMs : gatherMs), signal);
    wake = new AbortController();
  }

  async function work(to: BatchJobs): Promise<void> {
    while (!shutdown.signal.aborted) {
      // After `stop`, a closed store is not a fault.
      await turn(to).catch((error: unknown) => (shutdown.signal.aborted ? undefined : onFault(error)));
      report();
      await rest();
    }
  }

  /** A turn may wait for an endpoint for longer than a lease holds. */
  async function keepLeases(): Promise<void> {
    while (!shutdown.signal.aborted) {
      await sleep(leaseRenewalMs, shutdown.signal);
      const isRenewed = clock.nowMs() - renewedMs < leaseRenewalMs;
      if (isRenewed || shutdown.signal.aborted || store === undefined || jobs.size === 0) continue;
      await store.given.renew({ judge: settings().name, endpoint }, leaseOf(store.owner, clock)).catch(onFault);
    }
  }

  async function begin(to: BatchJobs): Promise<void> {
    await Promise.all([work(to), keepLeases()]);
  }

  async function readAnswer(question: Question, text: string): Promise<Answer | undefined> {
    const read = await use(async ({ batches }) => batches.read(question, text));
    if (read === undefined) return undefined;
    count('known');
    return { kind: 'answered', ...read, model };
  }

  /** The answer of an earlier batch, or `in_batch` when a batch that another process looks after has the question. */
  async function known(key: string, question: Question): Promise<Answer | 'in_batch' | undefined> {
    try {
      const state = (await store?.given.find([key]))?.get(key);
      if (state === undefined) return undefined;
      return state.kind === 'in_batch' ? state.kind : await readAnswer(question, state.text);
    } catch (error) {
      onFault(error);
      return undefined;
    }
  }

  function wait(
    { key, question, note, budget }: Pick<Waiting, 'key' | 'question' | 'note' | 'budget'>,
    otherwise: Map<string, Waiting>,
  ): Promise<BatchReply> {
    return new Promise((done) => {
      const job = [...jobs].find(({ keys }) => keys.has(key));
      const place = job?.waiting ?? otherwise;
      const before = place.get(key);
      if (before === undefined) place.set(key, { key, question, note, budget, sinceMs: clock.nowMs(), tries: 0, resolves: [done] });
      else before.resolves.push(done);
      const { requests = Infinity, inFlight = 0 } = settings().batch ?? {};
      // Wakes once per full batch.
      if (pending.size % requests === 0 && jobs.size < inFlight) wake.abort();
      report();
    });
  }

  return {
    async open(given, mayStore, owner, isReload = false) {
      if (!isReload) await given.endOthers({ judge: settings().name, endpoint }, leaseOf(owner, clock));
      await takeOver(given, owner);
      store = { given, owner };
      own = batchJobs({
        ...options,
        store: given,
        owner,
        mayStore: (text) => mayStore(text) && textsOf(parseJson(text) ?? '').every(mayStore),
        jobs,
        endpoint,
      });
      if (settings().batch !== undefined || jobs.size > 0) working ??= begin(own);
    },
    async ask(question, asker) {
      const { id, note, budget, lend = lendNothing } = asker;
      if (shutdown.signal.aborted) return deferred;
      if (settings().batch === undefined || own === undefined) return await direct(question, asker);
      working ??= begin(own);
      const key = createHash('sha256')
        .update(JSON.stringify([id, questionKey(baseUrl, model, question)]))
        .digest('hex');
      const isInProgress = [...jobs].some(({ keys }) => keys.has(key));
      const answer = isInProgress ? undefined : await known(key, question);
      if (answer !== undefined && answer !== 'in_batch') return answer;
      if (shutdown.signal.aborted) return deferred;
      const reply = await lend(() => wait({ key, question, note, budget }, answer === 'in_batch' ? elsewhere : pending));
      return reply.kind === 'answer' ? reply.answer : await reply.ask(() => direct(question, asker));
    },
    async stop() {
      shutdown.abort();
      for (const waiting of [...pending.values(), ...elsewhere.values(), ...[...jobs].flatMap((job) => [...job.waiting.values()])])
        resolve(waiting, { kind: 'answer', answer: deferred });
      await working;
    },
  };
}

function sumOfTokens(one: Tokens, other: Tokens | undefined): Tokens {
  return { input: one.input + (other?.input ?? 0), output: one.output + (other?.output ?? 0) };
}

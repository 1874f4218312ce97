/** One batch: submitted, polled, and collected when it is done. A restart continues from the last step that the store knows. */
import type { Answer, Question } from '../../../evaluators/evaluator.ts';
import type { BatchAnswer, JudgeBatchStore } from '../../model/store/judge-store.ts';
import { leaseOf } from '../../model/store/lease.ts';
import type { Refusal, Settle, BudgetReservation, Tokens, Used } from '../../model/budget.ts';
import type { Clock } from '../../model/clock.ts';
import type { NoteCall } from '../../model/judge-call.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { type BatchStatus, type BatchingJudge, readLines, type LineResult } from './batch-client.ts';
import { endpointOf } from '../client/call-record.ts';
import type { Completion } from '../client/completion.ts';
import type { Lend } from '../../runtime/concurrency-limiter.ts';
import type { JudgeSettings } from '../judge.ts';
import { believed, isBelievable } from '../budget/budgets.ts';

/** The budget of the evaluator that asks, for batched and for direct requests. */
export interface EvaluatorBudget {
  readonly batched: BudgetReservation;
  /** `lend` lends the slot of the question. */
  direct(lend: Lend): BudgetReservation;
}

/** The reply to a waiting question: its answer, or the request to ask it directly. */
export type BatchReply =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'direct'; readonly ask: (direct: () => Promise<Answer>) => Promise<Answer> };

/** A question that waits for its batch. */
export interface Waiting {
  /** Hash of asker and question. */
  readonly key: string;
  readonly question: Question;
  readonly note: NoteCall | undefined;
  readonly budget: EvaluatorBudget | undefined;
  readonly sinceMs: number;
  /** Batches that were to contain the question and were not created. */
  readonly tries: number;
  /** Callers; one more when an asker repeats the question. */
  readonly resolves: ((answer: BatchReply) => void)[];
}

export interface BatchJob {
  readonly id: string;
  remoteId: string | undefined;
  readonly preparedMs: number;
  readonly keys: ReadonlySet<string>;
  /** Questions of the batch that an asker in this process waits for. */
  readonly waiting: Map<string, Waiting>;
  /** Reservations of this process; empty for a batch of an earlier one. */
  readonly settle: ReadonlyMap<string, Settle>;
  cancelledMs: number | undefined;
}

/** Why a question leaves its batch and is asked directly. */
export type DirectReason =
  | 'expired'
  | 'failed'
  | 'lost'
  | 'missing'
  | 'refused'
  | 'unusable'
  | 'unreachable'
  | 'not_taken'
  | 'switched_off';

/** The fate of a waiting question. Under `again` it joins a later batch. */
export type BatchEnd = { readonly waiting: Waiting } & (
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'direct'; readonly reason: DirectReason; readonly tokens?: Tokens }
  | { readonly kind: 'again' }
);

export interface BatchJobDeps {
  readonly settings: () => JudgeSettings;
  readonly use: <Result>(work: (judge: BatchingJudge) => Promise<Result>) => Promise<Result>;
  readonly store: JudgeBatchStore;
  /** Identifies this process among those that share the store. */
  readonly owner: string;
  readonly mayStore: (text: string) => boolean;
  /** The judge's budget for batched requests. */
  readonly reservation: () => BudgetReservation | undefined;
  readonly jobs: Set<BatchJob>;
  readonly newId: () => string;
  /** Hash of endpoint and model. */
  readonly endpoint: string;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

export interface BatchJobs {
  /**
   * Submits the first questions that fit into one batch. Resolves with those that are not in progress. Rejects, before it sends, when the
   * store fails.
   */
  launch(questions: readonly Waiting[]): Promise<readonly BatchEnd[]>;
  /** Polls one job. Rejects when the store fails; the next poll repeats it. */
  tend(job: BatchJob): Promise<readonly BatchEnd[]>;
}

/** A request of a dead process may still arrive within this time. */
const arrivalMs = 60_000;
/** Time for a cancelled batch to report its results, or for an unreachable endpoint to come back. */
const graceMs = 900_000;
/** Longer answers are used but not stored. */
const textCharsMax = 64 * 1024;
/** Failed submissions before a question is asked directly. */
const triesMax = 3;
const withinDefaultMs = 86_400_000;

export function batchJobs({
  settings,
  use,
  store,
  owner,
  mayStore: mayLie,
  reservation,
  jobs,
  newId,
  endpoint,
  telemetry,
  clock,
  onFault,
}: BatchJobDeps): BatchJobs {
  const micros = (): number => Math.floor(clock.nowMs() * 1_000);
  const labels = (outcome: string) => ({ 'tracejury.judge': settings().name, 'tracejury.outcome': outcome });
  const counted = (outcome: string): void => telemetry.add('tracejury.judge.batches', 1, labels(outcome));

  /** Reserves from the evaluator's and the judge's budget. When the store fails, it returns `before` and rejects. */
  async function taken({ budget }: Waiting, most: Tokens, before: ReadonlyMap<string, Settle>): Promise<Settle | Refusal> {
    const settles: Settle[] = [];
    try {
      for (const one of [budget?.batched, reservation()]) {
        const settle = await one?.take(most);
        if (typeof settle === 'function') settles.push(settle);
        else if (settle !== undefined) {
          for (const back of settles) back('unsent');
          return settle;
        }
      }
      return (used) => {
        for (const settle of settles) settle(used);
      };
    } catch (error) {
      for (const back of [...settles, ...before.values()]) back('unsent');
      throw error;
    }
  }

  async function packed(questions: readonly Waiting[]): Promise<{
    readonly chosen: Map<string, Waiting>;
    readonly lines: readonly string[];
    readonly settle: Map<string, Settle>;
    readonly refused: readonly BatchEnd[];
  }> {
    const { requests = 1, bytes: bytesMax = 0 } = settings().batch ?? {};
    const [chosen, settle] = [new Map<string, Waiting>(), new Map<string, Settle>()];
    const [lines, refused]: [string[], BatchEnd[]] = [[], []];
    let bytes = 0;
    for (const waiting of questions) {
      if (lines.length >= requests) break;
      const { text, most } = await use(async ({ batches }) => batches.line(waiting.question, waiting.key));
      bytes += Buffer.byteLength(text) + 1;
      if (bytes > bytesMax && lines.length > 0) break;
      const granted = await taken(waiting, most, settle);
      if (typeof granted !== 'function') refused.push({ kind: 'answer', waiting, answer: { kind: 'failed', error: granted.refused } });
      else {
        chosen.set(waiting.key, waiting);
        settle.set(waiting.key, (used) => granted(typeof used === 'object' && !isBelievable(used, most, false) ? 'unknown' : used));
        lines.push(text);
      }
    }
    return { chosen, lines, settle, refused };
  }

  /** Gives the batch up: its questions are asked directly or join a later batch. */
  async function abandoned(job: BatchJob, reason: DirectReason): Promise<readonly BatchEnd[]> {
    await store.end(job.id, [], micros());
    jobs.delete(job);
    for (const settle of job.settle.values()) settle(unworked.has(reason) ? 'unsent' : 'unknown');
    return [...job.waiting.values()].map((waiting): BatchEnd =>
      waiting.tries + 1 >= triesMax || reason !== 'not_taken'
        ? { kind: 'direct', waiting, reason }
        : { kind: 'again', waiting: { ...waiting, tries: waiting.tries + 1 } },
    );
  }

  async function found(job: BatchJob): Promise<readonly BatchEnd[]> {
    const there = await use(({ batches }) => batches.api.find(job.id));
    if (there.kind === 'found') {
      counted('adopted');
      job.remoteId = there.remoteId;
      await store.submitted(job.id, there.remoteId);
      return [];
    }
    const ageMs = clock.nowMs() - job.preparedMs;
    const isAbsent = there.kind === 'absent' || there.kind === 'refused';
    if (!isAbsent || ageMs < arrivalMs) return ageMs > graceMs ? await abandoned(job, 'unreachable') : [];
    counted('not_taken');
    return await abandoned(job, 'not_taken');
  }

  /** `undefined` when a file cannot be read yet. */
  async function downloaded(status: BatchStatus, isLate: boolean): Promise<readonly string[] | undefined> {
    const texts: string[] = [];
    for (const file of status.files) {
      const reply = await use(({ batches }) => batches.api.read(file));
      if (reply.kind === 'read') texts.push(reply.text);
      else if (reply.kind === 'busy' && !isLate) return undefined;
      else counted('unreadable');
    }
    return texts;
  }

  async function collected(job: BatchJob, status: BatchStatus, isLate: boolean): Promise<readonly BatchEnd[]> {
    const texts = await downloaded(status, isLate);
    if (texts === undefined) return [];
    const { results, faults } = readLines(texts, job.keys);
    for (const [fault, lines] of faults) telemetry.add('tracejury.judge.batch.lines', lines, labels(fault));
    const answers = [...results].flatMap(([question, result]): readonly BatchAnswer[] => {
      const text = textOf(result);
      return text === undefined || text.length > textCharsMax || !mayLie(text) ? [] : [{ question, text }];
    });
    await store.end(job.id, answers, micros());
    jobs.delete(job);
    counted(status.state === 'ended' ? 'done' : status.state);
    for (const [key, settle] of job.settle) settle(usedBy(results.get(key), status));
    const ends = await Promise.all([...job.waiting.values()].map((waiting) => endOf(job, waiting, results.get(waiting.key), status)));
    void use(({ batches }) => batches.api.remove([...status.input, ...status.files]));
    return ends;
  }

  async function endOf(job: BatchJob, waiting: Waiting, result: LineResult | undefined, status: BatchStatus): Promise<BatchEnd> {
    if (result?.kind !== 'completion')
      return {
        kind: 'direct',
        waiting,
        reason: result?.kind ?? (status.state === 'ended' ? 'missing' : status.state === 'failed' ? 'failed' : 'expired'),
      };
    const most = await use(async ({ batches }) => batches.most(waiting.question));
    const completion = believed(result.completion, most, () =>
      telemetry.add('tracejury.judge.usage.disbelieved', 1, { 'tracejury.judge': settings().name }),
    );
    noted(job, waiting, completion);
    const tokens = tokensOf(completion);
    const text = completion.kind === 'text' ? completion.text : undefined;
    const read = text === undefined ? undefined : await use(async ({ batches }) => batches.read(waiting.question, text));
    const used = tokens === undefined ? {} : { tokens };
    if (read === undefined) return { kind: 'direct', waiting, reason: 'unusable', ...used };
    return { kind: 'answer', waiting, answer: { kind: 'answered', ...read, model: settings().model, batched: true, ...used } };
  }

  function noted({ preparedMs, remoteId }: BatchJob, { question, note }: Waiting, completion: Completion): void {
    const { name, baseUrl, model } = settings();
    const tokens = tokensOf(completion);
    note?.({
      judge: name,
      operation: 'chat',
      ...endpointOf(baseUrl),
      model,
      question: question.id,
      startMs: preparedMs,
      endMs: clock.nowMs(),
      retries: [],
      ...(remoteId === undefined ? {} : { batch: remoteId }),
      ...(completion.response === undefined ? {} : { response: completion.response }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(completion.kind === 'text' ? {} : { error: completion.error }),
    });
  }

  return {
    async launch(questions) {
      const { chosen, lines, settle, refused } = await packed(questions);
      if (chosen.size === 0) return refused;
      const job: BatchJob = {
        id: newId(),
        remoteId: undefined,
        preparedMs: clock.nowMs(),
        keys: new Set(chosen.keys()),
        waiting: chosen,
        settle,
        cancelledMs: undefined,
      };
      try {
        await store.prepare(
          { id: job.id, judge: settings().name, endpoint, preparedAt: micros(), questions: [...job.keys] },
          leaseOf(owner, clock),
        );
      } catch (error) {
        for (const one of settle.values()) one('unsent');
        throw error;
      }
      jobs.add(job);
      const reply = await use(({ batches }) => batches.api.submit(job.id, lines));
      if (reply.kind === 'submitted') {
        counted('created');
        job.remoteId = reply.remoteId;
        // Without this note, the next process searches for the batch by our id.
        await store.submitted(job.id, reply.remoteId).catch(onFault);
        return refused;
      }
      // The batch may exist: the next poll searches for it.
      if (reply.kind !== 'refused' && reply.mayCost === true) return refused;
      counted('not_taken');
      return [...refused, ...(await abandoned(job, reply.kind === 'busy' ? 'not_taken' : 'refused'))];
    },
    async tend(job) {
      const { remoteId } = job;
      if (remoteId === undefined) return await found(job);
      const status = await use(({ batches }) => batches.api.status(remoteId));
      if (status.kind === 'gone') {
        counted('lost');
        return await abandoned(job, 'lost');
      }
      const ageMs = clock.nowMs() - job.preparedMs;
      const { withinMs = withinDefaultMs } = settings().batch ?? {};
      const isLate = ageMs > withinMs + graceMs;
      if (status.kind === 'batch' && status.state !== 'working') return await collected(job, status, isLate);
      if (status.kind === 'batch' && ageMs > withinMs && job.cancelledMs === undefined) {
        job.cancelledMs = clock.nowMs();
        await use(({ batches }) => batches.api.cancel(remoteId));
      }
      if (!isLate) return [];
      counted(status.kind === 'batch' ? 'expired' : 'lost');
      return await abandoned(job, status.kind === 'batch' ? 'expired' : 'unreachable');
    },
  };
}

/** Reasons that mean no model worked on the questions. */
const unworked: ReadonlySet<DirectReason> = new Set(['not_taken', 'refused', 'failed']);

function textOf(result: LineResult): string | undefined {
  return result.kind === 'completion' && result.completion.kind === 'text' ? result.completion.text : undefined;
}

function tokensOf(completion: Completion): Tokens | undefined {
  return 'tokens' in completion ? completion.tokens : undefined;
}

/** A refused question costs nothing, and an expired one never reached a model. A missing one may have cost the most. */
function usedBy(result: LineResult | undefined, { state }: BatchStatus): Used {
  if (result?.kind === 'completion') return tokensOf(result.completion) ?? 'unknown';
  if (result?.kind === 'refused') return 'nothing';
  return result?.kind === 'expired' || state !== 'ended' ? 'unsent' : 'unknown';
}

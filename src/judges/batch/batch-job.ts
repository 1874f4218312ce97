/** One batch on its way: sent up, looked after, and taken down when it is done. Which of its steps are known in the store is what a restart goes on from. */
import type { Answer, Question } from '../../../evaluators/evaluator.ts';
import type { BatchAnswer, JudgeBatchStore } from '../../model/store/judge-store.ts';
import type { Refusal, Settle, BudgetReservation, Tokens, Used } from '../../model/budget.ts';
import type { Clock } from '../../model/clock.ts';
import type { NoteCall } from '../../model/judge-call.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { type BatchStatus, type BatchingJudge, readLines, type LineResult } from './batch-client.ts';
import { endpointOf } from '../client/call-record.ts';
import type { Completion } from '../client/completion.ts';
import type { Lend } from '../../runtime/concurrency-limiter.ts';
import type { JudgeSettings } from '../settings.ts';
import { believed, isBelievable } from '../budget/budget-reservation.ts';

/** The budget of the evaluator that asks, as it pays for what goes in a batch, and for what goes by itself. */
export interface EvaluatorBudget {
  readonly batched: BudgetReservation;
  /** `lend` has the slot of the question. */
  direct(lend: Lend): BudgetReservation;
}

/** What one who waits for a batch gets: an answer, or word that it is to ask by itself. */
export type BatchReply =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'direct'; readonly ask: (direct: () => Promise<Answer>) => Promise<Answer> };

/** Somebody who waits for an answer. */
export interface Waiting {
  /** Hash of who asks, and what. */
  readonly key: string;
  readonly question: Question;
  readonly note: NoteCall | undefined;
  readonly budget: EvaluatorBudget | undefined;
  readonly sinceMs: number;
  /** Times that it was to go up and did not. */
  readonly tries: number;
  /** Grows when the same one asks the same again. */
  readonly resolves: ((answer: BatchReply) => void)[];
}

export interface Flight {
  readonly id: string;
  remoteId: string | undefined;
  readonly preparedMs: number;
  readonly keys: ReadonlySet<string>;
  /** Of its questions, those that somebody in this process waits for. */
  readonly waiting: Map<string, Waiting>;
  /** What was reserved for them; of a batch of an earlier process nothing is. */
  readonly settle: ReadonlyMap<string, Settle>;
  cancelledMs: number | undefined;
}

/** Why a question of a batch is asked by itself after all. */
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

/** What became of one who waited. `again`: in a later batch. */
export type BatchEnd = { readonly waiting: Waiting } & (
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'direct'; readonly reason: DirectReason; readonly tokens?: Tokens }
  | { readonly kind: 'again' }
);

export interface BatchJobDeps {
  readonly settings: () => JudgeSettings;
  readonly use: <Result>(work: (judge: BatchingJudge) => Promise<Result>) => Promise<Result>;
  readonly store: JudgeBatchStore;
  readonly mayLie: (text: string) => boolean;
  /** The judge's, as it pays for what goes in a batch. */
  readonly till: () => BudgetReservation | undefined;
  readonly flights: Set<Flight>;
  readonly newId: () => string;
  /** Of the judge's endpoint and model. */
  readonly endpoint: string;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

export interface Flights {
  /** Sends up what fits into one batch, the first ones; gives what is not under way after it. Rejects when the store cannot be used: then nothing was sent. */
  launch(questions: readonly Waiting[]): Promise<readonly BatchEnd[]>;
  /** Looks after one of them. Rejects when the store cannot be used: then it is looked after again. */
  tend(flight: Flight): Promise<readonly BatchEnd[]>;
}

/** A request of a process that died may still arrive. */
const arrivalMs = 60_000;
/** How long a cancelled batch may take to tell what it has done, or an endpoint to be there again. */
const patienceMs = 900_000;
/** Longer answers are not kept, only used. */
const textCharsMax = 64 * 1024;
/** Times that a question goes up in vain before it is asked by itself. */
const triesMax = 3;
const withinDefaultMs = 86_400_000;

export function batchFlights({
  settings,
  use,
  store,
  mayLie,
  till,
  flights,
  newId,
  endpoint,
  telemetry,
  clock,
  onFault,
}: BatchJobDeps): Flights {
  const micros = (): number => Math.floor(clock.nowMs() * 1_000);
  const labels = (outcome: string) => ({ 'tracejury.judge': settings().name, 'tracejury.outcome': outcome });
  const counted = (outcome: string): void => telemetry.add('tracejury.judge.batches', 1, labels(outcome));

  /** Of the evaluator and of the judge. Rejects when the store cannot say so, and gives back what was taken before. */
  async function taken({ budget }: Waiting, most: Tokens, before: ReadonlyMap<string, Settle>): Promise<Settle | Refusal> {
    const settles: Settle[] = [];
    try {
      for (const one of [budget?.batched, till()]) {
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

  /** There is nothing to be had from it. */
  async function abandoned(flight: Flight, reason: DirectReason): Promise<readonly BatchEnd[]> {
    await store.end(flight.id, [], micros());
    flights.delete(flight);
    for (const settle of flight.settle.values()) settle(unworked.has(reason) ? 'unsent' : 'unknown');
    return [...flight.waiting.values()].map((waiting): BatchEnd =>
      waiting.tries + 1 >= triesMax || reason !== 'not_taken'
        ? { kind: 'direct', waiting, reason }
        : { kind: 'again', waiting: { ...waiting, tries: waiting.tries + 1 } },
    );
  }

  async function found(flight: Flight): Promise<readonly BatchEnd[]> {
    const there = await use(({ batches }) => batches.api.find(flight.id));
    if (there.kind === 'found') {
      counted('adopted');
      flight.remoteId = there.remoteId;
      await store.submitted(flight.id, there.remoteId);
      return [];
    }
    const ageMs = clock.nowMs() - flight.preparedMs;
    const isAbsent = there.kind === 'absent' || there.kind === 'refused';
    if (!isAbsent || ageMs < arrivalMs) return ageMs > patienceMs ? await abandoned(flight, 'unreachable') : [];
    counted('not_taken');
    return await abandoned(flight, 'not_taken');
  }

  /** Undefined: not yet. */
  async function downloaded(look: BatchStatus, isLate: boolean): Promise<readonly string[] | undefined> {
    const texts: string[] = [];
    for (const file of look.files) {
      const reply = await use(({ batches }) => batches.api.read(file));
      if (reply.kind === 'read') texts.push(reply.text);
      else if (reply.kind === 'busy' && !isLate) return undefined;
      else counted('unreadable');
    }
    return texts;
  }

  async function collected(flight: Flight, look: BatchStatus, isLate: boolean): Promise<readonly BatchEnd[]> {
    const texts = await downloaded(look, isLate);
    if (texts === undefined) return [];
    const { results, faults } = readLines(texts, flight.keys);
    for (const [fault, lines] of faults) telemetry.add('tracejury.judge.batch.lines', lines, labels(fault));
    const answers = [...results].flatMap(([question, result]): readonly BatchAnswer[] => {
      const text = textOf(result);
      return text === undefined || text.length > textCharsMax || !mayLie(text) ? [] : [{ question, text }];
    });
    await store.end(flight.id, answers, micros());
    flights.delete(flight);
    counted(look.state === 'ended' ? 'done' : look.state);
    for (const [key, settle] of flight.settle) settle(usedBy(results.get(key), look));
    const ends = await Promise.all([...flight.waiting.values()].map((waiting) => endOf(flight, waiting, results.get(waiting.key), look)));
    void use(({ batches }) => batches.api.remove([...look.input, ...look.files]));
    return ends;
  }

  async function endOf(flight: Flight, waiting: Waiting, result: LineResult | undefined, look: BatchStatus): Promise<BatchEnd> {
    if (result?.kind !== 'completion')
      return {
        kind: 'direct',
        waiting,
        reason: result?.kind ?? (look.state === 'ended' ? 'missing' : look.state === 'failed' ? 'failed' : 'expired'),
      };
    const most = await use(async ({ batches }) => batches.most(waiting.question));
    const completion = believed(result.completion, most, () =>
      telemetry.add('tracejury.judge.usage.disbelieved', 1, { 'tracejury.judge': settings().name }),
    );
    noted(flight, waiting, completion);
    const tokens = tokensOf(completion);
    const text = completion.kind === 'text' ? completion.text : undefined;
    const read = text === undefined ? undefined : await use(async ({ batches }) => batches.read(waiting.question, text));
    const used = tokens === undefined ? {} : { tokens };
    if (read === undefined) return { kind: 'direct', waiting, reason: 'unusable', ...used };
    return { kind: 'answer', waiting, answer: { kind: 'answered', ...read, model: settings().model, batched: true, ...used } };
  }

  function noted({ preparedMs, remoteId }: Flight, { question, note }: Waiting, completion: Completion): void {
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
      const flight: Flight = {
        id: newId(),
        remoteId: undefined,
        preparedMs: clock.nowMs(),
        keys: new Set(chosen.keys()),
        waiting: chosen,
        settle,
        cancelledMs: undefined,
      };
      try {
        await store.prepare({ id: flight.id, judge: settings().name, endpoint, preparedAt: micros(), questions: [...flight.keys] });
      } catch (error) {
        for (const one of settle.values()) one('unsent');
        throw error;
      }
      flights.add(flight);
      const reply = await use(({ batches }) => batches.api.submit(flight.id, lines));
      if (reply.kind === 'submitted') {
        counted('created');
        flight.remoteId = reply.remoteId;
        // Elsewise the next process looks for it by our id.
        await store.submitted(flight.id, reply.remoteId).catch(onFault);
        return refused;
      }
      // Perhaps it was created: it is looked for.
      if (reply.kind !== 'refused' && reply.mayCost === true) return refused;
      counted('not_taken');
      return [...refused, ...(await abandoned(flight, reply.kind === 'busy' ? 'not_taken' : 'refused'))];
    },
    async tend(flight) {
      const { remoteId } = flight;
      if (remoteId === undefined) return await found(flight);
      const look = await use(({ batches }) => batches.api.look(remoteId));
      if (look.kind === 'gone') {
        counted('lost');
        return await abandoned(flight, 'lost');
      }
      const ageMs = clock.nowMs() - flight.preparedMs;
      const { withinMs = withinDefaultMs } = settings().batch ?? {};
      const isLate = ageMs > withinMs + patienceMs;
      if (look.kind === 'batch' && look.state !== 'working') return await collected(flight, look, isLate);
      if (look.kind === 'batch' && ageMs > withinMs && flight.cancelledMs === undefined) {
        flight.cancelledMs = clock.nowMs();
        await use(({ batches }) => batches.api.cancel(remoteId));
      }
      if (!isLate) return [];
      counted(look.kind === 'batch' ? 'expired' : 'lost');
      return await abandoned(flight, look.kind === 'batch' ? 'expired' : 'unreachable');
    },
  };
}

/** Nobody has worked on it, or will. */
const unworked: ReadonlySet<DirectReason> = new Set(['not_taken', 'refused', 'failed']);

function textOf(result: LineResult): string | undefined {
  return result.kind === 'completion' && result.completion.kind === 'text' ? result.completion.text : undefined;
}

function tokensOf(completion: Completion): Tokens | undefined {
  return 'tokens' in completion ? completion.tokens : undefined;
}

/** What was refused costs nothing, and what was not reached never went to a model; of what is missing nobody knows. */
function usedBy(result: LineResult | undefined, { state }: BatchStatus): Used {
  if (result?.kind === 'completion') return tokensOf(result.completion) ?? 'unknown';
  if (result?.kind === 'refused') return 'nothing';
  return result?.kind === 'expired' || state !== 'ended' ? 'unsent' : 'unknown';
}

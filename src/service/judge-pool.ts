/**
 * The configured judges and the endpoints of evaluators behind their lane; the command line asks them in the same way. A judge whose model
 * or endpoint changes is another judge: what waits is asked of the one that was configured when its run closed. Any other change, of a key
 * or a pace, holds for what waits as well.
 */
import { randomBytes } from 'node:crypto';
import type { ConfiguredHttp } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { Answer, Asking, Question as Asked } from '../../evaluators/evaluator.ts';
import type { JudgeConfig } from '../config/config.ts';
import { answerCache } from '../judges/client/answer-cache.ts';
import type { EvaluatorBudget } from '../judges/batch/batch-job.ts';
import { batchPlaces, batchRoom, type BatchRoom } from '../judges/batch/batch-queue.ts';
import type { BatchingJudge } from '../judges/batch/batch-client.ts';
import { guard, type Guard } from '../judges/queue/judge-circuit-breaker.ts';
import { endpointQueueKey, httpCalls } from '../judges/client/http-calls.ts';
import { judges } from '../judges/index.ts';
import { juryEnd } from '../judges/queue/jury.ts';
import { judgeExecutor, type JudgeJob, type JudgeExecutor, type QueueKey } from '../judges/queue/executor.ts';
import { ledger } from '../judges/budget/ledger.ts';
import type { JudgeDeps } from '../judges/settings.ts';
import type { Run } from '../model/agent-trace.ts';
import type { BudgetReservation } from '../model/budget.ts';
import type { NoteCall } from '../model/judge-call.ts';
import type { JudgeBatchStore } from '../model/store/judge-store.ts';
import { jsonText, type JsonValue } from '../model/json.ts';
import { runTargetId, type Verdict } from '../model/verdict.ts';
import { askOf, type Ask, type AskEnd } from '../pipeline/jury/judge-driver.ts';
import type { Pace, ToJudge } from '../pipeline/evaluation/evaluate.ts';
import { judgesOf, panelModel, type Panel } from '../pipeline/jury/jury-panel.ts';
import { memorySpend } from '../judges/budget/memory-spend.ts';
import type { Store } from '../model/store/store.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { exchangeable, type Exchangeable } from './hot-swap.ts';
import { judgeBudgets, type BudgetStatus, type Planned } from './judge-budgets.ts';
import { judgeOfQueueKey, type Payer } from './queue-keys.ts';
import { clock, sleep } from './node-runtime.ts';

export interface JudgePool {
  readonly lane: JudgeExecutor;
  readonly ask: (run: Run, work: ToJudge, done: (end: AskEnd) => void) => void;
  /** The same of one judge, past what was answered before: nothing of it is looked up, and nothing kept. */
  readonly askAnew: JudgePool['ask'];
  /** Makes ready for other judges; what it gives back puts them in place, and does not fail. */
  readonly prepare: (configs: readonly JudgeConfig[]) => () => void;
  readonly pace: Pace;
  /** How the limits of the day stand, of every judge and of these evaluators. */
  readonly budgets: (plan: readonly Planned[]) => readonly BudgetStatus[];
  /** Runs that the judge of a line works on at the same time; an evaluator with a budget of its own has as many places again. */
  readonly places: (party: string) => number;
  /** How much longer than for others runs may wait for a judge: for its batches. */
  readonly moreMs: (judge: string) => number;
  /** Keeps budgets and answers in a store from now on, but no answer with a text that may not lie there. Rejects when it cannot be read. */
  readonly open: (store: Pick<Store, 'judgeSpend' | 'judgeAnswers' | 'judgeBatches'>, mayLie: (text: string) => boolean) => Promise<void>;
  /** Lets go of what waits for batches: it goes on waiting in the store. */
  readonly leaveBatches: () => void;
  /** Notes in the store what was spent. Rejects when it cannot be written. */
  readonly settle: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Judges that are no longer configured and still have runs before them; beyond it the first of them is stopped, and its questions fail. */
const leavingMax = 16;

/** Of a judge that is not configured any more: what waits for it is told so. */
const placesOfNobody = 8;

/** As a judge is asked it. */
interface Question {
  /** Of one run and evaluator. */
  readonly asker: string;
  /** Nobody's memory answers it, and no batch. */
  readonly isAnew: boolean;
  readonly work: Pick<ToJudge, 'configured' | 'budget'>;
  readonly asked: Pick<JudgeJob, 'name' | 'agent' | 'threshold'> & { readonly questions: () => Asking<Verdict> };
}

/** One run and evaluator, and what that may spend. */
interface Asker {
  readonly asker: string;
  readonly purse: EvaluatorBudget | undefined;
  /** Nobody's memory answers it, and no batch. */
  readonly isAnew: boolean;
}

interface Seat {
  config: JudgeConfig;
  readonly party: QueueKey;
  readonly client: Exchangeable<BatchingJudge>;
  readonly guard: Guard;
  readonly room: BatchRoom;
  readonly answer: (asker: Asker) => Ask;
  /** Runs that wait or are worked on. */
  jobs: number;
}

export interface JudgePoolOptions {
  /** Told of a store that cannot be used. */
  readonly onFault?: (error: unknown) => void;
  readonly onNoConnection?: JudgeDeps['onNoConnection'];
  /** Questions of what waits in the store, at the cost of a judge or of an evaluator. */
  readonly waiting?: (payer: Payer) => number;
}

export function judgePool(
  configs: readonly JudgeConfig[],
  telemetry: Telemetry,
  { onFault = () => undefined, onNoConnection = () => undefined, waiting = () => 0 }: JudgePoolOptions = {},
): JudgePool {
  const context = evaluationContext();
  const parts = { telemetry, clock, sleep, random: Math.random };
  const endpoints = httpCalls(parts);
  const lane = judgeExecutor({ telemetry, sleep });
  const answers = answerCache({ telemetry, clock });
  const books = ledger({ store: memorySpend(), telemetry, clock, sleep, owner: randomBytes(12).toString('hex'), waiting, onFault });
  const ended = new AbortController();
  const leaving = new Set<Seat>();
  let seats: ReadonlyMap<string, Seat> = new Map();
  const budgets = judgeBudgets(books, () => seats);
  let opened = 0;
  let kept: { readonly store: JudgeBatchStore; readonly mayLie: (text: string) => boolean } | undefined;

  function judgeOf(config: JudgeConfig): BatchingJudge {
    const till = budgets.till(config);
    return judges.openai_compatible(config, {
      ...parts,
      onNoConnection,
      ...(till === undefined ? {} : { till }),
      nonce: () => randomBytes(12).toString('hex'),
    });
  }

  function seatOf(config: JudgeConfig): Seat {
    const client = exchangeable(judgeOf(config));
    const watch = guard({ name: config.name, ...parts, signal: ended.signal });
    const direct = (question: Asked, note: NoteCall | undefined, purse: BudgetReservation | undefined): Promise<Answer> =>
      watch.through(() => client.use((judge) => judge.ask(question, note, purse)));
    const room = batchRoom({
      ...parts,
      judge: config,
      settings: () => seat.config,
      use: client.use,
      direct,
      till: () => budgets.batchTill(seat.config),
      newId: () => randomBytes(16).toString('hex'),
      onFault,
    });
    const answer = ({ asker, purse, isAnew }: Asker): Ask =>
      askOf({
        ask: (question, note) =>
          isAnew
            ? direct(question, note, purse?.direct)
            : answers.through(seat.config, question, () => room.ask(asker, question, note, purse)),
        embed: (request, note) => watch.through(() => client.use((judge) => judge.embed(request, note, purse?.direct))),
      });
    const seat: Seat = {
      config,
      client,
      room,
      answer,
      guard: watch,
      jobs: 0,
      // No judge is named so: their names have no colon. Two judges that had one name after the other do not share places.
      party: {
        name: `judge:${++opened}`,
        judge: config.name,
        model: config.model,
        answer: answer({ asker: '', purse: undefined, isAnew: false }),
        get price() {
          return seat.config.price;
        },
        get batchPrice() {
          return seat.config.batch?.price;
        },
        get concurrency() {
          return workedOn(seat.config);
        },
      },
    };
    return seat;
  }

  /** Who is in the place of a judge from now on: the same, the same with another client, or another judge. */
  function seated(config: JudgeConfig): { readonly seat: Seat; readonly take: () => void } {
    const before = seats.get(config.name);
    if (before === undefined || before.config.baseUrl !== config.baseUrl || before.config.model !== config.model) {
      const seat = seatOf(config);
      return { seat, take: () => void (kept === undefined ? undefined : seat.room.open(kept.store, kept.mayLie).catch(onFault)) };
    }
    if (isSame(before.config, config)) return { seat: before, take: () => undefined };
    const next = judgeOf(config);
    return {
      seat: before,
      take() {
        before.config = config;
        before.client.exchange(next);
        before.guard.forget();
      },
    };
  }

  function prepare(next: readonly JudgeConfig[]): () => void {
    const ready = next.map((config) => ({ name: config.name, ...seated(config) }));
    return () => {
      const staying = new Set(ready.map(({ seat }) => seat));
      for (const seat of seats.values()) if (!staying.has(seat)) leave(seat);
      for (const { take } of ready) take();
      seats = new Map(ready.map(({ name, seat }) => [name, seat]));
    };
  }

  function leave(seat: Seat): void {
    leaving.add(seat);
    release(seat);
    const [first] = leaving;
    if (leaving.size <= leavingMax || first === undefined) return;
    leaving.delete(first);
    end(first);
  }

  function release(seat: Seat): void {
    if (seat.jobs === 0 && leaving.delete(seat)) end(seat);
  }

  function end({ client, room }: Seat): void {
    void client.stop();
    void room.stop();
  }

  function partyOf({ name: evaluator, concurrency, tls }: ConfiguredHttp): QueueKey {
    const name = endpointQueueKey(evaluator);
    return { name, concurrency, answer: askOf({}, async (request) => await endpoints.call(name, request, tls)) };
  }

  function askOne(seat: Seat | undefined, { asker, work, asked, isAnew }: Question, done: (end: AskEnd) => void): void {
    if (seat === undefined) return done({ kind: 'overload', reason: 'no_such_judge' });
    seat.jobs++;
    const ended = (end: AskEnd): void => {
      seat.jobs--;
      release(seat);
      done(end);
    };
    const purse = budgets.purse(work, seat.config);
    // In places of its own: what waits for its own budget is in nobody's way.
    const party = purse === undefined ? seat.party : { ...seat.party, name: `${seat.party.name} ${asked.name}` };
    lane.offer({ ...asked, party, answer: seat.answer({ asker, purse, isAnew }), done: ended });
  }

  /** All that may be asked stay until it is over, although the configuration changes meanwhile. */
  async function juryOf(panel: Panel, { asked, ...question }: Question): Promise<AskEnd> {
    const own = new Map(
      judgesOf(panel).flatMap((name) => {
        const seat = seats.get(name);
        return seat === undefined ? [] : [[name, seat] as const];
      }),
    );
    for (const seat of own.values()) seat.jobs++;
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
    for (const seat of own.values()) {
      seat.jobs--;
      release(seat);
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
          threshold: configured.threshold,
          questions: () => configured.judge(run.trace, expected, context, run),
        },
      };
      if (configured.kind === 'http') lane.offer({ ...question.asked, party: partyOf(configured), done });
      else if (panel === undefined) askOne(seats.get(judge ?? ''), question, done);
      else void juryOf(panel, question).then(done);
    };

  prepare(configs)();
  return {
    lane,
    prepare,
    ask: asking(false),
    askAnew: asking(true),
    pace: budgets.pace,
    budgets: budgets.standing,
    places(party) {
      const seat = seats.get(judgeOfQueueKey(party));
      // One that waits for a batch takes no place before it: so many are taken out of the store as there is room for in batches.
      return seat === undefined
        ? placesOfNobody
        : seat.guard.places(seat.config.batch === undefined ? seat.config.concurrency : Math.ceil(workedOn(seat.config) / 2));
    },
    moreMs: (judge) => seats.get(judge)?.config.batch?.withinMs ?? 0,
    async open({ judgeSpend, judgeAnswers, judgeBatches }, mayLie) {
      answers.open(judgeAnswers, mayLie);
      await books.open(judgeSpend);
      kept = { store: judgeBatches, mayLie };
      for (const { room } of seats.values()) await room.open(judgeBatches, mayLie);
    },
    leaveBatches() {
      for (const { room } of [...seats.values(), ...leaving]) void room.stop();
    },
    settle: books.close,
    async stop() {
      ended.abort();
      await Promise.all([endpoints.stop(), ...[...seats.values(), ...leaving].flatMap(({ client, room }) => [client.stop(), room.stop()])]);
    },
  };
}

/** Runs that wait for a batch, or questions that are asked at the same time. */
function workedOn({ concurrency, batch }: JudgeConfig): number {
  return batch === undefined ? concurrency : Math.max(concurrency, batchPlaces(batch));
}

function isSame(one: JudgeConfig, other: JudgeConfig): boolean {
  const text = (config: JudgeConfig): string => jsonText(config as unknown as JsonValue, { sortKeys: true });
  return text(one) === text(other);
}

/**
 * The configured judges and the endpoints of evaluators behind their lane; the command line asks them in the same way. A judge whose model
 * or endpoint changes is another judge: what waits is asked of the one that was configured when its run closed. Any other change, of a key
 * or a pace, holds for what waits as well.
 */
import { randomBytes } from 'node:crypto';
import type { ConfiguredHttp } from '../../evaluators/configured.ts';
import { evaluationContext } from '../../evaluators/context.ts';
import type { Asking } from '../../evaluators/evaluator.ts';
import type { JudgeConfig } from '../config/config.ts';
import { answerCache } from '../judges/answer-cache.ts';
import { guard, type Guard } from '../judges/guard.ts';
import { endpointParty, httpCalls } from '../judges/http-calls.ts';
import { judges } from '../judges/index.ts';
import type { Judge } from '../judges/judge.ts';
import { juryEnd } from '../judges/jury.ts';
import { judgeLane, type JudgeJob, type JudgeLane, type Party } from '../judges/lane.ts';
import { ledger } from '../judges/ledger.ts';
import { jsonText, type JsonValue } from '../model/json.ts';
import type { Run } from '../model/agent-trace.ts';
import type { Verdict } from '../model/verdict.ts';
import { askOf } from '../pipeline/ask.ts';
import type { ToJudge } from '../pipeline/evaluate.ts';
import { judgesOf, panelModel, type Panel } from '../pipeline/panel.ts';
import type { AskEnd } from '../pipeline/pipeline.ts';
import { memorySpend } from '../stores/memory-judges.ts';
import type { Store } from '../stores/store.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { exchangeable, type Exchangeable } from './exchangeable.ts';
import { clock, sleep } from './machine.ts';

export interface JudgeBench {
  readonly lane: JudgeLane;
  readonly ask: (run: Run, work: ToJudge, done: (end: AskEnd) => void) => void;
  /** Makes ready for other judges; what it gives back puts them in place, and does not fail. */
  readonly prepare: (configs: readonly JudgeConfig[]) => () => void;
  /** What the budget of a judge leaves of sample rates, 0..1. */
  readonly pace: (judge: string) => number;
  /** Runs that a judge works on at the same time. */
  readonly places: (judge: string) => number;
  /** Keeps budgets and answers in a store from now on, but no answer with a text that may not lie there. Rejects when it cannot be read. */
  readonly open: (store: Pick<Store, 'judgeSpend' | 'judgeAnswers'>, mayLie: (text: string) => boolean) => Promise<void>;
  /** Notes in the store what was spent. Rejects when it cannot be written. */
  readonly settle: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Judges that are no longer configured and still have runs before them; beyond it the first of them is stopped, and its questions fail. */
const leavingMax = 16;

/** Of a judge that is not configured any more: what waits for it is told so. */
const placesOfNobody = 8;

/** As a judge is asked it. */
type Question = Pick<JudgeJob, 'name' | 'agent' | 'threshold'> & { readonly questions: () => Asking<Verdict> };

interface Seat {
  config: JudgeConfig;
  readonly party: Party;
  readonly client: Exchangeable<Judge>;
  readonly guard: Guard;
  /** Runs that wait or are worked on. */
  jobs: number;
}

export function judgeBench(configs: readonly JudgeConfig[], telemetry: Telemetry): JudgeBench {
  const context = evaluationContext();
  const parts = { telemetry, clock, sleep, random: Math.random };
  const endpoints = httpCalls(parts);
  const lane = judgeLane({ telemetry, sleep });
  const answers = answerCache({ telemetry, clock });
  const books = ledger({ store: memorySpend(), telemetry, clock });
  const ended = new AbortController();
  const leaving = new Set<Seat>();
  let seats: ReadonlyMap<string, Seat> = new Map();
  let opened = 0;

  function judgeOf(config: JudgeConfig): Judge {
    const { name, usdPerDay, price } = config;
    const till = usdPerDay === undefined || price === undefined ? {} : { till: books.till({ name, usdPerDay, price }) };
    return judges.openai_compatible(config, { ...parts, ...till, nonce: () => randomBytes(12).toString('hex') });
  }

  function seatOf(config: JudgeConfig): Seat {
    const client = exchangeable(judgeOf(config));
    const watch = guard({ name: config.name, ...parts, signal: ended.signal });
    const answer = askOf({
      ask: (question, note) => answers.through(seat.config, question, () => watch.through(() => client.use((judge) => judge.ask(question, note)))),
      embed: (request, note) => watch.through(() => client.use((judge) => judge.embed(request, note))),
    });
    const seat: Seat = {
      config,
      client,
      guard: watch,
      jobs: 0,
      // No judge is named so: their names have no colon. Two judges that had one name after the other do not share places.
      party: { name: `judge:${++opened}`, judge: config.name, model: config.model, answer, get price() { return seat.config.price; }, get concurrency() { return seat.config.concurrency; } },
    };
    return seat;
  }

  /** Who is in the place of a judge from now on: the same, the same with another client, or another judge. */
  function seated(config: JudgeConfig): { readonly seat: Seat; readonly take: () => void } {
    const before = seats.get(config.name);
    if (before === undefined || before.config.baseUrl !== config.baseUrl || before.config.model !== config.model) return { seat: seatOf(config), take: () => undefined };
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
    void first.client.stop();
  }

  function release(seat: Seat): void {
    if (seat.jobs === 0 && leaving.delete(seat)) void seat.client.stop();
  }

  function partyOf({ name: evaluator, concurrency }: ConfiguredHttp): Party {
    const name = endpointParty(evaluator);
    return { name, concurrency, answer: askOf({}, async (request) => await endpoints.call(name, request)) };
  }

  function askOne(seat: Seat | undefined, question: Question, done: (end: AskEnd) => void): void {
    if (seat === undefined) return done({ kind: 'overload', reason: 'no_such_judge' });
    seat.jobs++;
    const ended = (end: AskEnd): void => {
      seat.jobs--;
      release(seat);
      done(end);
    };
    lane.offer({ ...question, party: seat.party, done: ended });
  }

  /** All that may be asked stay until it is over, although the configuration changes meanwhile. */
  async function juryOf(panel: Panel, question: Question): Promise<AskEnd> {
    const own = new Map(judgesOf(panel).flatMap((name) => {
      const seat = seats.get(name);
      return seat === undefined ? [] : [[name, seat] as const];
    }));
    for (const seat of own.values()) seat.jobs++;
    const end = await juryEnd({
      name: question.name,
      panel,
      model: panelModel(panel, (judge) => own.get(judge)?.config.model),
      questions: question.questions,
      ask: (judge, questions) => new Promise((resolve) => askOne(own.get(judge), { ...question, questions }, resolve)),
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

  prepare(configs)();
  return {
    lane,
    prepare,
    ask(run, work, done) {
      const { configured, expected, judge, panel } = work;
      const question: Question = { name: configured.name, agent: run.trace.agent, threshold: configured.threshold, questions: () => configured.judge(run.trace, expected, context, run) };
      if (configured.kind === 'http') lane.offer({ ...question, party: partyOf(configured), done });
      else if (panel === undefined) askOne(seats.get(judge ?? ''), question, done);
      else void juryOf(panel, question).then(done);
    },
    pace(judge) {
      const { usdPerDay } = seats.get(judge)?.config ?? {};
      return usdPerDay === undefined ? 1 : books.share({ name: judge, usdPerDay });
    },
    places(judge) {
      const seat = seats.get(judge);
      return seat === undefined ? placesOfNobody : seat.guard.places(seat.config.concurrency);
    },
    async open({ judgeSpend, judgeAnswers }, mayLie) {
      answers.open(judgeAnswers, mayLie);
      await books.open(judgeSpend, [...seats.keys()]);
    },
    settle: books.close,
    async stop() {
      ended.abort();
      await Promise.all([endpoints.stop(), ...[...seats.values(), ...leaving].map(({ client }) => client.stop())]);
    },
  };
}

function isSame(one: JudgeConfig, other: JudgeConfig): boolean {
  const text = (config: JudgeConfig): string => jsonText(config as unknown as JsonValue, { sortKeys: true });
  return text(one) === text(other);
}

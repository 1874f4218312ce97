/** Sessions in which nothing has happened for a while are handed on to the queue of judges; those that were judged long ago are forgotten. */
import type { Clock, Sleep } from '../model/clock.ts';
import type { SessionSettings } from '../pipeline/evaluation/session-turns.ts';
import type { SessionCounts } from '../model/store/session-store.ts';
import type { Store } from '../model/store/store.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';

export interface SessionWatchOptions {
  readonly store: Pick<Store, 'judgeSessions'>;
  /** Asked for each time. */
  readonly settings: () => SessionSettings;
  /** False: the service has too much to do. */
  readonly isCalm: () => boolean;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly onFault: (error: unknown) => void;
}

export interface SessionWatch extends Pick<PeriodicTask, 'stop'> {
  /** Why one more session may not be remembered; undefined: it may. */
  refused(): string | undefined;
  /** The questions of sessions that are not handed on yet, so many for each of a line. */
  waiting(questionsOf: (party: string) => number): number;
}

const lookEveryMs = 1_000;
/** Sessions that are handed on together; each has all its turns in memory for that long. */
const atOnceMax = 3;
const forgottenAtOnceMax = 1_000;
/** With those that were passed over; beyond it the oldest are forgotten that do not wait, however young. */
const rowsMax = 1_000_000;

export function sessionWatch({
  store: { judgeSessions },
  settings,
  isCalm,
  telemetry,
  clock,
  sleep,
  onFault,
}: SessionWatchOptions): SessionWatch {
  const before = (ms: number): number => Math.floor((clock.nowMs() - ms) * 1_000);
  let counts: SessionCounts = { held: 0, rows: 0, waiting: [] };
  /** Since the last count. */
  let begun = 0;

  async function handOn(): Promise<number> {
    const { quietMs, latestMs } = settings();
    const ripe = await judgeSessions.ripe({ quietBefore: before(quietMs), changedBefore: before(latestMs), limit: atOnceMax });
    for (const session of ripe) {
      if (!(await judgeSessions.handOn(session, before(0)))) continue;
      telemetry.add('tracejury.judge.sessions', 1, {
        'gen_ai.evaluation.name': session.name,
        'tracejury.outcome': session.turns.length === 0 ? 'unreadable' : 'judged',
      });
      if (session.leftOut > 0)
        telemetry.add('tracejury.judge.sessions.left_out', session.leftOut, { 'gen_ai.evaluation.name': session.name });
    }
    return ripe.length;
  }

  async function look(ended: AbortSignal): Promise<void> {
    begun = 0;
    counts = await judgeSessions.counts();
    telemetry.set(
      'tracejury.judge.sessions.waiting',
      counts.waiting.reduce((sum, { sessions }) => sum + sessions, 0),
    );
    telemetry.set('tracejury.judge.sessions.held', counts.held);
    while (!ended.aborted && isCalm() && (await handOn()) === atOnceMax);
    await judgeSessions.forget(before(counts.rows > rowsMax ? 0 : settings().keepMs), forgottenAtOnceMax);
  }

  const working = periodicTask({ everyMs: lookEveryMs, sleep, work: look, onFault });
  return {
    refused() {
      if (counts.held + begun < settings().rows) {
        begun++;
        return undefined;
      }
      telemetry.add('tracejury.judge.sessions', 1, { 'gen_ai.evaluation.name': '', 'tracejury.outcome': 'refused' });
      return 'queue_full';
    },
    waiting: (questionsOf) => counts.waiting.reduce((sum, { party, sessions }) => sum + sessions * questionsOf(party), 0),
    stop: working.stop,
  };
}

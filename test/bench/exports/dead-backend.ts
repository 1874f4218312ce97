/**
 * A backend that is dead while agents work, and for a while longer; a service that is killed while it is dead, and once more while it gets what it missed. Then the
 * account: what the backend has, by the ids of spans, against the runs that were acknowledged.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { halves } from '../../builders/gen-ai-spans.ts';
import { hostFolder, type Host } from '../../faults/host.ts';
import { startLoad } from '../../faults/load.ts';
import { openSink, type Sink } from '../../faults/sink.ts';
import { sample } from '../../service/running.ts';

export interface DeadBackendOptions {
  readonly runs: number;
  /** How long the backend is dead, at least: longer when the agents have not done their runs by then. */
  readonly deadMs: number;
  readonly onProgress: (line: string) => void;
}

export interface DeadBackendAccount {
  /** Runs that were acknowledged as a whole. */
  readonly runs: number;
  readonly deadMs: number;
  readonly kills: number;
  /** Runs without a score at the backend, and runs with their score under more than one id. */
  readonly missing: number;
  readonly doubled: number;
  /** Scores of runs that were never sent. */
  readonly strange: number;
  /** When the backend came back: how long the oldest score had waited, and what the process took. */
  readonly lagMs: number;
  readonly residentBytes: number;
  /** From the return of the backend until nothing waited, with a kill on the way. */
  readonly caughtUpMs: number;
  readonly lagAtEndMs: number;
  readonly deadLetters: number;
}

const requestsPerRun = 2;
/** Shares of the runs, acknowledged when it is killed. */
const killsAfter = [0.3, 0.7];
/** Share of the scores at the backend when it is killed once more. */
const killAtShare = 0.3;
const lookEveryMs = 200;
const quietWithinMs = 600_000;

export async function deadBackend({ runs, deadMs, onProgress }: DeadBackendOptions): Promise<DeadBackendAccount> {
  const sink = await openSink();
  sink.behave('down');
  const folder = hostFolder(`export: [ { to: span_events, endpoint: "${sink.endpoint}" } ]\n`);
  try {
    const diedMs = performance.now();
    // Old runs would go by `store.keep`.
    const startMs = Date.now();
    let service = await folder.start();
    const restart = async (why: string): Promise<void> => {
      await service.end('SIGKILL');
      onProgress(`killed ${why}`);
      service = await folder.start();
    };
    const load = startLoad((spans) => service.send(spans), { requests: (trace) => halves(trace, startMs) });
    for (const share of killsAfter) {
      await until(() => load.acknowledged() >= runs * requestsPerRun * share);
      await restart(`after ${Math.floor(load.acknowledged() / requestsPerRun)} runs, with the backend dead`);
    }
    await until(() => load.acknowledged() >= runs * requestsPerRun);
    const whole = await load.end();
    onProgress(`${whole.length} runs are acknowledged; the backend stays dead`);
    await pause(Math.max(0, deadMs - (performance.now() - diedMs)));
    const atReturn = await figures(service);
    const backMs = performance.now();
    sink.behave('well');
    onProgress('the backend is back');
    await until(() => sink.taken().size >= whole.length * killAtShare);
    await restart(`with ${sink.taken().size} scores at the backend`);
    const atEnd = await quiet(service, whole.length);
    return {
      runs: whole.length,
      deadMs: backMs - diedMs,
      kills: killsAfter.length + 1,
      ...compared(sink, whole),
      lagMs: atReturn.lagMs,
      residentBytes: atReturn.residentBytes,
      caughtUpMs: performance.now() - backMs,
      lagAtEndMs: atEnd.lagMs,
      deadLetters: atEnd.dead,
    };
  } finally {
    await folder.remove();
    await sink.stop();
  }
}

function compared(sink: Sink, whole: readonly string[]): Pick<DeadBackendAccount, 'missing' | 'doubled' | 'strange'> {
  const taken = sink.taken();
  const known = new Set(whole);
  return {
    missing: whole.filter((trace) => !taken.has(trace)).length,
    doubled: [...taken.values()].filter((ids) => ids.size > 1).length,
    strange: [...taken.keys()].filter((trace) => !known.has(trace)).length,
  };
}

interface Figures {
  readonly waiting: number;
  readonly lagMs: number;
  readonly dead: number;
  readonly residentBytes: number;
  readonly unwritten: number;
}

async function figures(service: Host): Promise<Figures> {
  const page = await service.metrics();
  const own = (name: string): number => sample(page, name, { tracejury_exporter: 'span_events' }) ?? 0;
  return {
    waiting: own('tracejury_exporter_queue'),
    lagMs: 1_000 * own('tracejury_exporter_lag_seconds'),
    dead: own('tracejury_exporter_dead'),
    residentBytes: sample(page, 'tracejury_process_resident_bytes') ?? 0,
    unwritten: sample(page, 'tracejury_store_queue') ?? 0,
  };
}

/** Every run is stored and nothing waits, twice in a row. */
async function quiet(service: Host, runs: number): Promise<Figures> {
  let calm = 0;
  for (const endMs = performance.now() + quietWithinMs; performance.now() < endMs; await pause(lookEveryMs)) {
    const now = await figures(service);
    calm = now.waiting === 0 && now.unwritten === 0 && (calm > 0 || (await service.runs()).length >= runs) ? calm + 1 : 0;
    if (calm > 1) return now;
  }
  return figures(service);
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await pause(lookEveryMs);
}

/** One trial: a service under load, a fault, and then the account of what was acknowledged. */
import { setTimeout as wait } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../src/model/json.ts';
import { seeded } from '../builders/seeded.ts';
import { doubledIn, listOf } from './doubled.ts';
import type { Fault } from './fault.ts';
import { hostFolder, type Host } from './host.ts';
import { spansPerRun, startLoad, type Load } from './load.ts';
import { openSink, type Sink } from './sink.ts';
import { brokenReceipt, brokenSums } from './sums.ts';
import type { World } from './world.ts';

export interface Account {
  /** Spans of runs that were acknowledged as a whole. */
  readonly acknowledged: number;
  /** Those of them that are in no run that the service knows at the end. */
  readonly lost: number;
  /** Runs and scores that are there more than once. */
  readonly doubled: number;
  /** Scores of acknowledged runs that never came to the backend. */
  readonly unsent: number;
  /** Metrics pages that were read, and what did not add up on them. */
  readonly pages: number;
  readonly broken: readonly string[];
}

/** Looks at the service every so often while it suffers. */
const lookEveryMs = 100;
/** A span that is still missing after this number of looks is lost. */
const looksMax = 300;

export async function accountOf(fault: Fault, trial: number, { seed = 1, looks = looksMax } = {}): Promise<Account> {
  const chance = seeded(seed * 1_000_003 + trial);
  const sink = await openSink();
  const folder = hostFolder(`export: [{ to: span_events, endpoint: "${sink.endpoint}" }]`);
  const started = async (world: World | undefined): Promise<Host> => {
    try {
      return await folder.start(world);
    } catch (error) {
      if (world === undefined) throw error;
      // As a supervisor does: a disk that fails at the start is another one the next time.
      return folder.start();
    }
  };
  try {
    let restarts = 0;
    let service = await started(fault.world?.(chance, trial));
    const load = startLoad((spans) => service.send(spans));
    const watch = watched(() => service);
    await fault.suffer({
      chance,
      sink,
      service: () => service,
      async restart(signal, world) {
        restarts++;
        await service.end(signal);
        service = await started(world);
      },
      acknowledged: (requests) => further(load, requests),
    });
    const whole = await load.end();
    sink.behave('well');
    const pages = await watch.end();
    const ends = await settled(service, sink, { whole, looks });
    const page = await service.metrics();
    const receipt = restarts > 0 ? [] : brokenReceipt(page, { acknowledged: load.acknowledgedSpans() });
    return { ...ends, ...pages, broken: [...new Set([...pages.broken, ...brokenSums(page), ...receipt])] };
  } finally {
    await folder.remove();
    await sink.stop();
  }
}

/** Gives up when nothing is acknowledged for a while: a service that refuses everything ends the wait too. */
async function further(load: Load, requests: number): Promise<void> {
  const wanted = load.acknowledged() + requests;
  for (let idle = 0, before = load.acknowledged(); load.acknowledged() < wanted && idle < 200; idle++) {
    await wait(10);
    if (load.acknowledged() > before) idle = 0;
    before = load.acknowledged();
  }
}

/** Reads the metrics page again and again, through all faults. */
function watched(service: () => Host): { readonly end: () => Promise<Pick<Account, 'pages' | 'broken'>> } {
  const broken = new Set<string>();
  const over = new AbortController();
  let pages = 0;
  const watching = (async () => {
    while (!over.signal.aborted) {
      const page = await service()
        .metrics()
        .catch(() => undefined);
      if (page !== undefined) {
        pages++;
        for (const fault of brokenSums(page)) broken.add(fault);
      }
      await wait(lookEveryMs);
    }
  })();
  return {
    async end() {
      over.abort();
      await watching;
      return { pages, broken: [...broken] };
    },
  };
}

type Ends = Pick<Account, 'acknowledged' | 'lost' | 'doubled' | 'unsent'>;

/** Waits until nothing is missing any more, or for long enough. */
async function settled(
  service: Host,
  sink: Sink,
  { whole, looks }: { readonly whole: readonly string[]; readonly looks: number },
): Promise<Ends> {
  let missing: readonly string[] = whole;
  let unsent = whole.length;
  for (let look = 0; look < looks && (missing.length > 0 || unsent > 0); look++) {
    if (look > 0) await wait(lookEveryMs);
    const known = new Set((await service.runs()).map((run) => String(run['trace_id'])));
    missing = whole.filter((trace) => !known.has(trace));
    unsent = whole.filter((trace) => !sink.taken().has(trace)).length;
  }
  const runs = await service.runs();
  let lost = missing.length * spansPerRun;
  const acknowledged = new Set(whole);
  for (const run of runs.filter(({ trace_id: trace }) => acknowledged.has(String(trace)))) lost += await lostOf(service, run);
  return { acknowledged: whole.length * spansPerRun, lost, doubled: doubledIn(runs, sink.taken()), unsent };
}

/** Spans that a present run lacks: the call of its tool with its result, and the data of the agent's own span. */
async function lostOf(service: Host, run: JsonObject): Promise<number> {
  const whole = await service.run(String(run['trace_id']), String(run['span_id']));
  const isComplete = whole['completeness'] === 'complete';
  // On a machine that is short of time the service gives up contents; the rules still saw the spans, and only a call that ran passes this one.
  if (contentGoneFor(whole) === 'overload')
    return (listOf(whole, 'verdicts').some(({ name, passed }) => name === 'tool_error' && passed === true) ? 0 : 2) + (isComplete ? 0 : 1);
  const calls = listOf(whole, 'tool_calls').map(({ name, result }) => `${String(name)} ${String(result)}`);
  return (calls.includes('find there') ? 0 : 2) + (whole['final_response'] === 'there' && isComplete ? 0 : 1);
}

function contentGoneFor({ content_gone: gone }: JsonObject): string | undefined {
  return isJsonObject(gone) ? String(gone['reason']) : undefined;
}

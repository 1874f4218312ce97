/** One trial of a fault: three replicas under load until the fault has happened, then the account of what was acknowledged. */
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Span } from '../../../src/model/span.ts';
import { seeded } from '../../builders/seeded.ts';
import { listOf } from '../doubled.ts';
import { startLoad, type Load } from '../load.ts';
import { openSink, type Sink } from '../sink.ts';
import { compared, documentsOf, isJudged, keptDocuments, oneProcess, unasked, type OtherRun } from './documents.ts';
import type { ManyFault } from './fault.ts';
import { recordingJudge } from './judge.ts';
import { machines, type Replica } from './machines.ts';
import { requestsOf, traceIdOf } from './runs.ts';

export interface Account {
  /** Runs that were acknowledged as a whole. */
  readonly acknowledged: number;
  /** Those of them that no replica knows at the end. */
  readonly lost: number;
  /** Those of them that differ from the runs of one process. */
  readonly other: number;
  /** Runs, and verdicts of one name, that are there more than once. */
  readonly doubled: number;
  /** Those of them that were evaluated again because spans of theirs came again. */
  readonly revised: number;
  /** Those of them about which the judge was not asked: the machine was short of time. */
  readonly unasked: number;
  /** Questions to the judge that it had answered before. */
  readonly askedAgain: number;
  /** Scores at the backend that are there under two ids. */
  readonly sentAgain: number;
  /** Scores that never came to the backend. */
  readonly unsent: number;
  /** The longest time in which no request was acknowledged. */
  readonly silentMs: number;
  /** Examples of runs that are lost or other. */
  readonly examples: readonly string[];
  /** The folder with both documents of the other runs among the examples. */
  readonly documents?: string;
}

/** The account shows these, and no fault may cause them. */
export function brokenPromises({ inHand }: ManyFault, account: Account): readonly string[] {
  const { acknowledged, lost, other, doubled, revised, askedAgain, sentAgain, unsent, documents } = account;
  const counts: readonly (readonly [count: number, sentence: string])[] = [
    [acknowledged === 0 ? 1 : 0, 'No run was acknowledged.'],
    [lost, `${lost} runs are lost.`],
    [other, `${other} runs are other than one process has them${documents === undefined ? '' : `: ${documents} has documents of both`}.`],
    [doubled, `${doubled} runs or verdicts are there twice.`],
    [unsent, `${unsent} scores never came to the backend.`],
    ...(inHand === 'may come again'
      ? []
      : ([
          [revised, `${revised} runs were evaluated again.`],
          [askedAgain, `${askedAgain} questions were asked again.`],
          [sentAgain, `${sentAgain} scores came to the backend again.`],
        ] as const)),
  ];
  return counts.flatMap(([count, sentence]) => (count > 0 ? [sentence] : []));
}

export interface Trials {
  readonly account: (fault: ManyFault, trial: number) => Promise<Account>;
  readonly stop: () => Promise<void>;
}

const replicasAtStart = 3;
/** Waits for an answer like a load balancer. */
const answerMs = 2_000;
const restMs = 100;
const attemptsMax = 1_200;
/** Between two runs of an agent, and the share of the requests that a fault asks for. */
const loads = { full: { pauseMs: 100, share: 1 }, short: { pauseMs: 250, share: 1 / 3 } };
/** The rules of a run are one span at the backend, and the judge's verdict another one. */
const carriersOfRun = 2;
const lookEveryMs = 500;
/** A run that is still missing after this number of looks is lost: leases of a dead process end after half a minute. */
const looksMax = 240;
const examplesMax = 3;
const shownChars = 120;

export async function trials({ seed = 1, isFull = true } = {}): Promise<Trials> {
  const startMs = Math.floor(performance.timeOrigin);
  const { pauseMs, share } = isFull ? loads.full : loads.short;
  const alone = { judge: await recordingJudge(), sink: await openSink() };
  const reference = await oneProcess(configuration(alone), startMs);

  async function account(fault: ManyFault, trial: number): Promise<Account> {
    const chance = seeded(seed * 1_000_003 + trial);
    const parts = { judge: await recordingJudge(), sink: await openSink() };
    const all = await machines(configuration(parts), fault);
    try {
      let replicas: readonly Replica[] = await Promise.all(Array.from({ length: replicasAtStart }, () => all.replica()));
      const agents = sending(() => replicas);
      const load = startLoad(agents.send, { requests: (trace) => requestsOf(trace, startMs), restMs, attemptsMax, pauseMs });
      const acknowledged = (requests: number): Promise<void> => further(load, Math.ceil(requests * share));
      await acknowledged(20 + chance.below(40));
      await fault.suffer({
        ...all,
        chance,
        isFull,
        acknowledged,
        refused: agents.refused,
        get replicas() {
          return replicas;
        },
        async add() {
          const replica = await all.replica();
          replicas = [...replicas, replica];
          return replica;
        },
        remove(replica) {
          replicas = replicas.filter((one) => one !== replica);
        },
      });
      await acknowledged(60);
      const traces = (await load.end()).map((id) => Number.parseInt(id, 16));
      const [one] = replicas;
      if (one === undefined) throw new Error('No replica is left.');
      const ends = await settled(one, parts.sink, traces);
      const [references, documents] = [await reference.documents(traces), await documentsOf(one.process(), traces)];
      const others = traces.flatMap((trace, at): readonly (OtherRun & { readonly difference: string })[] => {
        const [is = '', was = ''] = [documents[at], references[at]];
        if (is === 'null' || is === was) return [];
        const [have, want] = compared(is, was);
        return have === want ? [] : [{ id: traceIdOf(trace), is, was, difference: difference(have, want) }];
      });
      const shown = others.slice(0, examplesMax);
      return {
        ...ends,
        other: others.length,
        askedAgain: parts.judge.again(),
        silentMs: agents.silentMs(),
        examples: [...ends.examples.slice(0, examplesMax), ...shown.map((one) => `${one.id} ${one.difference}`)],
        ...(shown.length === 0 ? {} : { documents: keptDocuments(shown) }),
      };
    } finally {
      await all.remove();
      await parts.sink.stop();
      await parts.judge.stop();
    }
  }

  return {
    account,
    async stop() {
      await reference.stop();
      await alone.sink.stop();
      await alone.judge.stop();
    },
  };
}

function configuration({ judge, sink }: { readonly judge: { readonly baseUrl: string }; readonly sink: Pick<Sink, 'endpoint'> }): string {
  return `judges: { main: { base_url: "${judge.baseUrl}", model: m, concurrency: 4 } }
export: [ { to: span_events, endpoint: "${sink.endpoint}" } ]
evaluators:
  - defaults
  - { use: task_completion, name: judged, judge: main, sample: { rate: 1 }, expect: { tasks: ["find it"] } }`;
}

/** Sends to the replicas in turn, so a request that was not acknowledged goes to another one the next time. */
function sending(replicas: () => readonly Replica[]) {
  let [turn, last, silentMs, refusals] = [0, performance.now(), 0, 0];
  return {
    async send(spans: readonly Span[]): Promise<number | undefined> {
      const all = replicas();
      const status = await all[turn++ % all.length]?.process().send(spans, answerMs);
      if (status !== 200) refusals++;
      else {
        silentMs = Math.max(silentMs, performance.now() - last);
        last = performance.now();
      }
      return status;
    },
    silentMs: () => silentMs,
    async refused(): Promise<void> {
      const before = refusals;
      while (refusals === before) await wait(10);
    },
  };
}

/** Gives up when nothing is acknowledged for a while. */
async function further(load: Load, requests: number): Promise<void> {
  const wanted = load.acknowledged() + requests;
  for (let idle = 0, before = load.acknowledged(); load.acknowledged() < wanted && idle < 6_000; idle++) {
    await wait(10);
    if (load.acknowledged() > before) idle = 0;
    before = load.acknowledged();
  }
}

/** Waits until nothing is missing any more, or for long enough. */
async function settled(
  replica: Replica,
  sink: Sink,
  traces: readonly number[],
): Promise<Pick<Account, 'acknowledged' | 'lost' | 'doubled' | 'revised' | 'unasked' | 'sentAgain' | 'unsent' | 'examples'>> {
  const ids = traces.map(traceIdOf);
  const shed = new Set<string>();
  /** Spans of scores at the backend, more or less than there should be. */
  const surplus = (id: string): number => (sink.taken().get(id)?.size ?? 0) - (shed.has(id) ? 1 : carriersOfRun);
  let runs: readonly JsonObject[] = [];
  for (let look = 0; look < looksMax; look++) {
    runs = await replica
      .process()
      .runs()
      .catch(() => []);
    const judged = new Set(runs.filter(isJudged).map(({ trace_id: id }) => String(id)));
    const missing = ids.filter((id) => !judged.has(id) && !shed.has(id));
    for (const id of await unasked(replica.process(), missing).catch(() => [])) shed.add(id);
    if (missing.every((id) => shed.has(id)) && ids.every((id) => surplus(id) >= 0)) break;
    await wait(lookEveryMs);
  }
  const known = runs.map(({ trace_id: id }) => String(id));
  const whole = new Set(ids);
  const lost = ids.filter((id) => !known.includes(id));
  const verdictsTwice = runs.filter((run) => {
    const names = listOf(run, 'verdicts').map(({ name }) => name);
    return new Set(names).size < names.length;
  });
  return {
    acknowledged: ids.length,
    lost: lost.length,
    doubled: known.length - new Set(known).size + verdictsTwice.length,
    revised: runs.filter(({ trace_id: id, revision }) => whole.has(String(id)) && revision !== 1).length,
    unasked: shed.size,
    sentAgain: ids.reduce((sum, id) => sum + Math.max(0, surplus(id)), 0),
    unsent: ids.reduce((sum, id) => sum + Math.max(0, -surplus(id)), 0),
    examples: lost.map((id) => `${id} is in no run`),
  };
}

/** The place where the second text stops being the first one. */
function difference(is: string, was: string): string {
  let at = 0;
  while (at < is.length && is[at] === was[at]) at++;
  const [from, to] = [Math.max(0, at - shownChars), at + shownChars];
  return `has …${is.slice(from, to)}… and not …${was.slice(from, to)}…`;
}

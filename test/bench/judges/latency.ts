/**
 * Latency of the verdicts of rules, in each state of the judge: from the last span of a run until they have come to a backend. One service for each state of its judge, each
 * in its own process and folder, by turns, so that what else the machine does hits all of them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { hostFolder, type Host, type HostFolder } from '../../faults/host.ts';
import { chatServer, says, type ChatServer, type Play } from '../../judges/chat-server.ts';
import { quantile } from '../overload/conditions.ts';
import { orders, spansOf, type Order } from './orders.ts';
import { verdictSink, type VerdictSink } from './verdict-sink.ts';

export interface JudgeLatencyOptions {
  readonly rounds: number;
  /** Latencies of a round, with each state of the judge. */
  readonly runs: number;
  readonly runsPerSecond: number;
}

export interface JudgeLatency {
  readonly judge: string;
  readonly runs: number;
  /** Whose verdicts had not come when the bench gave up. */
  readonly missing: number;
  /** The median of a round, and of the rounds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests that the service refused, and that were sent again. */
  readonly refused: number;
  /** Questions that came to the judge. */
  readonly questions: number;
}

const slowMs = 30_000;
/** Time for the last verdicts to come. */
const patienceMs = 20_000;
const warmUpRuns = 100;
const refusedRestMs = 100;

const answer = says('{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}');
const nonsense: readonly Play[] = [
  (response) => void response.destroy(),
  (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>502 Bad Gateway'),
  says('No idea.'),
  (response) => void response.writeHead(500).end(),
];

let plays = 0;
const states: { readonly [judge: string]: Play | 'none' | 'down' } = {
  'none asked': 'none',
  up: answer,
  'down: refuses connections': 'down',
  'slow: answers after 30 s': (response, request) => void setTimeout(() => response.destroyed || answer(response, request), slowMs).unref(),
  'broken: resets, nonsense, 500': (response, request) => nonsense[plays++ % nonsense.length]?.(response, request),
};

interface Bed {
  readonly judge: string;
  readonly folder: HostFolder;
  readonly server: ChatServer | undefined;
  readonly host: Host;
  /** Results by round. */
  readonly tookMs: (readonly number[])[];
  missing: number;
  refused: number;
}

export async function judgeLatency({ rounds, runs, runsPerSecond }: JudgeLatencyOptions): Promise<readonly JudgeLatency[]> {
  const sink = await verdictSink('tool_error');
  const beds: Bed[] = [];
  try {
    for (const [judge, play] of Object.entries(states)) beds.push(await bedOf(judge, play, sink));
    for (const [at, bed] of beds.entries()) await measured(bed, sink, orders(warmUpRuns, 1_000 + at), runsPerSecond);
    for (const bed of beds) bed.tookMs.length = 0;
    for (let round = 0; round < rounds; round++) {
      // Each time another one begins.
      for (let turn = 0; turn < beds.length; turn++) {
        const at = (turn + round) % beds.length;
        const bed = beds[at];
        if (bed !== undefined)
          await measured(bed, sink, orders(runs, 2_000 + round * beds.length + at, warmUpRuns + 1 + round * runs), runsPerSecond);
      }
      process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    }
    return beds.map(({ judge, tookMs, missing, refused, server }) => ({
      judge,
      runs: tookMs.flat().length,
      missing,
      refused,
      p50Ms: ofRounds(tookMs, 0.5),
      p99Ms: ofRounds(tookMs, 0.99),
      questions: server?.requests.length ?? 0,
    }));
  } finally {
    for (const { folder, server } of beds) {
      await folder.remove();
      await server?.close().catch(() => undefined);
    }
    await sink.close();
  }
}

async function bedOf(judge: string, play: (typeof states)[string], sink: VerdictSink): Promise<Bed> {
  const server = play === 'none' || play === undefined ? undefined : await chatServer(play === 'down' ? answer : play);
  if (play === 'down') await server?.close();
  const asking =
    server === undefined ? '' : '  - { use: task_completion, judge: main, sample: { rate: 1 }, expect: { tasks: ["find the order"] } }\n';
  const folder = hostFolder(
    `${server === undefined ? '' : `judges: { main: { base_url: "${server.baseUrl}", model: m } }\n`}evaluators:\n  - tool_error\n${asking}export: [ { to: span_events, endpoint: "${sink.endpoint}" } ]`,
  );
  return { judge, folder, server, host: await folder.start(), tookMs: [], missing: 0, refused: 0 };
}

function ofRounds(rounds: readonly (readonly number[])[], share: number): number {
  return quantile(
    rounds.map((tookMs) => quantile(tookMs, share)),
    0.5,
  );
}

/** Sends runs at their pace, and waits for their verdicts. */
async function measured(bed: Bed, sink: VerdictSink, runs: readonly Order[], runsPerSecond: number): Promise<void> {
  const sentMs = new Map<string, number>();
  const startMs = performance.now();
  const sending: Promise<void>[] = [];
  /** Sent again while the service refuses: it begins when the service has the spans. */
  async function taken(order: Order): Promise<void> {
    for (;;) {
      sentMs.set(order.traceId, performance.now());
      if ((await bed.host.send(spansOf(order, Date.now()))) === 200) return;
      bed.refused++;
      await pause(refusedRestMs);
    }
  }
  for (const [at, order] of runs.entries()) {
    const dueMs = startMs + (at * 1_000) / runsPerSecond;
    if (dueMs > performance.now()) await pause(dueMs - performance.now());
    sending.push(taken(order));
  }
  await Promise.all(sending);
  const untilMs = performance.now() + patienceMs;
  while (performance.now() < untilMs && runs.some(({ traceId }) => sink.cameMs(traceId) === undefined)) await pause(20);
  const tookMs = runs.flatMap(({ traceId }) => {
    const cameMs = sink.cameMs(traceId);
    return cameMs === undefined ? [] : [cameMs - (sentMs.get(traceId) ?? cameMs)];
  });
  bed.missing += runs.length - tookMs.length;
  bed.tookMs.push(tookMs);
}

/** Ten times as much as the service can bear, beside agents that send little: what it keeps, what it refuses, and how soon it is itself again. */
import { setTimeout as pause } from 'node:timers/promises';
import { grpcAgent, httpAgent, type Agent } from './agents.ts';
import { acceptedSpans, bed, floodAddress, memoryMib, saturation, settled, templateSpans, type Bed } from './bed.ts';
import { plainCollector } from './collector.ts';
import { atLeast, below, tell, type Condition } from './conditions.ts';
import { flooding, type FloodCounts } from './flooding.ts';
import { watchProcess } from './process-size.ts';

export interface OverloadBench {
  readonly seconds: number;
  /** Share of the rate at which it is saturated. */
  readonly times: number;
  /** Path of a Collector; without one none is asked. */
  readonly collector: string | undefined;
}

const windowMs = 10_000;
const residentShareMax = 1.1;
const keptShareMin = 0.8;
const normalWithinMs = 10_000;
const floodConnections = 400;
/** Before the flood and after it: a machine that others use as well does not go at one pace for minutes. */
const saturationSeconds = 20;
/** For the clients that retry, and for what they sent to be scored. */
const arrivedWithinMs = 90_000;

export async function overloadBench({ seconds, times, collector }: OverloadBench): Promise<boolean> {
  const on = await bed();
  let between: Awaited<ReturnType<typeof plainCollector>> | undefined;
  try {
    if (collector !== undefined) between = await plainCollector(collector, on);
    const rate = await saturated(on, seconds, 1);
    const agents = [
      httpAgent('http-agent', on.otlpUrl),
      grpcAgent('grpc-agent', on.grpcAddress),
      ...(between === undefined ? [] : [httpAgent('collector-agent', between.otlpUrl)]),
    ];
    const size = watchProcess(on.server.pid, 200);
    const flood = flooding({
      url: on.otlpUrl,
      from: floodAddress,
      connections: floodConnections,
      spansPerSecond: rate * times,
      sender: 2,
      spans: templateSpans,
    });
    const windows = await accepted(on, seconds);
    await flood.stop();
    const normalMs = await settled(on, normalWithinMs * 3);
    const counts = await flood.counts();
    flood.end();
    const arrived = await allArrived(on, agents);
    size.stop();
    const page = await on.page();
    const usual = (rate + (await saturated(on, seconds, 3))) / 2;
    const resident = Math.max(...size.samples.map((sample) => sample.residentMib));
    const held = tell(
      `Overload: ${times} × ${Math.round(rate)} spans/s for ${seconds} s; offered ${perSecond(counts.offeredSpans, seconds)}, sent ${perSecond(counts.sentSpans, seconds)}`,
      [
        below('resident memory, of limits.memory_bytes + 10 %', memoryMib * residentShareMax, resident, 'MiB'),
        answers(counts),
        retryAfters(counts),
        atLeast(`accepted, worst window of ${windowMs / 1_000} s, of saturation`, keptShareMin, Math.min(...windows) / usual, '×', 2),
        {
          what: 'runs closed early for want of memory',
          wanted: '0',
          measured: String(page.sum('tracejury_runs_total', { tracejury_completeness: 'evicted' })),
          holds: page.sum('tracejury_runs_total', { tracejury_completeness: 'evicted' }) === 0,
        },
        {
          what: 'runs that the store has lost',
          wanted: '0',
          measured: String(page.sum('tracejury_store_items_total', { tracejury_outcome: 'dropped' })),
          holds: page.sum('tracejury_store_items_total', { tracejury_outcome: 'dropped' }) === 0,
        },
        ...arrived,
        {
          what: 'back to normal',
          wanted: `≤ ${normalWithinMs / 1_000} s`,
          measured: normalMs === undefined ? 'never' : `${(normalMs / 1_000).toFixed(1)} s`,
          holds: normalMs !== undefined && normalMs <= normalWithinMs,
        },
      ],
    );
    const [times_, refused, shed] = [
      page.by('tracejury_stress_time_seconds_total', 'tracejury_stress_level'),
      page.by('tracejury_stress_refused_total', 'tracejury_strain'),
      page.by('tracejury_stress_shed_total', 'tracejury_what'),
    ];
    process.stdout.write(
      `\nAccepted by window: ${windows.map((one) => Math.round(one)).join(', ')} spans/s. Seconds at each level: ${pairs(times_)}. Refused by strain: ${pairs(refused)}. Shed: ${pairs(shed)}. Resident at the end ${Math.round(size.samples.at(-1)?.residentMib ?? 0)} MiB.\n`,
    );
    return held;
  } finally {
    await between?.stop();
    await on.stop();
  }
}

async function saturated(on: Bed, secondsMax: number, sender: number): Promise<number> {
  const rate = await saturation(on, Math.min(saturationSeconds, secondsMax), sender);
  process.stderr.write(`saturated at ${Math.round(rate)} spans/s\n`);
  return rate;
}

/** Spans a second in each window. */
async function accepted(on: Bed, seconds: number): Promise<readonly number[]> {
  const rates: number[] = [];
  const ownMs = Math.min(windowMs, (seconds * 1_000) / 2);
  let [before, sinceMs] = [await acceptedSpans(on), performance.now()];
  for (let left = seconds * 1_000; left >= ownMs; left -= ownMs) {
    await pause(ownMs - Math.min(ownMs, performance.now() - sinceMs));
    const [now, nowMs] = [await acceptedSpans(on), performance.now()];
    rates.push(((now - before) * 1_000) / (nowMs - sinceMs));
    [before, sinceMs] = [now, nowMs];
  }
  return rates;
}

function answers({ statuses }: FloodCounts): Condition {
  const strange = statuses.filter(([status]) => !['200', '429', '503'].includes(status));
  return {
    what: 'answers of the flood',
    wanted: '200, 429, 503',
    measured: statuses.map(([status, count]) => `${status}: ${count}`).join(', '),
    holds: strange.length === 0,
  };
}

function retryAfters({ retryAfter, withoutRetryAfter }: FloodCounts): Condition {
  const told = retryAfter.toSorted(([one], [other]) => one - other).map(([seconds, count]) => `${seconds} s: ${count}`);
  return {
    what: 'refusals say when to come back',
    wanted: 'all',
    measured: `${withoutRetryAfter} without; ${told.join(', ')}`,
    holds: withoutRetryAfter === 0,
  };
}

/** Every run that an agent has finished is scored whole. */
async function allArrived(on: Bed, agents: readonly Agent[]): Promise<readonly Condition[]> {
  await Promise.all(agents.map((agent) => agent.stop()));
  const complete = async (name: string): Promise<number> =>
    (await on.page()).sum('tracejury_runs_total', { gen_ai_agent_name: name, tracejury_completeness: 'complete' });
  const startMs = performance.now();
  let runs = new Map<string, number>();
  while (performance.now() - startMs < arrivedWithinMs) {
    runs = new Map(await Promise.all(agents.map(async ({ name }) => [name, await complete(name)] as const)));
    if (agents.every((agent) => runs.get(agent.name) === agent.runs())) break;
    await pause(500);
  }
  return agents.map((agent) => ({
    what: `runs of ${agent.name}, all of them whole`,
    wanted: String(agent.runs()),
    measured: String(runs.get(agent.name) ?? 0),
    holds: runs.get(agent.name) === agent.runs(),
  }));
}

function perSecond(spans: number, seconds: number): string {
  return `${Math.round(spans / seconds)} spans/s`;
}

function pairs(sums: ReadonlyMap<string, number>): string {
  return [...sums].map(([name, value]) => `${name} ${Math.round(value)}`).join(', ') || 'none';
}

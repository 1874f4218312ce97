/** Half of what it can bear, or a rate of one's own, for long: whether memory, descriptors or the time of an answer grow. */
import { setTimeout as pause } from 'node:timers/promises';
import { bed, floodAddress, memoryMib, saturation, templateSpans } from './bed.ts';
import { below, quantile, tell, type Condition } from './conditions.ts';
import { flooding } from './flooding.ts';
import { openDescriptors, watchProcess, type Descriptors } from './process-size.ts';

/** Growth by this much fills the room between the limit and its tenth in a week. */
const mibPerHourMax = 2;
const descriptorsMax = 5;
const warmUpShare = 1 / 3;
const answerMsMax = 25;
/** Time until unused connections are closed on this side as well, and accepted spans are stored. */
const idleMs = 10_000;

export interface SoakOptions {
  readonly minutes: number;
  /** Spans a second; `undefined`: half of what saturates the service, which is measured first. */
  readonly rate: number | undefined;
  /** `closing.late` of the service: with a short one, closed traces do not fill the memory up to its bound. */
  readonly late: string | undefined;
}

export async function soakBench({ minutes, rate: wanted, late: lateSpans }: SoakOptions): Promise<boolean> {
  const on = await bed(lateSpans === undefined ? '' : `closing: { late: ${lateSpans} }\n`);
  try {
    const rate = wanted ?? (await saturation(on, 30, 1)) / 2;
    if (wanted === undefined) process.stderr.write(`saturated at ${Math.round(rate * 2)} spans/s\n`);
    await pause(idleMs);
    const before = openDescriptors(on.server.pid);
    const size = watchProcess(on.server.pid, 1_000);
    const flood = flooding({
      url: on.otlpUrl,
      from: floodAddress,
      connections: 16,
      spansPerSecond: rate,
      sender: 2,
      spans: templateSpans,
    });
    await pause(minutes * 60_000);
    size.stop();
    const counts = await flood.counts();
    await flood.stop();
    flood.end();
    await pause(idleMs);
    const after = openDescriptors(on.server.pid);
    const late = size.samples.slice(Math.floor(size.samples.length * warmUpShare));
    return tell(
      `Soak: ${Math.round(rate)} spans/s for ${minutes} min, ${counts.statuses.map(([status, count]) => `${status}: ${count}`).join(', ')}`,
      [
        below(
          'growth of the resident memory after the first third',
          mibPerHourMax,
          slopePerHour(late.map(({ atMs, residentMib }) => [atMs, residentMib])),
          'MiB/h',
          1,
        ),
        below('resident memory', memoryMib, Math.max(...size.samples.map(({ residentMib }) => residentMib)), 'MiB'),
        descriptorsCondition(before, after),
        below('answers, 99 of 100 within', answerMsMax, quantile(counts.latenciesMs, 0.99), 'ms', 1),
        {
          what: 'refused',
          wanted: '0',
          measured: String(counts.statuses.filter(([status]) => status !== '200').reduce((sum, [, count]) => sum + count, 0)),
          holds: counts.statuses.every(([status]) => status === '200'),
        },
      ],
    );
  } finally {
    await on.stop();
  }
}

/** With no client connected: while there is load, a sender opens as many connections as its requests overlap. A kind with more objects is named, so that a leak shows what leaks. */
function descriptorsCondition(before: Descriptors, after: Descriptors): Condition {
  const all = (descriptors: Descriptors): number => [...descriptors.values()].reduce((sum, count) => sum + count, 0);
  const more = [...after].map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)] as const).filter(([, count]) => count > 0);
  const condition = below('open descriptors more than before, once the sender is gone', descriptorsMax, all(after) - all(before), '');
  return {
    ...condition,
    measured: `${condition.measured.trim()} of ${all(before)}${more.length === 0 ? '' : `: ${more.map(([kind, count]) => `${kind} +${count}`).join(', ')}`}`,
  };
}

/** Slope of the straight line that is nearest by least squares; times in milliseconds. */
function slopePerHour(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanAt, meanValue] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const above = points.reduce((sum, [at, value]) => sum + (at - meanAt) * (value - meanValue), 0);
  const under = points.reduce((sum, [at]) => sum + (at - meanAt) ** 2, 0);
  return (above / under) * 3_600_000;
}

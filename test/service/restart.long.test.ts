/** A whole process that is killed, or stopped, while runs are open: the next one goes on with them. */
import { afterEach, expect, test } from 'vitest';
import { isJsonArray, type JsonObject } from '../../src/model/json.ts';
import { halves } from '../builders/gen-ai-spans.ts';
import { seeded } from '../builders/seeded.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually, sample } from './running.ts';

/** Kills in the test under load; more by hand. */
const kills = Number(process.env['TRACEJURY_KILL_TRIALS'] ?? '3');

let folder: ServiceFolder;
afterEach(() => folder.remove());

async function metric(service: ServiceProcess, name: string): Promise<number | undefined> {
  return sample(await (await fetch(`${service.console}/metrics`)).text(), name);
}

test('restart: a run that was open is scored by the next process, whole, whether the first was killed or stopped', async () => {
  folder = serviceFolder();
  const [begun, rest] = halves(1);
  const first = await folder.start();
  expect(await first.send(begun)).toBe(200);
  await first.end('SIGKILL');
  const second = await folder.start();
  expect(await second.runs()).toEqual([]);
  await second.end('SIGTERM');
  const third = await folder.start();
  expect(await third.send(rest)).toBe(200);
  const [run] = await eventually(async () => ((await third.runs()).length > 0 ? await third.runs() : undefined), 'the run');
  expect(run).toMatchObject({ agent: 'finder', completeness: 'complete', revision: 1 });
  const whole = (await (
    await fetch(`${third.console}/api/v1/runs/${String(run?.['trace_id'])}/${String(run?.['span_id'])}`)
  ).json()) as JsonObject;
  const calls = isJsonArray(whole['tool_calls'] ?? null) ? (whole['tool_calls'] as readonly JsonObject[]) : [];
  expect(calls.map(({ name, result }) => [name, result])).toEqual([['find', 'there']]);

  // It is stored: no process reads it again, and reported events stay reported.
  await eventually(async () => ((await metric(third, 'tracejury_store_queue')) === 0 ? true : undefined), 'everything stored');
  await third.end('SIGTERM');
  const fourth = await folder.start();
  expect(await fourth.runs()).toEqual([run]);
  expect((await metric(fourth, 'tracejury_journal_replayed_total')) ?? 0).toBe(0);
});

test(
  'restart: killed at any moment under load, every run that was acknowledged is stored once and whole',
  async () => {
    folder = serviceFolder();
    const chance = seeded(7);
    /** Halves that were acknowledged, by trace. */
    const acknowledged = new Map<number, number>();
    let service = await folder.start();
    let traces = 0;
    for (let kill = 0; kill < kills; kill++) {
      const isOver = new AbortController();
      const senders = Array.from({ length: 4 }, async () => {
        while (!isOver.signal.aborted) {
          // As an exporter does: an unacknowledged request is sent again, to the process that is there then.
          const trace = [...acknowledged].find(([, sent]) => sent === 1)?.[0] ?? ++traces;
          const half = acknowledged.get(trace) ?? 0;
          acknowledged.set(trace, half === 0 ? 0 : 1.5);
          const status = await service.send(halves(trace)[half === 0 ? 0 : 1]);
          acknowledged.set(trace, status === 200 ? (half === 0 ? 1 : 2) : half);
          if (status === 200) continue;
          if (half === 0) acknowledged.delete(trace);
          if (status === undefined) return;
          // Refused: starts in quick succession fill a small journal until old requests are moved up.
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      });
      await new Promise((resolve) => setTimeout(resolve, 100 + chance.below(900)));
      await service.end('SIGKILL');
      isOver.abort();
      await Promise.all(senders);
      service = await folder.start();
    }
    for (const [trace, sent] of acknowledged)
      if (sent === 1)
        await eventually(async () => ((await service.send(halves(trace)[1])) === 200 ? true : undefined), 'the other half is taken');
    const wanted = [...acknowledged.keys()].map((trace) => trace.toString(16).padStart(32, '0')).toSorted();
    expect(wanted.length).toBeGreaterThan(kills * 3);
    const found = await eventually(async () => {
      const runs = (await service.runs()).filter(({ completeness }) => completeness === 'complete');
      const traces = new Set(runs.map((run) => run['trace_id']));
      return wanted.every((trace) => traces.has(trace)) ? runs : undefined;
    }, 'every run');
    const stored = found.map((run) => String(run['trace_id'])).toSorted();
    // Runs without any acknowledgement may be there as well: their request was written down, and the answer was lost.
    expect(stored.filter((trace) => wanted.includes(trace))).toEqual(wanted);
    expect(new Set(stored).size).toBe(stored.length);
    expect(
      found.every(
        ({ verdicts }) =>
          isJsonArray(verdicts ?? null) &&
          (verdicts as readonly JsonObject[]).some(({ name, score }) => name === 'tool_error' && score === 1),
      ),
    ).toBe(true);
  },
  60_000 + kills * 30_000,
);

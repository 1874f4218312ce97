/** Acknowledged spans go on, through faults of the process and of the target. */
import { afterEach, expect, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { span } from '../builders/spans.ts';
import type { Span } from '../../src/model/span.ts';
import { otlpTarget, type OtlpTarget } from '../exporters/otlp-target.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually, sample } from './running.ts';

let folder: ServiceFolder;
let target: OtlpTarget | undefined;
afterEach(async () => {
  await folder.remove();
  await target?.close();
  target = undefined;
});

const config = (port: number, hold = '10s'): string => `export: [ { to: forward, endpoint: "http://127.0.0.1:${port}", hold: ${hold} } ]\n`;

/** The tool call in a separate request, before that of its agent. Returns the acknowledged spans. */
async function send(service: ServiceProcess, from: number, to: number): Promise<readonly string[]> {
  const acknowledged: string[] = [];
  for (let trace = from; trace <= to; trace++) {
    const tool = toolSpan({ id: 3, parent: 1, trace, start: 3, end: 4, call: 'c', tool: 'find', arguments: '{"x":1}', status: 'error' });
    const agent = agentSpan({ id: 1, trace, start: 0, end: 7, agent: 'finder' });
    for (const one of [tool, agent]) if (await taken(service, one)) acknowledged.push(`${Number.parseInt(one.traceId, 16)} ${one.name}`);
    if (await taken(service, span({ id: 9, trace: trace + 10_000, name: 'GET /' }))) acknowledged.push(`${trace + 10_000} GET /`);
  }
  return acknowledged;
}

/** Retries as exporters do when asked to. Undefined when the process is gone. */
async function taken(service: ServiceProcess, one: Span): Promise<boolean> {
  return await eventually(async () => {
    const status = await service.send([one]);
    return status === 429 || status === 503 ? undefined : status === 200;
  }, 'an answer');
}

const idsAt = (at: OtlpTarget): readonly string[] =>
  at
    .spans()
    .filter(({ name }) => !name.startsWith('evaluate'))
    .map(({ traceId, name }) => `${Number.parseInt(traceId, 16)} ${name}`);

async function waiting(service: ServiceProcess): Promise<number | undefined> {
  return sample(await service.metrics(), 'tracejury_forward_waiting');
}

async function allGone(service: ServiceProcess): Promise<void> {
  await eventually(async () => ((await waiting(service)) === 0 ? true : undefined), 'nothing waits');
}

/** Every agent's span has its verdict on it, or is followed by a carrier. */
function unjudged(at: OtlpTarget): readonly string[] {
  const judged = new Set(
    at
      .spans()
      .filter(({ attributes }) => attributes['tracejury.verdict'] === 'fail')
      .map(({ traceId }) => traceId),
  );
  return at
    .spans()
    .filter(({ name, traceId }) => name === 'span 1' && !judged.has(traceId))
    .map(({ traceId }) => traceId);
}

test('forward: with a target that was down, everything arrives after a kill, with its verdicts', async () => {
  folder = serviceFolder();
  const port = await freePort();
  folder.configure(config(port));
  const first = await folder.start();
  const acknowledged = await send(first, 1, 10);
  expect(acknowledged).toHaveLength(30);
  await eventually(async () => ((await first.runs()).length === 10 ? true : undefined), 'all scored and stored');
  expect(await waiting(first)).toBe(30);
  await first.end('SIGKILL');
  const second = await folder.start();
  target = await otlpTarget(undefined, port);
  await allGone(second);
  expect([...new Set(idsAt(target))].toSorted()).toEqual(acknowledged.toSorted());
  expect(unjudged(target)).toEqual([]);
});

test('forward: killed again and again while the target flaps, nothing that was acknowledged is lost', async () => {
  folder = serviceFolder();
  let healthy = false;
  target = await otlpTarget((response, _, at) => {
    if (!healthy && at % 3 === 1) response.statusCode = 503;
    return !healthy && at % 5 === 4 ? undefined : '';
  });
  folder.configure(config(Number(new URL(target.url).port)));
  const acknowledged: string[] = [];
  let service = await folder.start();
  for (const from of [1, 9, 17]) {
    const sending = send(service, from, from + 7);
    await eventually(() => ((target?.seen.length ?? 0) > 0 ? true : undefined), 'something on its way');
    if (from !== 9) await service.end('SIGKILL');
    acknowledged.push(...(await sending));
    if (from === 9) await service.end('SIGTERM');
    service = await folder.start();
  }
  healthy = true;
  acknowledged.push(...(await send(service, 25, 26)));
  await allGone(service);
  const here = new Set(idsAt(target));
  expect(acknowledged.filter((id) => !here.has(id))).toEqual([]);
  expect(unjudged(target)).toEqual([]);
});

test('forward: what has gone on does not go on again after a restart', async () => {
  folder = serviceFolder();
  target = await otlpTarget();
  folder.configure(config(Number(new URL(target.url).port), '10m'));
  const first = await folder.start();
  const acknowledged = await send(first, 1, 5);
  // One run stays open, so that the journal keeps what came after it.
  await taken(first, toolSpan({ id: 3, parent: 1, trace: 500, start: 3, end: 4, call: 'c', tool: 'find' }));
  await eventually(() => (idsAt(target as OtlpTarget).length === 15 ? true : undefined), 'all but the open one');
  await first.end('SIGTERM');
  const second = await folder.start();
  await taken(second, agentSpan({ id: 1, trace: 500, start: 0, end: 7, agent: 'finder' }));
  await allGone(second);
  expect(idsAt(target).toSorted()).toEqual([...acknowledged, '500 span 1', '500 span 3'].toSorted());
});

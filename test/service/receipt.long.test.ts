/** Acknowledged requests were written down: the metrics page is enough to show it. */
import { afterEach, expect, test } from 'vitest';
import { brokenReceipt, brokenSums } from '../faults/sums.ts';
import { eventually, running, sample, sendAgentRun, type Running } from './running.ts';

const open: Running[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

const traceId = '000000000000000000000000000000ab';
const logs = (id: string): string =>
  JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ traceId: id, timeUnixNano: '1', body: { stringValue: 'x' } }] }] }] });

async function post(service: Running, path: string, body: string): Promise<number> {
  return (await fetch(`${service.otlp}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status;
}

test('receipt: each accepted request is a record, or held nothing to keep, and notes of the journal count separately', async () => {
  const service = await running('');
  open.push(service);
  await sendAgentRun(service.otlp, { spanBySpan: true });
  const empty = [await post(service, '/v1/traces', '{}'), await post(service, '/v1/logs', '{}'), await post(service, '/v1/logs', logs(''))];
  expect([...empty, await post(service, '/v1/logs', logs(traceId)), await post(service, '/v1/traces', '{')]).toEqual([
    200, 200, 200, 200, 400,
  ]);
  const page = await eventually(async () => {
    const found = await service.metrics();
    return sample(found, 'tracejury_journal_records_total', { tracejury_record: 'done' }) === undefined ? undefined : found;
  }, 'a note of what is done');
  expect(['traces', 'logs'].map((kind) => sample(page, 'tracejury_journal_records_total', { tracejury_record: kind }))).toEqual([3, 1]);
  expect(['traces', 'logs'].map((signal) => sample(page, 'tracejury_receiver_empty_total', { tracejury_signal: signal }))).toEqual([1, 2]);
  expect([brokenReceipt(page, { acknowledged: 3 }), brokenSums(page)]).toEqual([[], []]);
});

/** Runs that a whole service finds by the index of stored texts. */
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { eventually, running, sample, sendAgentRun } from './running.ts';

test('text indexer: a service finds words of stored texts, and none that redaction has removed', async () => {
  const service = await running('store: { url: "memory:", content: all }\nredact: [ { match: email } ]\n');
  onTestFinished(() => service.stop());
  const { traceId } = await sendAgentRun(service.otlp, { input: 'Refund order A-17 for ann@example.com' });
  const found = async (text: string): Promise<JsonObject> =>
    (await (await fetch(`${service.console}/api/v1/runs?text=${encodeURIComponent(text)}`)).json()) as JsonObject;
  const page = await eventually(async () => {
    const answer = await found('refund a-17');
    return (answer['runs'] as readonly JsonObject[]).length > 0 ? answer : undefined;
  }, 'the run by its words');
  expect(page).toMatchObject({ runs: [{ trace_id: traceId }], next: null, searched_to: null, unindexed: 0 });
  expect(await found('example.com')).toMatchObject({ runs: [] });
  expect(await found('refund nothing')).toMatchObject({ runs: [] });
  expect(sample(await service.metrics(), 'tracejury_store_indexed_total')).toBe(1);
});

test('text indexer: a service that indexes nothing answers that', async () => {
  const service = await running('store: { url: "memory:", search: false }\n');
  onTestFinished(() => service.stop());
  const response = await fetch(`${service.console}/api/v1/runs?text=refund`);
  expect([response.status, await response.json()]).toMatchObject([400, { error: { message: 'The service indexes no texts.' } }]);
});

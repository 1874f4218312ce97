/** The writer between senders of annotations and the store. */
import { expect, test } from 'vitest';
import { annotationId, type Annotation } from '../../src/model/store/annotation-store.ts';
import { manualClock } from '../../src/model/clock.ts';
import { JuryError } from '../../src/model/errors.ts';
import { noTenant } from '../../src/model/ids.ts';
import { annotationIngest } from '../../src/service/annotation-writer.ts';
import { annotationWriter } from '../../src/service/annotation-writer.ts';
import { redaction } from '../../src/redaction/redaction.ts';
import { redactionRules } from '../../src/redaction/settings.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { record, span, traceId } from '../builders/spans.ts';

const said: Annotation = {
  tenant: undefined,
  traceId: traceId(1),
  spanId: undefined,
  name: 'n',
  by: 'b',
  kind: 'human',
  label: undefined,
  score: 1,
  passed: undefined,
  explanation: '',
  at: 0,
};

test('annotation-writer: what waits for too long goes, and is counted', async () => {
  const [store, telemetry, clock, sleep] = [await memoryStore(), metricRegistry(), manualClock(1_000_000), manualSleep()];
  const own = annotationWriter({
    store,
    telemetry,
    clock,
    sleep: sleep.sleep,
    redaction: () => undefined,
    waitMs: () => 120_000,
    onFault: (error) => expect.unreachable(String(error)),
  });
  const values = (metric: string): unknown =>
    telemetry
      .snapshot()
      .find(({ name }) => name === metric)
      ?.points.map((point) => (point.kind === 'number' ? [point.labels['tracejury.outcome'], point.value] : []));
  expect(await own.take([said])).toEqual([{ fate: 'waiting', id: annotationId(said) }]);
  for (const [ms, waiting] of [
    [60_000, 1],
    [60_000, 1],
    [60_000, 0],
  ] as const) {
    clock.advance(ms);
    await sleep.wakeAll();
    expect([ms, await store.annotations.waiting(), values('tracejury.annotations.waiting')]).toEqual([ms, waiting, [[undefined, waiting]]]);
  }
  expect(values('tracejury.annotations')).toEqual([
    ['waiting', 1],
    ['expired', 1],
  ]);
  const stopped = own.stop();
  await sleep.wakeAll();
  await stopped;
});

test('annotation-writer: no member of an annotation keeps what the rules match', async () => {
  const [store, sleep] = [await memoryStore(), manualSleep()];
  const mail = 'ann@example.org';
  const rules = redactionRules([{ match: 'email', replace: '[email]' }]);
  const own = annotationWriter({
    store,
    telemetry: metricRegistry(),
    clock: manualClock(1_000_000),
    sleep: sleep.sleep,
    redaction: () => redaction({ rules, onRedacted: () => undefined }),
    waitMs: () => 120_000,
    onFault: (error) => expect.unreachable(String(error)),
  });
  const written: Annotation[] = [];
  const { write } = store.annotations;
  Object.assign(store.annotations, {
    write: async (annotations: readonly Annotation[], at: number) => {
      written.push(...annotations);
      return await write(annotations, at);
    },
  });
  const texts = { name: `asked by ${mail}`, by: mail, label: mail, explanation: `see ${mail}`, toolCall: mail };
  expect(await own.take([{ ...said, ...texts }])).toMatchObject([{ fate: 'waiting' }]);
  expect(written).toHaveLength(1);
  expect(JSON.stringify(written)).not.toContain('ann@');
  const stopped = own.stop();
  await sleep.wakeAll();
  await stopped;
});

test('annotation-writer: a request whose results cannot be stored is refused for now, and no result is newer than now', async () => {
  const taken: (readonly Annotation[])[] = [];
  const failing = { on: false };
  const took: string[] = [];
  const ingest = annotationIngest({
    ingest: { spans: async () => void took.push('spans'), logs: async () => void took.push('logs'), admission: () => 'open' },
    writer: () => ({
      async take(annotations) {
        if (failing.on) throw new Error('the disk is full');
        taken.push(annotations);
        return [];
      },
    }),
    clock: manualClock(5),
  });
  const request = { contentType: '', contentEncoding: '', body: Buffer.of() };
  const attributes = { 'gen_ai.evaluation.name': 'n', 'gen_ai.evaluation.score.value': 1 };
  const result = { name: 'gen_ai.evaluation.result', attributes };
  await ingest.spans(noTenant, [span({ id: 1, start: 3, events: [result] }), span({ id: 2, start: 9, events: [result] })], request);
  await ingest.spans(noTenant, [span({ id: 1 })], request);
  expect(taken.map((some) => some.map(({ at }) => at))).toEqual([[3_000, 5_000]]);
  failing.on = true;
  await ingest.spans(noTenant, [span({ id: 1 })], request);
  const refused = ingest.logs(noTenant, [record({ span: 1, event: 'gen_ai.evaluation.result', attributes })], request);
  await expect(refused).rejects.toBeInstanceOf(JuryError);
  await expect(refused).rejects.toMatchObject({ code: 'STORE_REFUSED', status: 503, retryable: true });
  expect(took).toEqual(['spans', 'spans', 'spans', 'logs']);
});

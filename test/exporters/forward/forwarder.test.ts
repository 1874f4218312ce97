/** The status of spans that wait to go on, also when their entry is no longer in the configuration. */
import { afterEach, expect, test } from 'vitest';
import { spanForwarder, type SpanForwarder, type ForwardSettings } from '../../../src/exporters/forward/forwarder.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant } from '../../../src/model/ids.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { sleep } from '../../../src/service/node-runtime.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { span } from '../../builders/spans.ts';
import { eventually } from '../../service/running.ts';
import { otlpTarget } from '../otlp-target.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function bench() {
  const own = { status: 503 };
  const target = await otlpTarget((response) => {
    response.statusCode = own.status;
    return '';
  });
  const clock = manualClock(1_000_000);
  const settings: ForwardSettings = {
    name: 'on',
    tracesEndpoint: `${target.url}/v1/traces`,
    headers: {},
    protocol: 'http/protobuf',
    compression: 'none',
    holdMs: 10_000,
  };
  const forward: SpanForwarder = spanForwarder({
    settings,
    awaits: () => false,
    read: async () => undefined,
    bodyBytesMax: 1e6,
    clock,
    sleep,
    random: () => 0,
    telemetry: metricRegistry({ clock }),
  });
  open.push({ close: async () => void (await forward.stop(0)) }, target);
  forward.start();
  let position = 0;
  const take = (): void => {
    const spans = [span({ id: ++position })];
    forward.spans({
      position,
      tenant: noTenant,
      spans,
      body: { bytes: writeTraces(spans, 'protobuf'), encoding: 'protobuf' },
      isWhole: true,
    });
  };
  return { own, clock, settings, forward, take };
}

test('forwarding: what waits, since when, and what the target said', async () => {
  const { own, clock, forward, take } = await bench();
  expect(forward.statuses()).toEqual([
    {
      name: 'on',
      kind: 'forward',
      isConfigured: true,
      status: {
        sends: 'spans',
        circuit: 'closed',
        fault: undefined,
        retryAtMs: undefined,
        toSend: 0,
        sending: 0,
        oldestAtMs: undefined,
        sentAtMs: undefined,
        lastFailure: undefined,
      },
    },
  ]);
  take();
  clock.advance(5_000);
  take();
  const lastFailure = { atMs: 1_005_000, error: 'status 503', reason: 'http_503', todo: 'The backend has a fault: try again later.' };
  await eventually(() => (forward.statuses()[0]?.status.lastFailure === undefined ? undefined : true), 'a failure');
  expect(forward.statuses()).toMatchObject([
    { status: { fault: 'status 503', toSend: 2, oldestAtMs: 1_000_000, sentAtMs: undefined, lastFailure } },
  ]);
  own.status = 200;
  await eventually(
    () => (forward.statuses().some(({ status }) => status.sends === 'spans' && status.toSend === 0) ? true : undefined),
    'nothing waits',
  );
  expect(forward.statuses()).toMatchObject([
    { status: { fault: undefined, toSend: 0, sending: 0, oldestAtMs: undefined, sentAtMs: 1_005_000, lastFailure } },
  ]);
});

test('forwarding: a removed entry still has a status under its name while spans go, and then none', async () => {
  const { own, settings, forward, take } = await bench();
  take();
  forward.exchange(undefined);
  expect(forward.statuses()).toMatchObject([{ name: 'on', isConfigured: false, status: { toSend: 1 } }]);
  own.status = 200;
  await eventually(() => (forward.statuses().length === 0 ? true : undefined), 'all gone');
  forward.exchange({ ...settings, name: 'again' });
  expect(forward.statuses()).toMatchObject([{ name: 'again', isConfigured: true }]);
});

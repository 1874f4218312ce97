/** An alert of a whole service: from runs over OTLP to a signed message, and over a restart. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished, test } from 'vitest';
import { signatureHeaders } from '../../src/exporters/webhook/webhook.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { eventually, running, sample, type Running } from './running.ts';
import { receiver } from './webhook-receiver.ts';

const secret = 'a-secret-of-at-least-24-bytes';

async function sent(to: Running, runs: number): Promise<void> {
  const start = Date.now() - 60_000;
  const spans = Array.from({ length: runs }, (_, at) => {
    const [trace, id] = [at + 1, (at + 1) * 10];
    const resource = { 'service.name': 'shop', 'service.version': '1.1' };
    return [
      agentSpan({ id, trace, agent: 'support', input: 'Book.', start, end: start + 100, resource }),
      toolSpan({
        id: id + 1,
        parent: id,
        trace,
        start: start + 1,
        end: start + 2,
        tool: 't',
        resource,
        ...(at % 2 === 0 ? { status: 'error', message: 'down' } : { result: 'ok' }),
      }),
    ];
  }).flat();
  await fetch(`${to.otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: writeTraces(spans, 'protobuf'),
  });
}

async function api(of: Running, path: string): Promise<{ readonly [key: string]: unknown }> {
  return (await (await fetch(`${of.console}/api/v1${path}`)).json()) as { readonly [key: string]: unknown };
}

test('alerts: a service informs a webhook once, signed, on the metrics page and over the API; a restart repeats nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-alerts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { url, messages } = await receiver();
  const yaml = `evaluators: [ tool_error ]
export: [ { to: webhook, name: on-call, endpoint: "${url}", secret: "${secret}", private_addresses: true, only: { verdicts: [] } } ]
alerts: [ { name: tools, when: tool_error.rate < 0.9 over 1h, to: [on-call] }, { name: cost, when: cost per run > 1, agent: support } ]
store: { url: "sqlite:${join(folder, 'store.db')}" }
`;
  const first = await running(yaml);
  await sent(first, 40);
  await eventually(
    async () => ((await api(first, '/runs?limit=200'))['runs'] as readonly unknown[]).length === 40 || undefined,
    'the runs',
  );
  await first.stop();
  // The first look comes with the start.
  const second = await running(yaml);
  await eventually(() => messages[0], 'the message');
  const rows = (await eventually(async () => {
    const { alerts } = await api(second, '/alerts');
    return (alerts as readonly JsonObject[])[0]?.['undelivered'] === 0 ? alerts : undefined;
  }, 'the alert, delivered')) as readonly JsonObject[];
  expect(rows).toMatchObject([
    { name: 'tools', agent: 'support', state: 'firing', figure: 0.5, threshold: 0.9, runs: 40, to: ['on-call'], undelivered: 0 },
    { name: 'cost', agent: 'support', state: 'no_data', figure: null, since: expect.any(String) },
  ]);
  const [message] = messages;
  expect(JSON.parse(message?.body ?? '')).toMatchObject({
    type: 'tracejury.alert',
    data: {
      alert: 'tools',
      state: 'firing',
      when: 'tool_error.rate < 0.9 over 1h',
      agent: 'support',
      figure: 0.5,
      explanation: expect.stringMatching(
        /^tool_error has a rate of 50 % over 40 runs of the last 1h, between [\d.]+ % and [\d.]+ % at 99 %: below 90 %\.$/,
      ) as string,
    },
  });
  const { 'webhook-id': id = '', 'webhook-timestamp': at = '' } = message?.headers ?? {};
  expect(message?.headers['webhook-signature']).toBe(
    signatureHeaders({ id: String(id), atSeconds: Number(at), body: message?.body ?? '' }, secret)['webhook-signature'],
  );
  expect(sample(await second.metrics(), 'tracejury_alert_firing_ratio', { tracejury_alert: 'tools' })).toBe(1);
  expect(sample(await second.metrics(), 'tracejury_alert_firing_ratio', { tracejury_alert: 'cost' })).toBeUndefined();
  const { components } = (await api(second, '/openapi.json')) as { readonly components: JsonObject };
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile({ $ref: '#/components/schemas/Alert', components });
  expect(rows.map((row) => validate(row))).toEqual([true, true]);
  await second.stop();
  const third = await running(yaml);
  await eventually(async () => {
    const { alerts } = await api(third, '/alerts');
    return (alerts as readonly JsonObject[])[0]?.['state'] === 'firing' || undefined;
  }, 'the state after a restart');
  await third.stop();
  expect(messages).toHaveLength(1);
});

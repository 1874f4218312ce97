/** A service's answer about its settings, over HTTP: it holds no secret, and no tenant gets it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../../src/model/json.ts';
import { eventually, running, sendAgentRun, type Running } from '../../service/running.ts';

const secrets = ['read-all-0123456789', 'read-own-0123456789', 'sk-judge-0123456789', 'Basic c2VjcmV0OnBhc3M=', 'phoenix-key-012345'];
const [readAll = '', readOwn = '', judgeKey = '', header = '', phoenixKey = ''] = secrets;
const tokens = `[ { name: people, value: ${readAll}, may: [read, operate] }, { name: shop, value: ${readOwn}, may: [read], sees: own } ]`;
const yaml = `
judges:
  main: { base_url: "http://127.0.0.1:9/v1?key=${judgeKey}", model: small, api_key: ${judgeKey} }
export:
  - { to: span_events, endpoint: "http://127.0.0.1:9", headers: { authorization: "${header}" } }
  - { to: phoenix, endpoint: "http://user:${phoenixKey}@127.0.0.1:9", api_key: ${phoenixKey} }
store: { url: "memory:", keep: { runs: 3d } }
`;

let service: Running;
beforeAll(async () => {
  service = await running(yaml, { tokens });
  await sendAgentRun(service.otlp);
});
afterAll(() => service.stop());

async function asked(
  path: string,
  token = readAll,
): Promise<{ readonly status: number; readonly text: string; readonly body: JsonObject }> {
  const response = await fetch(`${service.console}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) as JsonObject };
}

test('settings: the configuration in force, the store, exporters and tokens by name', async () => {
  const { body } = await eventually(async () => {
    const answer = await asked('/settings');
    return (answer.body['storage'] as JsonObject)['runs'] === 1 ? answer : undefined;
  }, 'the run in the store');
  expect(body).toMatchObject({
    file: null,
    configuration: { closing: { settle: '5ms' }, judges: { main: { model: 'small', api_key: '***' } } },
    restart_needed: [],
    refused: [],
    storage: { runs: 1, retention: { runs_seconds: 259_200 } },
    tokens: [
      { name: 'people', rights: ['read', 'operate'], sees: 'all' },
      { name: 'shop', rights: ['read'], sees: 'own' },
    ],
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    node: process.versions.node,
  });
  expect((body['storage'] as JsonObject)['bytes']).toBeGreaterThan(4_096);
  expect((body['exporters'] as readonly JsonObject[]).map(({ name }) => name)).toContain('phoenix');
  expect(Date.parse(String(body['started_at']))).toBeLessThanOrEqual(Date.now());
  expect(Date.parse(String(body['read_at']))).toBeLessThanOrEqual(Date.now());
});

test.each(['/settings', '/notices'])('settings: %s holds no secret, and a token of one tenant gets none of it', async (path) => {
  const all = await asked(path);
  expect(all.status).toBe(200);
  for (const secret of secrets) expect(all.text).not.toContain(secret);
  const own = await asked(path, readOwn);
  expect(own.status).toBe(403);
  expect(own.body).toMatchObject({ error: { code: 'all_tenants' } });
});

test('settings: answers have the form that the OpenAPI document states', async () => {
  const document = (await asked('/openapi.json')).body;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'api');
  for (const path of ['/settings', '/notices']) {
    const place = `api#/paths/${path.replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`;
    const { body } = await asked(path);
    expect([path, ajv.validate({ $ref: place }, body), ajv.errors]).toEqual([path, true, null]);
  }
});

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { evaluators } from '../../evaluators/index.ts';
import { listPrices } from '../../evaluators/pricing/list-prices.ts';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { loadConfigWithFiles, type LoadedConfig } from '../../src/config/load.ts';
import { validators } from '../builders/validators.ts';

const file = fileURLToPath(new URL('../fixtures/config/whole.yaml', import.meta.url));
const text = readFileSync(file, 'utf8');
const env = { TRACEJURY_TOKEN: 's3cret-token-5b1e', OPENAI_API_KEY: 's3cret-key', HOOK: 's3cret-part-of-an-address' };

async function load(yaml: string): Promise<LoadedConfig> {
  return loadConfigWithFiles({ validators, file, text: yaml, env, evaluators });
}

async function refusedKeys(yaml: string): Promise<readonly string[]> {
  try {
    await load(yaml);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ key, problem }) => `${key} ${problem}`);
    throw error;
  }
  return [];
}

/** The same file without what is refused. */
const accepted = text.replace(/^ {2}- to: forward\n(?: {4}.*\n)*/gm, '');

test('config: of a file with every key exactly these are refused', async () => {
  expect(await refusedKeys(text)).toEqual(['export[4] cannot be used with redact']);
});

test('config: without these the file is accepted', async () => {
  const { config } = await load(accepted);
  expect(config.evaluators.map(({ configured }) => [configured.name, configured.evaluator.id])).toEqual([
    ['tool_call_validity', 'tool_call_validity'],
    ['tool_error', 'tool_error'],
    ['booking_path', 'tool_trajectory'],
    ['task_completion', 'task_completion'],
  ]);
  expect(config.evaluators[3]).toMatchObject({
    judge: 'main',
    sampleRate: 0.05,
    raise: [{ when: { kind: 'number', place: { part: 'score', evaluator: 'tool_error' }, sign: '<', value: 1 }, to: 1 }],
  });
  // Only list prices come behind the prices of the file.
  expect(config.prices).toEqual({ ...listPrices, 'gpt-5-mini': { inputPerMillion: 0.25, outputPerMillion: 2, cachedPerMillion: 0.025 } });
  expect(config.judges).toEqual([
    {
      name: 'main',
      baseUrl: 'https://api.openai.com/v1',
      model: 'gpt-5-mini',
      apiKey: 's3cret-key',
      concurrency: 8,
      requestsPerMinute: 300,
      timeoutMs: 60_000,
      cacheMs: 86_400_000,
      price: { inputPerMillion: 0.25, outputPerMillion: 2 },
      budget: { usdPerDay: 20 },
      answerTokensMax: 8_192,
    },
  ]);
  expect(config.listen.tokens.map(({ name, value, may }) => [name, value, may])).toEqual([
    ['agents', 's3cret-token-5b1e', ['ingest']],
    ['people', 's3cret-people-5b1e', ['read', 'annotate']],
  ]);
  expect(config.exporters[2]).toEqual({
    to: 'phoenix',
    name: 'phoenix',
    giveUp: { attempts: 100, ageMs: 604_800_000, missingMs: 300_000 },
    endpoint: 'http://127.0.0.1:6006',
    headers: {},
    keys: { api_key: 's3cret-key' },
  });
  expect(config.listen.tls).toEqual({
    cert: expect.stringMatching(/^-----BEGIN CERTIFICATE-----/),
    key: expect.stringMatching(/^-----BEGIN PRIVATE KEY-----/),
    clientCa: expect.stringMatching(/^-----BEGIN CERTIFICATE-----/),
  });
});

test('config: what is printed of it holds no secret', async () => {
  const printed = stringify((await load(accepted)).printed);
  expect(printed).toContain('api_key: "***"');
  expect(printed).not.toMatch(/s3cret|czNjcmV0/);
  expect(printed).toContain('key_file: ../tls/key.pem');
  expect(printed).not.toContain('PRIVATE KEY');
});

const urls: readonly (readonly [written: string, printed: string])[] = [
  ['https://me:s3cret@backend:4318/base', 'https://***@backend:4318/base'],
  ['https://backend/?key=s3cret', 'https://backend/?***'],
  ['https://backend/plain', 'https://backend/plain'],
  ['https://hooks.example/services/T0000/AbCdEf0123456789AbCdEf01', 'https://hooks.example/services/***/***'],
  ['http://a-name-that-is-longer-than-a-key:4318/v1/', 'http://a-name-that-is-longer-than-a-key:4318/v1/'],
];
for (const [written, printed] of urls) {
  test(`config: the URL ${printed} is printed like this`, async () => {
    const loaded = await load(`export: [ { to: span_events, endpoint: "${written}" } ]`);
    expect(loaded.printed).toMatchObject({ export: [{ endpoint: printed }] });
  });
}

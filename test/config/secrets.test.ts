/** Keys that stand within addresses. */
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { evaluators } from '../../evaluators/index.ts';
import { readConfig } from '../../src/config/load.ts';
import { maskedUrl } from '../../src/config/secrets.ts';
import { stringify } from 'yaml';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { faultsText } from '../../src/cli/input-faults.ts';
import { validators } from '../builders/validators.ts';

/** The addresses are made up; each secret part holds the letters `KEY`, however short it is. */
const addresses: readonly (readonly [url: string, printed: string])[] = [
  ['https://hooks.slack.example/services/T0KEY0001/B0KEY0002/KEYabcdefghijklmnopqrstu', 'https://hooks.slack.example/services/***/***/***'],
  ['https://chat.example/api/webhooks/112233445566778899/KEYabc-def_ghi', 'https://chat.example/api/webhooks/***/***'],
  [
    'https://tenant.teams.example/webhookb2/KEY0a1b2-c3d4-e5f6-0718-293a4b5c6d7e@KEYf0/IncomingWebhook/KEY00112233445566/KEY7',
    'https://tenant.teams.example/webhookb2/***/***/***/***',
  ],
  ['https://events.pager.example/integration/0123KEY456789abcdef/enqueue', 'https://events.pager.example/integration/***/enqueue'],
  ['https://api.telegram.example/bot123456789:KEYabcdefgh-ijk/sendMessage', 'https://api.telegram.example/***/***'],
  [
    'https://flow.example/workflows/KEY12345/triggers/manual/paths/invoke?sig=KEYx&sp=%2F',
    'https://flow.example/workflows/***/triggers/manual/paths/invoke?***',
  ],
  ['https://x.example/v1/traces?key=KEY', 'https://x.example/v1/traces?***'],
  ['https://x.example/v1/traces#token=KEY', 'https://x.example/v1/traces#***'],
  ['https://user:pKEY@x.example/v1', 'https://***@x.example/v1'],
  ['https://user:p@KEY@x.example/v1', 'https://***@x.example/v1'],
  ['https://KEY@x.example', 'https://***@x.example'],
  ['https://x.example/hook/%4B%45%59KEY/y', 'https://x.example/hook/***/y'],
  ['https://x.example/hook;token=KEY', 'https://x.example/***'],
];
const harmless = [
  'http://127.0.0.1:6006',
  'https://api.openai.com/v1',
  'https://generativelanguage.example/v1beta/openai',
  'http://collector:4318/v1/traces',
  'https://x.example/openai/deployments/gpt-4o-mini',
  'https://x.example/api/public/otel/',
  'sqlite:./tracejury-data/tracejury.db',
  'disk:./tracejury-data/journal',
];

for (const [url, printed] of addresses) test(`config: ${url} is printed as ${printed}`, () => expect(maskedUrl(url)).toBe(printed));
for (const url of harmless) test(`config: ${url} is printed unchanged`, () => expect(maskedUrl(url)).toBe(url));

async function read(text: string, env: { readonly [name: string]: string } = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-secrets-'));
  try {
    const file = join(folder, 'tracejury.yaml');
    writeFileSync(file, text);
    return stringify((await readConfig({ validators, file, env, evaluators })).printed, { lineWidth: 0 });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return faultsText(error.faults);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('config: no form of an address shows its key in the effective configuration', async () => {
  for (const [url] of addresses) {
    const printed = await read(
      `judges: { main: { model: m, base_url: "\${env:URL}" } }\nevaluators: [ tool_error, { use: http, name: own, options: { url: "\${env:URL}" } } ]\nexport: [ { to: span_events, endpoint: "\${env:URL}", headers: { x-a: "KEY" } }, { to: webhook, name: hook, endpoint: "\${env:URL}", secret: "KEY4567890123456789012345678901234567890" } ]\n`,
      { URL: url },
    );
    expect(parse(printed)).toMatchObject({ export: [{ to: 'span_events' }, { to: 'webhook' }] });
    expect(printed).not.toContain('KEY');
  }
});

test('config: only the host of a webhook is printed: a key may be a word', async () => {
  const printed = await read(
    'export: [ { to: webhook, endpoint: "https://x.example/hook/opensesame", secret: "0123456789012345678901234567890123456789" } ]\n',
  );
  expect(printed).toContain('endpoint: https://x.example/***');
});

test('config: no excerpt of a faulty file shows the key of an address', async () => {
  for (const [url] of addresses) {
    for (const text of [
      `export: [ { to: webhook, endpoint: "${url}", wrong: 1 } ]\n`,
      `exprot: [ { to: webhook, endpoint: "${url}" } ]\n`,
      `export:\n  - { to: webhook, endpont: ${url} }\n`,
      `export: [ { to: webhook, endpoint: "${url}" \n  bad: [\n`,
    ]) {
      const said = await read(text);
      expect(said).toContain('tracejury.yaml');
      expect(said).not.toContain('KEY');
    }
  }
});

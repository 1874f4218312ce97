/** What does not go with more than one shard. */
import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { loadConfig } from '../../src/config/load.ts';
import { validators } from '../builders/validators.ts';

const judge = 'judges: { main: { base_url: "http://127.0.0.1:9/v1", model: m } }';
const refused = {
  judges: judge,
  'evaluators over HTTP': 'evaluators: [ { use: http, name: own, options: { url: "http://127.0.0.1:9/" } } ]',
  'export to forward': 'export: [ { to: forward, endpoint: "http://127.0.0.1:9" } ]',
  'traces of the service itself': 'telemetry: { traces: { exporter: otlp, endpoint: "http://127.0.0.1:9" } }',
};

function faults(text: string): readonly string[] {
  try {
    loadConfig({ validators, file: 'test.yaml', text, env: {}, evaluators });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map(({ key, problem }) => `${key}: ${problem}`);
  }
}

for (const [what, text] of Object.entries(refused)) {
  test(`config: shards above 1 do not go with ${what}`, () => {
    expect(faults(`shards: 2\n${text}`)).toEqual([`shards: above 1 does not go with ${what}`]);
    expect(faults(`shards: 1\n${text}`)).toEqual([]);
  });
}

test('config: shards are a number of threads, one unless the file says more', () => {
  expect(loadConfig({ validators, file: 'test.yaml', text: '', env: {}, evaluators }).config.shards).toBe(1);
  expect(
    loadConfig({
      validators,
      file: 'test.yaml',
      text: 'shards: 4\nexport: [ { to: span_events, endpoint: "http://127.0.0.1:9" } ]',
      env: {},
      evaluators,
    }).config.shards,
  ).toBe(4);
});

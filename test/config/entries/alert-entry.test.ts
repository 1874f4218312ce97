import { expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/diagnostic.ts';
import { validators } from '../../builders/validators.ts';

const head = [
  'evaluators: [ tool_error, { use: tool_error, name: answer } ]',
  'export: [ { to: webhook, name: on-call, endpoint: "https://hooks.example/x", secret: "a-secret-of-at-least-24-bytes" }, { to: span_events, endpoint: "http://127.0.0.1:6006" } ]',
].join('\n');

function faultsOf(alerts: string): readonly string[] {
  try {
    loadConfig({ validators, file: 'a.yaml', text: `${head}\nalerts:\n${alerts}\n`, env: {}, evaluators });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map(({ line, key, problem, todo }) => `${line} ${key}: ${problem} > ${todo}`);
  }
}

test('alerts in the configuration: are resolved with their defaults', () => {
  const { config } = loadConfig({
    validators,
    file: 'a.yaml',
    text: `${head}\nalerts:\n  - { name: worse, when: tool_error.rate worse than previous version, by: 0.02, to: [on-call] }\n  - { name: burn, when: answer.burn rate, objective: 0.99, agent: support, min_runs: 5, clear: 1h }\n`,
    env: {},
    evaluators,
  });
  expect(config.alerts).toMatchObject([
    {
      name: 'worse',
      condition: { kind: 'worse_than_previous', evaluator: 'tool_error' },
      by: 0.02,
      confidence: 0.99,
      runsMin: 30,
      clearMs: 600_000,
      to: ['on-call'],
    },
    { name: 'burn', condition: { kind: 'burn_rate' }, agent: 'support', objective: 0.99, runsMin: 5, clearMs: 3_600_000, to: [] },
  ]);
});

const cases: readonly (readonly [name: string, alerts: string, faults: readonly RegExp[]])[] = [
  [
    'a condition that is none',
    '  - { name: a, when: tool_error is bad }',
    [/^4 alerts\[0\]\.when: "tool_error is bad" is not a condition > Write one of: NAME\.rate worse than previous version; /],
  ],
  [
    'a comparison that is none',
    '  - { name: a, when: tool_error.rate is low }',
    [/^4 alerts\[0\]\.when: "is low" is not a comparison > Write for example tool_error\.rate < 0\.95 over 1h\.$/],
  ],
  [
    'an unknown evaluator',
    '  - { name: a, when: tool_eror.rate < 0.9 over 1h }',
    [/^4 alerts\[0\]\.when: no evaluator is named tool_eror > Did you mean tool_error\?$/],
  ],
  [
    'an evaluator that is far from all',
    '  - { name: a, when: zzzzzz.rate < 0.9 over 1h }',
    [/no evaluator is named zzzzzz > Write one of tool_error, answer\.$/],
  ],
  [
    'an evaluator that exists and is off',
    '  - { name: a, when: tool_recovery.rate < 0.9 over 1h }',
    [/no evaluator is named tool_recovery > tool_recovery exists but is not on: add it under evaluators\.$/],
  ],
  [
    'a misspelt evaluator that exists and is off',
    '  - { name: a, when: tool_recovry.rate < 0.9 over 1h }',
    [/> Did you mean tool_recovery\? tool_recovery exists but is not on: add it under evaluators\.$/],
  ],
  [
    'an unknown receiver',
    '  - { name: a, when: cost per run > 1, to: [oncall] }',
    [/^4 alerts\[0\]\.to\[0\]: no exporter is named oncall > Did you mean on-call\?$/],
  ],
  [
    'a receiver that is not a webhook',
    '  - { name: a, when: cost per run > 1, to: [span_events] }',
    [/the exporter span_events is not a webhook > Write one of on-call\.$/],
  ],
  [
    'a key without effect',
    '  - { name: a, when: cost per run > 1, by: 0.1 }',
    [/^4 alerts\[0\]\.by: has no effect on this condition > Leave it out: only worse than previous version reads it\.$/],
  ],
  [
    'a burn rate without an objective',
    '  - { name: a, when: tool_error.burn rate }',
    [/^4 alerts\[0\]: lacks objective > Add the share of runs/],
  ],
  [
    'two alerts of one name',
    '  - { name: a, when: cost per run > 1 }\n  - { name: a, when: cost per run > 2 }',
    [/^5 alerts\[1\]\.name: is the same as that of entry 1 > Give every alert a different name\.$/],
  ],
  ['an unknown key', '  - { name: a, when: cost per run > 1, then: tell }', [/^4 alerts\[0\]\.then: is not a known key here/]],
  ['no name', '  - { when: cost per run > 1 }', [/^4 alerts\[0\]: lacks name/]],
];
for (const [name, alerts, wanted] of cases) {
  test(`alerts in the configuration: ${name} is reported with its line, its key and the right form`, () => {
    const faults = faultsOf(alerts);
    expect(faults).toHaveLength(wanted.length);
    for (const [at, pattern] of wanted.entries()) expect(faults[at]).toMatch(pattern);
  });
}

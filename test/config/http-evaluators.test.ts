/** `use: http` in a configuration: what is printed of it, and how often it is asked. */
import { expect, test } from 'vitest';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { stringify } from 'yaml';
import { loadConfig, type LoadedConfig } from '../../src/config/load.ts';
import { members } from './members.ts';
import { validators } from '../builders/validators.ts';

function load(text: string): LoadedConfig {
  return loadConfig({ validators, file: 'a.yaml', text, env: { KEY: 's3cret-key' }, evaluators: members });
}

const entry = (more: string, options = 'url: "http://127.0.0.1:9100/evaluate"'): string =>
  `judges: { main: { model: m } }\nevaluators: [ { use: http, name: politeness, ${more}options: { ${options} } } ]`;

test('http evaluators: header values and the user of the URL are not printed, and what is printed has every option', () => {
  const { printed } = load(
    entry(
      '',
      'url: "https://me:s3cret-p@host/evaluate?key=s3cret-q", headers: { authorization: "Bearer ${env:KEY}", x-team: s3cret-team }, parameters: { tone: formal }',
    ),
  );
  expect(JSON.stringify(printed)).not.toContain('s3cret');
  expect(printed).toMatchObject({
    evaluators: [
      {
        use: 'http',
        name: 'politeness',
        sample: { rate: 1, raise: [] },
        threshold: null,
        options: {
          url: 'https://***@host/evaluate?***',
          headers: { authorization: '***', 'x-team': '***' },
          timeout: '10s',
          concurrency: 8,
          parameters: { tone: 'formal' },
          schema: {},
        },
      },
    ],
  });
});

test('http evaluators: a header that is a number in the environment stays a text', () => {
  const { config } = loadConfig({
    validators,
    file: 'a.yaml',
    text: entry('', 'url: "http://127.0.0.1:1/", headers: { x-key: "${env:KEY}" }'),
    env: { KEY: '007' },
    evaluators: members,
  });
  const [planned] = config.evaluators;
  if (planned?.configured.kind !== 'http') throw new Error('it is not an http evaluator');
  const asked = planned.configured
    .judge(
      {
        status: 'ok',
        toolCalls: [],
        toolDefinitions: [],
        modelCalls: [],
        documents: [],
        reasoningSteps: [],
        subAgents: [],
        toolCallsCarried: true,
      },
      {},
      evaluationContext(),
    )
    .next();
  expect(asked.value).toMatchObject({ kind: 'call', headers: { 'x-key': '007' }, timeoutMs: 10_000 });
});

const rates: readonly { readonly name: string; readonly text: string; readonly rate: number }[] = [
  { name: 'an endpoint whose entry names no rate is asked about every run', text: entry(''), rate: 1 },
  { name: 'the rate of an entry holds for an endpoint', text: entry('sample: { rate: 0.05 }, '), rate: 0.05 },
  { name: 'an entry with only a raised rate keeps the default of its kind', text: entry('sample: { raise: [] }, '), rate: 1 },
  {
    name: 'a judge whose entry names no rate is asked about one run in twenty',
    text: 'judges: { main: { model: m } }\nevaluators: [ { use: task_completion, judge: main } ]',
    rate: 0.05,
  },
  {
    name: 'the rate of an entry holds for a judge',
    text: 'judges: { main: { model: m } }\nevaluators: [ { use: task_completion, judge: main, sample: { rate: 1 } } ]',
    rate: 1,
  },
  { name: 'rules look at every run', text: 'evaluators: [ tool_error ]', rate: 1 },
];
for (const { name, text, rate } of rates) {
  test(`sample rates: ${name}`, () => {
    const { config, printed } = load(text);
    expect(config.evaluators[0]?.sampleRate).toBe(rate);
    expect(load(stringify(printed).replaceAll('***', 'x')).config.evaluators[0]?.sampleRate).toBe(rate);
  });
}

test('http evaluators: several entries are distinguished by their names, and count their runs at a time separately', () => {
  const { config } = load(
    'evaluators: [ { use: http, name: a, options: { url: "http://127.0.0.1:1/", concurrency: 3 } }, { use: http, name: b, threshold: 0.5, options: { url: "http://127.0.0.1:1/" } } ]',
  );
  expect(
    config.evaluators.map(({ configured }) => [
      configured.name,
      configured.kind === 'http' ? configured.concurrency : undefined,
      configured.threshold,
    ]),
  ).toEqual([
    ['a', 3, null],
    ['b', 8, 0.5],
  ]);
});

import { expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { ConfigError } from '../../../src/config/diagnostic.ts';
import { loadConfig, type LoadedConfig } from '../../../src/config/load.ts';
import { validators } from '../../builders/validators.ts';

function load(text: string): LoadedConfig {
  return loadConfig({ validators, file: 'a.yaml', text, env: {}, evaluators });
}

test('dataset rules: a rule has its defaults, and its expression is read once', () => {
  const { config } = load(
    'datasets: [ { name: failures, when: "tool_error < 1" }, { name: b, when: agent = x, sample: 0.2, max: 7, tags: [ t ] } ]',
  );
  expect(config.datasets).toEqual([
    {
      name: 'failures',
      when: { kind: 'number', place: { part: 'score', evaluator: 'tool_error' }, sign: '<', value: 1 },
      sample: 1,
      max: 500,
      tags: [],
    },
    { name: 'b', when: { kind: 'text', place: { part: 'field', field: 'agent' }, sign: '=', text: 'x' }, sample: 0.2, max: 7, tags: ['t'] },
  ]);
  expect(load('').config.datasets).toEqual([]);
});

const judge =
  'judges: { main: { base_url: "http://127.0.0.1:1", model: m } }\nevaluators: [ tool_error, { use: task_completion, judge: main } ]\n';

test('dataset rules: a rule may name a judge and its confidence', () => {
  expect(
    load(`${judge}datasets: [ { name: a, when: "task_completion.confidence < 0.6 or judge.confidence < 0.5" } ]`).config.datasets,
  ).toHaveLength(1);
});

test.each([
  { name: 'no expression', text: 'datasets: [ { name: a } ]', says: /1:13 datasets\[0\]: lacks when/ },
  { name: 'no name', text: 'datasets: [ { when: "tool_error < 1" } ]', says: /datasets\[0\]: lacks name/ },
  {
    name: 'a name that no path can hold',
    text: 'datasets: [ { name: a/b, when: "tool_error < 1" } ]',
    says: /datasets\[0\]\.name: "a\/b" is not a valid name of a dataset/,
  },
  {
    name: 'an unknown evaluator',
    text: 'datasets: [ { name: a, when: "tool_eror < 1" } ]',
    says: /at character 1: tool_eror is not an evaluator of this file[^]*Did you mean tool_error\?/,
  },
  {
    name: 'a confidence of a rule',
    text: 'datasets: [ { name: a, when: "tool_error.confidence < 1" } ]',
    says: /tool_error asks no judge/,
  },
  { name: 'a share above one', text: 'datasets: [ { name: a, when: "tool_error < 1", sample: 20 } ]', says: /datasets\[0\]\.sample/ },
  { name: 'no examples', text: 'datasets: [ { name: a, when: "tool_error < 1", max: 0 } ]', says: /datasets\[0\]\.max/ },
  {
    name: 'two rules of one name',
    text: 'datasets: [ { name: a, when: "tool_error < 1" }, { name: a, when: "tool_error < 1" } ]',
    says: /datasets\[1\]\.name: is the same as that of entry 1[^]*Join the conditions/,
  },
  { name: 'an unknown key', text: 'datasets: [ { name: a, when: "tool_error < 1", limit: 5 } ]', says: /limit/ },
])('dataset rules: $name is a fault with its place', ({ text, says }) => {
  let told = '';
  try {
    load(text);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    told = error.faults.map(({ line, column, key, problem, todo }) => `${line}:${column} ${key}: ${problem} > ${todo}`).join('\n');
  }
  expect(told).toMatch(says);
});

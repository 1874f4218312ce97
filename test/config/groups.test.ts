import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { loadConfig } from '../../src/config/load.ts';
import { validators } from '../builders/validators.ts';

const judge = 'judges: { main: { model: m } }\n';
const rows: readonly (readonly [text: string, want: object | readonly string[]])[] = [
  ['', { taskKey: { kind: 'attribute', key: 'task' }, runsMax: 50, tasksMax: 500, steps: 'tool_calls' }],
  [
    'groups: { task_key: input, runs: 2, tasks: 1, steps: tool_and_model_calls }',
    { taskKey: { kind: 'input' }, runsMax: 2, tasksMax: 1, steps: 'tool_and_model_calls' },
  ],
  ['groups: { task_key: attributes.a.b, success: tool_error }', { taskKey: { kind: 'attribute', key: 'a.b' }, success: 'tool_error' }],
  [`${judge}evaluators: [ { use: task_completion, name: done, judge: main } ]\ngroups: { success: done }`, { success: 'done' }],
  ['groups: { task_key: task }', ['groups.task_key: "task" has the wrong form > Write attributes. and the key of an attribute, or input.']],
  ['groups: { success: tool_eror }', ['groups.success: "tool_eror" is not an evaluator of this file > Did you mean tool_error?']],
  [
    'evaluators: [ { use: tool_error, threshold: null } ]\ngroups: { success: tool_error }',
    ['groups.success: tool_error has no threshold, so it neither passes nor fails > Give it one, or name another evaluator.'],
  ],
  ['groups: { runs: 1 }', ['groups.runs: 1 is out of range > Write a number from 2 to 100.']],
];
for (const [text, want] of rows) {
  test(`config groups: ${text === '' ? 'nothing written' : text.replaceAll('\n', ' ')}`, () => {
    try {
      const { config } = loadConfig({ validators, file: 'a.yaml', text, env: {}, evaluators });
      expect(config.groups).toMatchObject(want);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      expect(error.faults.map(({ key, problem, todo }) => `${key}: ${problem} > ${todo}`)).toEqual(want);
    }
  });
}

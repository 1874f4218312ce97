/** `tracejury evaluators`: what is on, what exists and is off, and what it needs. */
import { expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { command } from '../../builders/command.ts';

test('evaluators: every one is in the list, under whether it is on', async () => {
  const { out } = await command(['evaluators']);
  const [on = '', ...off] = out.split(/^(?=Off, )/m);
  expect(evaluators.filter(({ id, onByDefault }) => !(onByDefault ? on : off.join('')).includes(`\n  ${id} `))).toEqual([]);
});

test.each([
  ['tool_recovery', 'no: add it under evaluators.'],
  ['step_count', 'no: add it under evaluators. It needs options.max.'],
  ['tool_trajectory', 'no: add it under evaluators. It needs expect.tool_calls.'],
  ['qa_correctness', 'no: add it under evaluators. It needs a judge, expect.output.'],
  ['novelty', 'no: add it under evaluators. It needs a learnt process.'],
  ['tool_error', 'yes'],
])('evaluators: the page of %s states what it needs to be on: %s', async (name, text) => {
  const { out } = await command(['evaluators', name]);
  expect(/^ {2}on by default +(.*)$/m.exec(out)?.[1]).toBe(text);
});

import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import type { SkipReason } from '../../../src/model/verdict.ts';
import { lackOf, mainDialect, placesOf, missingDataOf, type Lack } from '../../../src/pipeline/reporting/missing-data.ts';

const lacks: readonly (readonly [reason: SkipReason, lack: Lack | undefined])[] = [
  ['arguments_not_carried', 'tool_arguments'],
  ['results_not_carried', 'tool_results'],
  ['tool_calls_not_carried', 'tool_calls'],
  ['no_tool_definitions', 'tool_definitions'],
  ['no_expectation', 'expectation'],
  ['no_price', 'prices'],
  // A run that called no tool lacks nothing.
  ['no_tool_calls', undefined],
  ['no_errors', undefined],
  ['no_such_target', undefined],
];
for (const [reason, lack] of lacks) {
  test(`remedies: ${reason} lacks ${lack ?? 'nothing'}`, () => {
    expect(lackOf(reason)).toBe(lack);
  });
}

test('remedies: the dialect that the table lists first is the main one, in any order of spans', () => {
  expect(mainDialect({ dialects: ['gen_ai', 'google_adk'] })).toBe('google_adk');
  expect(mainDialect({ dialects: ['tool_attributes', 'gen_ai'] })).toBe('gen_ai');
  expect(mainDialect({ dialects: [] })).toBe('');
  expect(mainDialect({ dialects: ['of_another_version'] })).toBe('');
  expect(mainDialect({ dialects: ['langfuse', 'acme'], configuredDialect: 'acme' })).toBe('acme');
});

test('remedies: the setting is that of the main dialect; places are those of all, the main one’s first', () => {
  const dialects = ['gen_ai', 'crewai'];
  expect(missingDataOf('tool_results', dialects)).toBe(collectors.find(({ id }) => id === 'crewai')?.captureHints?.content);
  const places = placesOf('tool_results', dialects);
  expect(places[0]).toBe('crewai.crew.tasks_output');
  expect(places).toContain('gen_ai.tool.call.result');
});

const carried = [
  'input',
  'final_response',
  'tool_calls',
  'tool_arguments',
  'tool_results',
  'tool_definitions',
] as const satisfies readonly Lack[];
for (const { id } of collectors) {
  test(`remedies: ${id} names the setting for every field`, () => {
    expect(carried.filter((lack) => missingDataOf(lack, [id]) === undefined)).toEqual([]);
  });
}

test('remedies: a missing expectation does not concern the SDK', () => {
  expect(missingDataOf('expectation', ['gen_ai'])).toContain('tracejury.expected');
  expect([missingDataOf('times', ['gen_ai']), placesOf('times', ['gen_ai']), placesOf('expectation', ['gen_ai'])]).toEqual([
    undefined,
    [],
    [],
  ]);
  expect(missingDataOf('tokens', ['gen_ai'])).not.toContain('CAPTURE_MESSAGE_CONTENT');
});

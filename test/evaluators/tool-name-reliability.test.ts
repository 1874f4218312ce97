import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { agentTrace, tool } from '../builders/agent-trace.ts';
import { judged, score } from './score.ts';

const entry = { use: 'tool_name_reliability' };
const named = (...names: readonly string[]) => agentTrace({ toolDefinitions: names.map((name) => tool(name)) });

const rows: readonly { readonly name: string; readonly options?: JsonObject; readonly failed: readonly string[] }[] = [
  { name: 'get_user', failed: [] },
  { name: 'getUser', failed: ['snakecase_format'] },
  { name: 'getUser', options: { style: 'camel_case' }, failed: [] },
  { name: 'get_user', options: { style: 'camel_case' }, failed: ['snakecase_format'] },
  { name: 'get-user', options: { style: 'kebab_case' }, failed: [] },
  { name: 'billing.getUser', options: { style: 'any' }, failed: [] },
  { name: 'a_b_c', options: { max_segments: 3 }, failed: [] },
  { name: 'a_b_c_d', options: { max_segments: 3 }, failed: ['conciseness'] },
  { name: 'getAllOfThem', options: { style: 'camel_case', max_segments: 3 }, failed: ['conciseness'] },
  { name: 'load_from_s3', failed: ['intent_over_implementation'] },
  { name: 'loadFromS3', options: { style: 'camel_case', blocked_phrases: ['from_s3'] }, failed: ['intent_over_implementation'] },
  { name: 'load_from_s3x', failed: [] },
  { name: 'from_s3_load', failed: [] },
  { name: 'load_by_hand', options: { blocked_phrases: ['by_hand'] }, failed: ['intent_over_implementation'] },
  { name: 'mcp__github__get_issue', failed: ['snakecase_format'] },
  { name: 'mcp__github__get_issue', options: { ignore_prefixes: ['mcp__github__'] }, failed: [] },
];
for (const { name, options = {}, failed } of rows) {
  test(`tool_name_reliability: ${name} with ${JSON.stringify(options)} fails ${failed.join(', ') || 'nothing'}`, () => {
    expect(score({ entry: { ...entry, options }, trace: named(name) })).toMatchObject({
      kind: 'scored',
      score: (3 - failed.length) / 3,
      details: { tools: [{ tool: name, failed_checks: failed, skipped_checks: ['clarity', 'name_order'] }] },
    });
  });
}

test('tool_name_reliability: the sentence names the culprits and their checks', () => {
  expect(score({ entry, trace: named('get_user', 'GetUser') })).toMatchObject({
    score: 5 / 6,
    passed: true,
    explanation: '1 of 2 tool definitions fails a check: "GetUser" (snakecase_format).',
  });
  expect(score({ entry, trace: named('get_user') }).explanation).toBe('The tool definition passes every check.');
});

test('tool_name_reliability: without definitions it is skipped, and more than are scored are too large', () => {
  expect(score({ entry, trace: named() })).toMatchObject({ kind: 'skipped', reason: 'no_tool_definitions' });
  const many = Array.from({ length: 501 }, (_, at) => `t${at}`);
  expect(score({ entry, trace: named(...many) })).toMatchObject({ kind: 'skipped', reason: 'too_large' });
  expect(score({ entry, trace: named(...many.slice(1)) })).toMatchObject({ kind: 'scored', score: 1 });
});

const yes = { explanation: 'e', clarity: true, name_order: true, intent_over_implementation: true };
const answered = (value: JsonObject) => ({ kind: 'answered' as const, value, truncated: false });

test('tool_name_reliability: with a judge five checks count, one question a tool', () => {
  const { questions, verdict } = judged({ entry: { ...entry, judge: 'j' }, trace: named('get_user', 'find_it') }, [
    answered(yes),
    answered({ ...yes, clarity: false }),
  ]);
  expect(questions.map(({ data }) => data[0]?.text)).toEqual(['get_user', 'find_it']);
  expect(verdict).toMatchObject({
    score: 0.9,
    details: { judge_calls: 2, tools: [{ failed_checks: [] }, { failed_checks: ['clarity'], explanation: 'e' }] },
  });
});

test('tool_name_reliability: a judge that fails leaves the rules, and the next tool is asked about', () => {
  const { questions, verdict } = judged({ entry: { ...entry, judge: 'j' }, trace: named('getUser', 'find_it') }, [
    { kind: 'failed', error: 'timeout' },
    answered({ ...yes, name_order: false }),
  ]);
  expect(questions).toHaveLength(2);
  expect(verdict).toMatchObject({
    kind: 'scored',
    score: 11 / 15,
    details: {
      judge_calls: 2,
      judge_error: true,
      error: 'timeout',
      tools: [{ skipped_checks: ['clarity', 'name_order'] }, { skipped_checks: [], failed_checks: ['name_order'] }],
    },
  });
  expect(verdict.explanation).toMatch(/the judge gave no usable answer/);
});

test('tool_name_reliability: of many tools as many are asked about as a run may ask', () => {
  const { questions, verdict } = judged(
    { entry: { ...entry, judge: 'j' }, trace: named(...Array.from({ length: 60 }, (_, at) => `t${at}`)) },
    Array.from({ length: 60 }, () => answered(yes)),
  );
  expect(questions).toHaveLength(50);
  expect(verdict).toMatchObject({ score: 1, details: { judge_calls: 50, not_asked: 10 } });
});

test('tool_name_reliability: a verdict that is missing is a fault of the answer', () => {
  const { questions } = judged({ entry: { ...entry, judge: 'j' }, trace: named('a') }, []);
  expect([questions[0]?.check?.(yes), questions[0]?.check?.({ clarity: true })]).toEqual([undefined, 'name_order has no verdict']);
});

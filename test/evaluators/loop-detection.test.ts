import fc from 'fast-check';
import { expect, test } from 'vitest';
import { repeatedCycles } from '../../evaluators/repeated-calls.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const entry = { use: 'loop_detection' };
const get = (u: string, at: number, result: JsonValue = 'ok') => call({ name: 'get', arguments: { u }, result, spanId: spanId(at + 1) });
const calls = (letters: string) => agentTrace({ toolCalls: [...letters].map((u, at) => get(u, at)) });

const rows = [
  {
    name: 'different calls are not a loop',
    letters: 'abcd',
    options: {},
    want: { score: 1, passed: true, explanation: 'No loop in 4 tool calls.' },
  },
  { name: 'twice in a row is not yet a loop', letters: 'aab', options: {}, want: { score: 1 } },
  {
    name: 'three times in a row is one',
    letters: 'baaa',
    options: {},
    want: {
      score: 0.25,
      evidence: [spanId(2), spanId(3), spanId(4)],
      details: { looped: 3, loops: [{ first_index: 1, period: 1, length: 3, repeats: 3 }] },
      parts: [{ passed: true }, { passed: false }, { passed: false }, { passed: false }],
    },
  },
  {
    name: 'a loop may have a period',
    letters: 'xabababy',
    options: {},
    want: { score: 0.25, explanation: '6 of 8 tool calls are in loops: get – get 3 times in a row from call 2 on.' },
  },
  {
    name: 'a round that is not complete belongs to the loop',
    letters: 'abababa',
    options: {},
    want: { score: 0, details: { loops: [{ length: 7, repeats: 3 }] } },
  },
  { name: 'the number of repeats is an option', letters: 'abab', options: { min_repeats: 2 }, want: { score: 0 } },
  { name: 'longer periods than the limit are not looked for', letters: 'abcabcabc', options: { period_max: 2 }, want: { score: 1 } },
  {
    name: 'two loops are both found',
    letters: 'aaabbb',
    options: {},
    want: { score: 0, details: { loops: [{ first_index: 0 }, { first_index: 3 }] } },
  },
  {
    name: 'the same calls twice over are one loop, of the shortest period',
    letters: 'aaaaaa',
    options: {},
    want: { details: { loops: [{ period: 1, length: 6 }] } },
  },
  {
    name: 'a loop inside the round of another is not named besides',
    letters: 'aaabaaabaaab',
    options: {},
    want: { details: { loops: [{ period: 4, length: 12 }] } },
  },
  { name: 'only names may count', letters: 'abc', options: { compare_arguments: false }, want: { score: 0 } },
] as const;
for (const { name, letters, options, want } of rows) {
  test(`loop_detection: ${name}`, () => {
    expect(score({ entry: { ...entry, options: { ...options } }, trace: calls(letters) })).toMatchObject({ kind: 'scored', ...want });
  });
}

test('loop_detection: polling until something changes is not a loop when results count', () => {
  const trace = agentTrace({ toolCalls: ['1 %', '50 %', '99 %'].map((result, at) => get('a', at, result)) });
  expect(score({ entry, trace })).toMatchObject({ score: 0 });
  expect(score({ entry: { ...entry, options: { compare_results: true } }, trace })).toMatchObject({ score: 1 });
});

test('loop_detection: every call in a loop occurs in it at least min_repeats times', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 40 }), fc.integer({ min: 2, max: 4 }), (classes, minRepeats) => {
      const cycles = repeatedCycles(classes, { periodMax: 5, minRepeats });
      for (const { start, period, length } of cycles) {
        expect(length).toBeGreaterThanOrEqual(period * minRepeats);
        for (let at = start + period; at < start + length; at++) expect(classes[at]).toBe(classes[at - period]);
      }
      const found = (at: number): boolean => cycles.some(({ start, length }) => start <= at && at < start + length);
      for (let at = 0; at + minRepeats <= classes.length; at++) {
        if (classes.slice(at, at + minRepeats).every((one) => one === classes[at])) expect(found(at)).toBe(true);
      }
    }),
  );
});

const skips = [
  { name: 'nothing ran', trace: agentTrace({ toolCalls: [call({ executed: false })] }), options: {}, reason: 'no_tool_calls' },
  { name: 'the spans carry no calls', trace: agentTrace({ toolCallsCarried: false }), options: {}, reason: 'tool_calls_not_carried' },
  {
    name: 'arguments of repeated calls are not carried',
    trace: agentTrace({ toolCalls: [call(), call(), call({ arguments: undefined })] }),
    options: {},
    reason: 'arguments_not_carried',
  },
  {
    name: 'results count and are not carried',
    trace: agentTrace({ toolCalls: [call(), call(), call({ result: undefined })] }),
    options: { compare_results: true },
    reason: 'results_not_carried',
  },
] as const;
for (const { name, trace, options, reason } of skips) {
  test(`loop_detection: it is skipped when ${name}`, () => {
    expect(score({ entry: { ...entry, options: { ...options } }, trace })).toMatchObject({ kind: 'skipped', reason });
  });
}

test('loop_detection: takes a run of 48,000 calls with 12,000 loops and lists a hundred', () => {
  const toolCalls = Array.from({ length: 48_000 }, (_, at) => call({ name: `t${Math.floor(at / 4)}` }));
  const verdict = score({ entry: { ...entry, options: { period_max: 50 } }, trace: agentTrace({ toolCalls }) });
  expect(verdict).toMatchObject({
    score: 0,
    details: { looped: 48_000, loops_left_out: 11_900, parts_left_out: { failed: 47_000, passed: 0 } },
  });
});

test('loop_detection: names may be normalised', () => {
  const trace = agentTrace({ toolCalls: ['agent_a1b2', 'agent_c3d4', 'agent_e5f6'].map((name) => call({ name })) });
  expect(score({ entry, trace })).toMatchObject({ score: 1 });
  expect(score({ entry: { ...entry, options: { normalize_tool_names: true } }, trace })).toMatchObject({ score: 0 });
});

import { expect, test } from 'vitest';
import { firstFailure, laterFailuresMax } from '../../src/analytics/first-failure.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { StoredVerdict } from '../../src/model/store/store.ts';

const call = (at: number, outcome = 'returned'): JsonObject => ({ name: `tool-${at}`, span_id: `span-${at}`, outcome });
const calls = (count: number, failed: readonly number[] = []): JsonObject => ({
  tool_calls: Array.from({ length: count }, (_, at) => call(at, failed.includes(at) ? 'failed' : 'returned')),
});

function verdict(
  name: string,
  given: { readonly parts?: readonly JsonObject[]; readonly evidence?: readonly string[]; readonly passes?: boolean },
) {
  return {
    name,
    evaluator: name,
    version: 1,
    revision: 1,
    verdict: given.passes === true ? 'pass' : 'fail',
    score: 0,
    label: '',
    explanation: '',
    reason: undefined,
    evidence: given.evidence ?? [],
    details: given.parts === undefined ? {} : { parts: [...given.parts] },
    sampleProbability: 1,
  } satisfies StoredVerdict;
}

const part = (index: number, more: JsonObject = {}): JsonObject => ({ index, passed: false, tool: '', ...more });

test.each([
  { name: 'a failed call', content: calls(4, [2]), verdicts: [], first: 2, evaluators: [], later: [] },
  {
    name: 'a part of a failed verdict',
    content: calls(4, [2]),
    verdicts: [verdict('validity', { parts: [part(0, { passed: true }), part(1)] })],
    first: 1,
    evaluators: ['validity'],
    later: [2],
  },
  {
    name: 'evidence without parts',
    content: calls(3),
    verdicts: [verdict('judge', { evidence: ['span-2', 'of a model'] })],
    first: 2,
    evaluators: ['judge'],
    later: [],
  },
  {
    name: 'two verdicts about one call',
    content: calls(3, [1]),
    verdicts: [verdict('validity', { parts: [part(1)] }), verdict('tool_error', { evidence: ['span-1'] })],
    first: 1,
    evaluators: ['validity', 'tool_error'],
    later: [],
  },
])('firstFailure: $name', ({ content, verdicts, first, evaluators, later }) => {
  const found = firstFailure({ content, verdicts });
  expect(found).toMatchObject({ call: first, tool: `tool-${first}`, spanId: `span-${first}`, evaluators });
  expect(found?.later.map((step) => step.call)).toEqual(later);
});

test.each([
  { name: 'nothing failed', content: calls(2), verdicts: [verdict('validity', { passes: true, parts: [part(0)] })] },
  { name: 'the evidence is every call', content: calls(2), verdicts: [verdict('judge', { evidence: ['span-0', 'span-1'] })] },
  { name: 'a part is of another kind', content: calls(2), verdicts: [verdict('judge', { parts: [part(0, { of: 'model_call' })] })] },
  { name: 'there is no content', content: undefined, verdicts: [verdict('validity', { parts: [part(0)] })] },
])('firstFailure: none when $name', ({ content, verdicts }) => {
  expect(firstFailure({ content, verdicts })).toBeUndefined();
});

test('firstFailure: later steps are bounded', () => {
  const all = Array.from({ length: 50 }, (_, at) => at);
  const found = firstFailure({ content: calls(50, all), verdicts: [] });
  expect(found?.later).toHaveLength(laterFailuresMax);
  expect(found?.laterLeftOut).toBe(49 - laterFailuresMax);
});

/** A written experiment is read again, and distinguished from everything else. */
import { expect, test } from 'vitest';
import { experimentFileJson, readExperimentFile } from '../../src/analytics/experiment-json.ts';
import { experimentSummary } from '../../src/analytics/experiment-summary.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { jsonText, parseJson } from '../../src/model/json.ts';
import { spanId } from '../builders/agent-trace.ts';
import { experimentOf, resultOf, verdictOf } from '../builders/experiment.ts';
import { traceId } from '../stores/numbered.ts';

test('experiment json: an experiment with its results is read as written', () => {
  const experiment = experimentOf();
  const results = [
    resultOf('one', [verdictOf('pass'), verdictOf('skipped', { reason: 'no_input' })], {
      run: { traceId: traceId(1), spanId: spanId(1) },
      inputTokens: 3,
      outputTokens: 4,
      cost: 0.25,
      agent: { agent: 'a', version: '1', model: 'm', promptHash: 'p', toolsHash: 't' },
    }),
    resultOf('three', [verdictOf('fail', { faults: [{ tool: 'book', signature: 'timeout' }] })]),
    resultOf('two', [], { status: 'failed', error: { kind: 'timed_out', message: 'It was too slow.' } }),
  ];
  const written = jsonText(experimentFileJson({ experiment, results }, experimentSummary(experiment, results)));
  expect(readExperimentFile(parseJson(written) ?? null)).toEqual({ experiment, results });
});

const faulty: readonly { readonly name: string; readonly value: JsonValue; readonly says: string }[] = [
  { name: 'a list', value: [], says: 'experiment and results' },
  { name: 'a report of eval', value: { passed: true, results: [] }, says: 'experiment and results' },
  { name: 'an experiment without an id', value: { experiment: { name: 'n' }, results: [] }, says: 'no id and name' },
  { name: 'an id that is a path', value: { experiment: { id: '../x', name: 'n' }, results: [] }, says: 'no id and name' },
  {
    name: 'a result without verdicts',
    value: { experiment: { id: 'e', name: 'n' }, results: [{ example_id: 'x', repeat: 1, status: 'passed' }] },
    says: 'results[0]',
  },
];

for (const { name, value, says } of faulty) {
  test(`experiment json: ${name} is refused`, () => {
    expect(readExperimentFile(value)).toContain(says);
  });
}

test('experiment json: unknown members and words of a later release are left out', () => {
  const read = readExperimentFile({
    experiment: { id: 'e', name: 'n', state: 'paused', evaluators: [1], more: true },
    results: [
      {
        example_id: 'x',
        repeat: 1,
        status: 'passed',
        verdicts: [
          { name: 'a', verdict: 'maybe' },
          { name: 'b', verdict: 'pass' },
        ],
      },
    ],
  });
  expect(read).toMatchObject({ experiment: { state: 'stopped', evaluators: [] }, results: [{ verdicts: [{ name: 'b' }] }] });
});

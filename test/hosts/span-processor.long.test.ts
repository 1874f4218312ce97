/** A fourth host: spans that end in the agent's own process get the verdicts of the service, byte for byte. */
import { join } from 'node:path';
import type { ConfiguredRule } from '../../evaluators/configuration/configured.ts';
import { readExpectation } from '../../evaluators/expectation/expectation.ts';
import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { factory } from '../../src/library/evaluators.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { jsonText, type JsonValue } from '../../src/model/json.ts';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import { processScoring } from '../../src/span-processor/scoring.ts';
import { contentsOf, play, recordingsIn } from '../recordings/read.ts';
import { manualTimers } from '../span-processor/manual-timers.ts';
import { keptSpans, readableOf } from '../span-processor/sdk-spans.ts';
import { ruleEntries } from './entries.ts';

const rules = ruleEntries.map(({ use, options, expect: expected }): ConfiguredRule => {
  const member = evaluators.find(({ id }) => id === use);
  if (member === undefined) throw new Error(`there is no ${use}`);
  const configured = factory(member)(options ?? {}, expected === undefined ? {} : { expect: readExpectation(expected).expectation });
  if (configured.kind !== 'rule') throw new Error(`${use} is not a rule`);
  return configured;
});

/** The SDK has no log records. */
const recordings = recordingsIn(join(import.meta.dirname, '../fixtures/recordings')).filter(({ expected }) =>
  expected.files.every(({ kind }) => kind === 'traces'),
);

test('hosts: there are recordings enough for the span processor', () => {
  expect(recordings.length).toBeGreaterThan(100);
});

const placeOf = ({ traceId, spanId }: Run): string => `${traceId}/${spanId}`;
const textOf = (value: unknown): string => jsonText((value ?? null) as JsonValue, { sortKeys: true });

test('hosts: in every recording the span processor has the runs and the verdicts of the service', async () => {
  for (const recording of recordings) {
    const wanted = new Map(play(recording).runs.map((run) => [placeOf(run), run]));
    const { exporter } = keptSpans();
    const time = manualTimers();
    const last = new Map<string, ScoredRun>();
    const scoring = processScoring({ exporter, evaluators: rules, onScored: (item) => void last.set(placeOf(item.run), item) }, time);
    for (const span of contentsOf(recording).spans) scoring.ended(readableOf(span));
    await time.advance(700_000);
    expect([recording.name, [...last.keys()].toSorted()]).toEqual([recording.name, [...wanted.keys()].toSorted()]);
    for (const [place, { evaluations, run }] of last) {
      if (run.partOf !== undefined) continue;
      const whole = wanted.get(place) ?? run;
      const context = evaluationContext();
      const verdicts = rules.map((rule) => rule.evaluate(whole.trace, {}, context, whole));
      expect([recording.name, place, textOf(evaluations.map(({ verdict }) => verdict))]).toEqual([recording.name, place, textOf(verdicts)]);
    }
    expect([recording.name, scoring.stats().faults]).toEqual([recording.name, 0]);
  }
});

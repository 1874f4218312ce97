/** The attributes of a carrier as OpenInference's page on annotations has them. */
import { expect, test } from 'vitest';
import { evaluationSpanOf } from '../../../src/exporters/otlp/evaluation-span.ts';
import type { Evaluation, Verdict } from '../../../src/model/verdict.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { evaluation, failed, run, scored, skipped } from '../../builders/scored-run.ts';

test('open-inference: annotations are counted without a gap, those of a session by themselves, and each has a name and a result', () => {
  const of = run({ trace: agentTrace({ agent: 'travel-agent', sessionId: 's-1' }) });
  const named = (name: string, verdict: Verdict) => evaluation(name, verdict, of);
  const ofSession = (name: string): Evaluation => ({
    ...named(name, scored(1)),
    key: { tenant: of.tenant, targetKind: 'session', targetId: 's-1', name },
  });
  const all: { readonly [key: string]: unknown } =
    evaluationSpanOf(
      {
        run: of,
        evaluations: [
          named('broken', failed()),
          named('first', scored(0.5, { label: '', explanation: '' })),
          ofSession('held'),
          named('skip', skipped),
          named('second', scored(1)),
          ofSession('kept'),
        ],
        decisions: [],
      },
      'full',
    )?.attributes ?? {};
  const heads = Object.entries(all).flatMap(([key, value]) => (key.endsWith('.evaluation.name') ? [[key, value]] : []));
  expect(heads).toEqual([
    ['evaluations.0.evaluation.name', 'first'],
    ['session.evaluations.0.evaluation.name', 'held'],
    ['evaluations.1.evaluation.name', 'second'],
    ['session.evaluations.1.evaluation.name', 'kept'],
  ]);
  expect(all).toMatchObject({ 'session.id': 's-1', 'session.evaluations.0.evaluation.score': 1 });
  expect(
    Object.keys(all)
      .filter((key) => key.startsWith('evaluations.0.'))
      .map((key) => key.split('.').at(-1)),
  ).toEqual(['name', 'score', 'annotator_kind', 'identifier', 'metadata']);
  expect(JSON.parse(String(all['evaluations.0.evaluation.metadata']))).toEqual({
    'tracejury.evaluator.id': 'first',
    'tracejury.evaluator.version': 1,
    'tracejury.revision': 1,
    'tracejury.completeness': 'complete',
    'tracejury.sample.probability': 1,
    'tracejury.threshold': 0.5,
    'tracejury.passed': true,
  });
});

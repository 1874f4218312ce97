/** Experiments and results that tests are about. */
import type { Experiment, ExperimentResult, ResultVerdict } from '../../src/model/experiment.ts';
import { noTenant } from '../../src/model/ids.ts';

export function experimentOf(given: Partial<Experiment> = {}): Experiment {
  return {
    id: 'e1',
    tenant: noTenant,
    name: 'nightly',
    dataset: { name: 'refunds', version: 3, hash: 'abc', examples: 2 },
    repeats: 1,
    state: 'done',
    beganAt: 1_700_000_000_000_000,
    endedAt: 1_700_000_001_000_000,
    provenance: { commit: '1f2e3d4c5b6a79881f2e', branch: 'main', isDirty: false, configHash: 'c1', environment: { node: '24' } },
    evaluators: [{ name: 'tool_error', evaluator: 'tool_error', version: 1, threshold: 1 }],
    ...given,
  };
}

export function verdictOf(verdict: ResultVerdict['verdict'], given: Partial<ResultVerdict> = {}): ResultVerdict {
  const score = verdict === 'pass' ? 1 : verdict === 'fail' ? 0 : undefined;
  return {
    name: 'tool_error',
    evaluator: 'tool_error',
    verdict,
    ...(score === undefined ? {} : { score }),
    label: verdict,
    explanation: `It is ${verdict}.`,
    ...given,
  };
}

export function resultOf(exampleId: string, verdicts: readonly ResultVerdict[], given: Partial<ExperimentResult> = {}): ExperimentResult {
  return {
    exampleId,
    repeat: 1,
    status: 'passed',
    beganAt: 1_700_000_000_000_000,
    endedAt: 1_700_000_000_500_000,
    tookMicros: 400_000,
    agent: { agent: 'support', model: 'm' },
    verdicts,
    ...given,
  };
}

/** Words of people and programs about the runs, with a hostile text in every field: annotations, examples, queues and experiments. */
import { type Experiment, type ExperimentResult, isExperimentId } from '../../../../src/model/experiment.ts';
import { noTenant, parseSpanId, parseTraceId } from '../../../../src/model/ids.ts';
import { openExperimentStore } from '../../../../src/stores/library.ts';
import { payloads } from './payloads.ts';
import type { HostileRun } from './spans.ts';

/** Fields that are not those of spans. As with spans, run `r` has payload `r + n` in the field at place `n`. */
export const saidFields = [
  'label_name',
  'label_value',
  'label_by',
  'label_explanation',
  'queue_note',
  'queue_person',
  'skip_reason',
  'experiment_name',
  'experiment_dataset',
  'experiment_commit',
  'experiment_branch',
  'experiment_environment',
  'evaluator_name',
  'example_id',
  'example_input',
  'example_error',
  'verdict_label',
  'verdict_explanation',
  'verdict_reason',
  'result_agent',
  'result_version',
  'result_model',
] as const;

export type SaidField = (typeof saidFields)[number];

/** The text of a field about run `nth`, no longer than the field takes. */
export function saidText(nth: number, field: SaidField, charsMax = 200): string {
  const payload = payloads[(nth + saidFields.indexOf(field)) % payloads.length];
  return (payload?.text ?? '').slice(0, charsMax);
}

/** Names that the pattern of names allows and that objects of a program have already. */
export const hostileNames = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '-', '_'] as const;

/** Queues with such names, and one whose questions have hostile texts. YAML reads JSON. */
export function hostileConfiguration(): string {
  const values = payloads.slice(0, 9).map(({ text }) => text.slice(0, 200));
  const ask = [
    { label: payloads[13]?.text, values },
    { text: payloads[30]?.text },
    { score: payloads[60]?.text },
    { evaluator: 'tool_error' },
  ];
  const queues = [
    { name: 'hostile', ask, blind: false },
    ...hostileNames.map((name) => ({ name, ask: [{ label: name, values: ['a', name] }] })),
  ];
  return `queues: ${JSON.stringify(queues)}`;
}

/** One experiment with one result for each run. They are written as a program writes them, which no rule of the API restrains. */
export async function hostileExperiments(storeFile: string, runs: readonly HostileRun[], atMs: number): Promise<readonly string[]> {
  const { experiments, stop } = await openExperimentStore(`sqlite:${storeFile}`);
  const ids: string[] = [];
  try {
    for (const [nth, { trace }] of runs.entries()) {
      const experiment = experimentAbout(nth, atMs);
      const outcome = await experiments.begin({ ...experiment, state: 'running', endedAt: undefined });
      if (outcome !== 'begun') throw new Error(`the store answers ${outcome} to an experiment`);
      await experiments.add(experiment, resultAbout(nth, { trace, atMs }));
      await experiments.update(experiment, { state: 'done', endedAt: experiment.endedAt });
      ids.push(experiment.id);
    }
  } finally {
    await stop();
  }
  return ids;
}

function experimentAbout(nth: number, atMs: number): Experiment {
  const id = hostileNames[nth] ?? `e-${nth}`;
  return {
    id: isExperimentId(id) ? id : `e-${nth}`,
    tenant: noTenant,
    name: saidText(nth, 'experiment_name'),
    dataset: { name: saidText(nth, 'experiment_dataset'), hash: '0'.repeat(64), examples: 1 },
    repeats: 1,
    state: 'done',
    beganAt: (atMs + nth) * 1_000,
    endedAt: (atMs + nth + 1) * 1_000,
    provenance: {
      commit: saidText(nth, 'experiment_commit'),
      branch: saidText(nth, 'experiment_branch'),
      environment: { [saidText(nth, 'experiment_environment', 100)]: saidText(nth, 'experiment_environment') },
    },
    evaluators: [
      { name: saidText(nth, 'evaluator_name'), evaluator: saidText(nth, 'evaluator_name'), version: 1, threshold: 0.5 },
      { name: 'tool_error', evaluator: 'tool_error', version: 1, threshold: 1 },
    ],
  };
}

function resultAbout(nth: number, { trace, atMs }: { readonly trace: number; readonly atMs: number }): ExperimentResult {
  const [traceId, spanId] = [parseTraceId(trace.toString(16).padStart(32, '0')), parseSpanId('1'.padStart(16, '0'))];
  return {
    // Two experiments that are compared have examples in common.
    exampleId: nth % 3 === 0 ? 'shared' : saidText(nth, 'example_id'),
    repeat: 1,
    status: nth % 2 === 0 ? 'failed' : 'passed',
    input: saidText(nth, 'example_input'),
    ...(nth % 2 === 0 ? { error: { kind: 'task_failed', message: saidText(nth, 'example_error', 1_000) } as const } : {}),
    ...(traceId === undefined || spanId === undefined ? {} : { run: { traceId, spanId } }),
    beganAt: atMs * 1_000,
    endedAt: (atMs + 1) * 1_000,
    tookMicros: 1_000,
    agent: {
      agent: saidText(nth, 'result_agent'),
      version: saidText(nth, 'result_version'),
      model: saidText(nth, 'result_model'),
    },
    verdicts: [
      {
        name: saidText(nth, 'evaluator_name'),
        evaluator: saidText(nth, 'evaluator_name'),
        verdict: nth % 2 === 0 ? 'fail' : 'skipped',
        ...(nth % 2 === 0 ? { score: 0 } : {}),
        label: saidText(nth, 'verdict_label'),
        explanation: saidText(nth, 'verdict_explanation', 1_000),
        ...(nth % 2 === 0 ? {} : { reason: saidText(nth, 'verdict_reason') }),
      },
      {
        name: 'tool_error',
        evaluator: 'tool_error',
        verdict: nth % 2 === 0 ? 'fail' : 'pass',
        score: nth % 2,
        label: 'x',
        explanation: 'x',
      },
    ],
  };
}

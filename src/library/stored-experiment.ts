/** Writes an experiment of a program into a store, so that it is listed and compared like those of the command line. */
import { createHash, randomBytes } from 'node:crypto';
import { agentFacts, experimentEvaluator, inputExcerpt, resultVerdict, textsOf, usageOf } from '../pipeline/reporting/experiment-result.ts';
import type { ConfiguredEvaluator } from '../../evaluators/configuration/configured.ts';
import { type Experiment, type ExperimentResult, newExperimentId } from '../model/experiment.ts';
import { noTenant } from '../model/ids.ts';
import { addResult, type ExperimentStore } from '../model/store/experiment-store.ts';
import type { ExampleResult } from './report.ts';

/** The store that `tracejury/store` opens. */
export interface ExperimentSink {
  readonly experiments: Pick<ExperimentStore, 'begin' | 'update' | 'add'>;
}

interface StoredWith {
  readonly store: ExperimentSink;
  readonly name: string;
  /** The program's dataset, to compare those of two experiments. */
  readonly examples: readonly { readonly id: string; readonly content: unknown }[];
  readonly evaluators: readonly ConfiguredEvaluator[];
}

export interface StoredExperiment {
  readonly id: string;
  add(result: ExampleResult, times: { readonly beganMs: number; readonly endedMs: number }): Promise<void>;
  end(state: 'done' | 'stopped'): Promise<void>;
}

const randomIdBytes = 3;

/** Rejects when the store has no room. */
export async function storedExperiment({ store: { experiments }, name, examples, evaluators }: StoredWith): Promise<StoredExperiment> {
  const experiment: Experiment = {
    id: newExperimentId(name, nowMicros(), randomBytes(randomIdBytes).toString('hex')),
    tenant: noTenant,
    name,
    dataset: { name, hash: hashOf(examples), examples: examples.length },
    repeats: 1,
    state: 'running',
    beganAt: nowMicros(),
    endedAt: undefined,
    provenance: { environment: { node: process.versions.node, platform: `${process.platform}-${process.arch}` } },
    evaluators: evaluators.map(experimentEvaluator),
  };
  if ((await experiments.begin(experiment)) !== 'begun')
    throw new Error('The store has no room for another experiment. Delete one with tracejury experiment delete.');
  return {
    id: experiment.id,
    async add(result, times) {
      await addResult(experiments, experiment, resultOf(result, times));
    },
    async end(state) {
      await experiments.update(experiment, { state, endedAt: nowMicros() });
    },
  };
}

function nowMicros(): number {
  return Date.now() * 1_000;
}

function hashOf(examples: StoredWith['examples']): string {
  const lines = examples.map(({ id, content }) => {
    try {
      return JSON.stringify([id, content], (_key, value: unknown) =>
        typeof value === 'bigint' || typeof value === 'function' ? String(value) : value,
      );
    } catch {
      // An input may be any value of the program, such as one that contains itself.
      return id;
    }
  });
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}

function resultOf(
  { id, input, status, error, trace, verdicts }: ExampleResult,
  { beganMs, endedMs }: { readonly beganMs: number; readonly endedMs: number },
): ExperimentResult {
  const [start, end] = [trace?.startUnixNano, trace?.endUnixNano];
  return {
    exampleId: id,
    repeat: 1,
    status,
    ...(typeof input === 'string' ? { input: inputExcerpt(input) } : {}),
    ...(trace === undefined ? {} : textsOf(trace, typeof input === 'string' ? input : '')),
    ...(error === undefined ? {} : { error }),
    beganAt: Math.round(beganMs * 1_000),
    endedAt: Math.round(endedMs * 1_000),
    tookMicros: start === undefined || end === undefined ? Math.round((endedMs - beganMs) * 1_000) : Number((end - start) / 1_000n),
    ...(trace === undefined ? {} : usageOf([trace], {})),
    agent: trace === undefined ? {} : agentFacts({ trace }),
    verdicts: verdicts.map(resultVerdict),
  };
}

/** The examples of an experiment: those of a file, or of a version of a stored dataset. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import type { EvaluatorConfig } from '../../config/config.ts';
import { datasetHash } from '../../datasets/dataset-hash.ts';
import { exampleJson } from '../../datasets/example-json.ts';
import type { ExperimentDataset } from '../../model/experiment.ts';
import type { Tenant } from '../../model/ids.ts';
import { type JsonObject, type JsonValue, member } from '../../model/json.ts';
import type { Store } from '../../model/store/store.ts';
import { UsageError } from '../command.ts';
import { parseReference, wholeDataset } from '../dataset/stored-dataset.ts';
import { datasetOf, readDataset } from '../eval/dataset.ts';
import type { FileExample } from '../eval/scoring.ts';

export interface RunnableExample extends FileExample {
  readonly inputValue: JsonValue;
  /** Limit of one run; absent: that of the experiment. */
  readonly timeoutMs?: number;
}

export interface RunnableDataset {
  readonly facts: ExperimentDataset;
  readonly examples: readonly RunnableExample[];
  /** Examples whose expectation no one has reviewed. */
  readonly drafts: number;
}

interface DatasetOptions {
  readonly store: Pick<Store, 'datasets'>;
  readonly tenant: Tenant;
  readonly members: readonly AnyEvaluator[];
  readonly shared: JsonObject;
  readonly plan: readonly EvaluatorConfig[];
  readonly judges: readonly string[];
}

/** A file when there is one with this path, else NAME or NAME@VERSION of a stored dataset. */
export async function runnableDataset(reference: string, options: DatasetOptions): Promise<RunnableDataset> {
  const named = existsSync(reference) ? undefined : parseReference(reference);
  if (named === undefined || /\.(?:ya?ml|jsonl?|ndjson)$/i.test(reference))
    return runnable({ name: basename(reference) }, reference, readDataset(reference, options));
  const { name, version } = named;
  const found = await wholeDataset(options.store.datasets, { key: { tenant: options.tenant, name }, version });
  const where = `${name}@${found.version}`;
  return runnable({ name, version: found.version }, where, datasetOf(`dataset ${where}`, found.examples.map(exampleJson), options));
}

function runnable(facts: Pick<ExperimentDataset, 'name' | 'version'>, where: string, read: readonly FileExample[]): RunnableDataset {
  if (read.length === 0) throw new UsageError(`The dataset ${where} has no example.`);
  const without = read.find(({ given }) => member(given, 'input') === undefined);
  if (without !== undefined)
    throw new UsageError(`The example ${JSON.stringify(without.id)} of ${where} has no input. Add one: an agent needs it.`);
  return {
    facts: { ...facts, hash: datasetHash(read), examples: read.length },
    drafts: read.filter(({ isDraft }) => isDraft).length,
    examples: read.map((example) => {
      const timeout = member(example.given, 'timeout_seconds');
      return {
        ...example,
        inputValue: member(example.given, 'input') ?? null,
        ...(typeof timeout === 'number' && timeout > 0 ? { timeoutMs: timeout * 1_000 } : {}),
      };
    }),
  };
}

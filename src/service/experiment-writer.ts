/** Runs whose spans name an experiment become its results: each verdict as the service has it, also those of judges that come later. */
import type { PriceTable } from '../../evaluators/pricing/prices.ts';
import type { Run } from '../model/agent-trace.ts';
import { wire } from '../model/attributes.ts';
import { type Experiment, type ExperimentResult, isExperimentId, statusOfResult } from '../model/experiment.ts';
import { member } from '../model/json.ts';
import type { ScoredRun } from '../model/scored-run.ts';
import { shares } from '../model/shares.ts';
import { isDatasetName } from '../model/store/dataset-store.ts';
import type { AddedResult, ExperimentKey } from '../model/store/experiment-store.ts';
import type { Store } from '../model/store/store.ts';
import { verdictFaults } from '../pipeline/evaluation/run-faults.ts';
import { agentFacts, inputExcerpt, resultVerdict, runErrorOf, usageOf } from '../pipeline/reporting/experiment-result.ts';
import { periodicTask } from '../runtime/periodic-task.ts';
import { experimentDataset, type ExpectationRules } from './experiment-expectations.ts';
import type { TaskContext } from '../telemetry/context.ts';

interface ExperimentWriterOptions extends TaskContext {
  readonly store: Pick<Store, 'experiments' | 'datasets'>;
  readonly expectations: ExpectationRules;
  /** Time for which the store keeps an experiment after its last change. */
  readonly keepMs: () => number;
  readonly prices: () => PriceTable;
}

export interface ExperimentWriter {
  /** Notes a run of an experiment, and ignores any other run. */
  offer(item: ScoredRun): void;
  /** Resolves when all that was offered is written. */
  stop(): Promise<void>;
}

/** Results that wait for the store, shared by the tenants; more are left out and counted. */
export const waitingResultsMax = 10_000;
const exampleIdCharsMax = 200;
const pruneEveryMs = 600_000;
const prunedAtOnceMax = 20;
/** Runs that wait with all their content, because a dataset has an expectation of them; more are left out and counted. */
export const waitingRunsMax = 500;

interface Waiting {
  readonly key: ExperimentKey;
  readonly result: RunResult;
  /** Omitted when the run names no dataset, or has been checked already. */
  readonly expected?: NamedDataset & { readonly run: Run };
}

type RunResult = ExperimentResult & Required<Pick<ExperimentResult, 'run'>>;

interface NamedDataset {
  readonly name: string;
  readonly version: number | undefined;
}

export function experimentWriter({
  store: { experiments, datasets },
  expectations,
  telemetry,
  clock,
  sleep,
  keepMs,
  prices,
  onFault,
}: ExperimentWriterOptions): ExperimentWriter {
  const waiting: Waiting[] = [];
  const [results, runs] = [shares(waitingResultsMax), shares(waitingRunsMax)];
  let writing: Promise<void> | undefined;
  const count = (outcome: string): void => telemetry.add('tracejury.experiments.results', 1, { 'tracejury.outcome': outcome });

  /** All results of an experiment are compared with one version of the dataset. */
  async function datasetOf(key: ExperimentKey, named: NamedDataset): Promise<Experiment['dataset']> {
    const begun = await experiments.experiment(key);
    if (begun !== undefined) return begun.dataset?.name === named.name ? begun.dataset : undefined;
    return await experimentDataset(datasets, { tenant: key.tenant, name: named.name }, named.version);
  }

  async function checked(
    { key, result }: Waiting,
    { run, name }: NonNullable<Waiting['expected']>,
    dataset: Experiment['dataset'],
  ): Promise<RunResult> {
    const found =
      dataset?.version === undefined ? undefined : await datasets.example({ tenant: key.tenant, name }, dataset.version, result.exampleId);
    if (found === undefined) {
      count('no_example');
      return result;
    }
    const own = expectations(run, found.example);
    const names = new Set(own.map((verdict) => verdict.name));
    const verdicts = [...result.verdicts.filter((verdict) => !names.has(verdict.name)), ...own];
    return { ...result, verdicts, status: statusOfResult({ ...result, verdicts }) };
  }

  async function written(one: Waiting): Promise<AddedResult> {
    const { key, expected } = one;
    const dataset = expected === undefined ? undefined : await datasetOf(key, expected);
    const result = expected === undefined ? one.result : await checked(one, expected, dataset);
    const at = Math.floor(clock.nowMs() * 1_000);
    const outcome = await experiments.merge(key, result, at);
    if (outcome !== 'unknown') return outcome;
    const begun = await experiments.begin({
      ...key,
      name: key.id,
      ...(dataset === undefined ? {} : { dataset }),
      repeats: 1,
      state: 'running',
      beganAt: result.beganAt,
      endedAt: undefined,
      provenance: {},
      evaluators: [],
      isFromSpans: true,
    });
    return begun === 'full' ? 'full' : await experiments.merge(key, result, at);
  }

  async function drain(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      results.giveBack(next.key.tenant);
      if (next.expected !== undefined) runs.giveBack(next.key.tenant);
      try {
        const outcome = await written(next);
        count(outcome === 'added' ? 'added' : outcome === 'known' ? 'merged' : 'refused');
      } catch (error) {
        count('failed');
        onFault(error);
      }
    }
    writing = undefined;
  }

  async function prune(shutdown: AbortSignal): Promise<void> {
    let deleted = prunedAtOnceMax;
    while (deleted === prunedAtOnceMax && !shutdown.aborted) {
      const now = Math.floor(clock.nowMs() * 1_000);
      deleted = await experiments.prune({ now, before: now - keepMs() * 1_000, limit: prunedAtOnceMax });
      if (deleted > 0) telemetry.add('tracejury.experiments.expired', deleted);
    }
  }

  const pruning = periodicTask({ everyMs: pruneEveryMs, sleep, work: prune, onFault });
  return {
    offer(item) {
      const found = resultOf(item, prices());
      if (found === undefined) return;
      const { tenant } = found.key;
      if (!results.mayTake(tenant) || (found.expected !== undefined && !runs.mayTake(tenant))) return count('left_out');
      results.take(tenant);
      if (found.expected !== undefined) runs.take(tenant);
      waiting.push(found);
      writing ??= drain();
    },
    async stop() {
      await pruning.stop();
      await writing;
    },
  };
}

/** `undefined` for a run of no experiment, a sub-agent, and a run that is part of another one. */
function resultOf({ run, evaluations, answered }: ScoredRun, prices: PriceTable): Waiting | undefined {
  if (run.parent !== undefined || run.partOf !== undefined || run.session !== undefined) return undefined;
  const [id, exampleId] = [member(run.resourceAttributes, wire.experimentId), member(run.resourceAttributes, wire.exampleId)];
  if (typeof id !== 'string' || !isExperimentId(id) || typeof exampleId !== 'string' || exampleId.length > exampleIdCharsMax)
    return undefined;
  // A verdict of a judge comes separately, after the rules have seen the run.
  const named = answered === true ? undefined : datasetNamed(run);
  const verdicts = evaluations.map(({ key, evaluator, verdict }) =>
    resultVerdict({ name: key.name, evaluator, verdict, faults: verdictFaults({ evaluator, verdict }, run.trace) }),
  );
  const error = runErrorOf(run.trace);
  const ended = error === undefined ? {} : { error };
  return {
    key: { tenant: run.tenant, id },
    ...(named === undefined ? {} : { expected: { ...named, run } }),
    result: {
      exampleId,
      repeat: 1,
      status: statusOfResult({ ...ended, verdicts }),
      ...ended,
      ...(run.trace.input === undefined ? {} : { input: inputExcerpt(run.trace.input) }),
      run: { traceId: run.traceId, spanId: run.spanId },
      ...timesOf(run),
      ...usageOf([run.trace], prices),
      agent: agentFacts(run),
      verdicts,
    },
  };
}

function datasetNamed({ resourceAttributes }: Run): NamedDataset | undefined {
  const [name, version] = [member(resourceAttributes, wire.datasetName), Number(member(resourceAttributes, wire.datasetVersion))];
  if (typeof name !== 'string' || !isDatasetName(name)) return undefined;
  return { name, version: Number.isSafeInteger(version) && version >= 1 ? version : undefined };
}

/** A later time is not exact as a double. */
const lastMicros = BigInt(Number.MAX_SAFE_INTEGER);

function timesOf({ startUnixNano, endUnixNano }: Run): Pick<ExperimentResult, 'beganAt' | 'endedAt' | 'tookMicros'> {
  const micros = (nano: bigint): number => Number(nano / 1_000n > lastMicros ? lastMicros : nano / 1_000n);
  const [beganAt, endedAt] = [micros(startUnixNano), micros(endUnixNano)];
  return { beganAt, endedAt, tookMicros: Math.max(0, endedAt - beganAt) };
}

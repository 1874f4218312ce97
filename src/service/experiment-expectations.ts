/** Checks, by rules, the expectations of a stored dataset on runs whose spans name an experiment that has no runner. */
import type { ConfiguredEvaluator } from '../../evaluators/configuration/configured.ts';
import { coverageOf } from '../../evaluators/configuration/coverage.ts';
import type { AnyEvaluator, EvaluationContext } from '../../evaluators/evaluator.ts';
import { readExpectation } from '../../evaluators/expectation/expectation.ts';
import { datasetHash } from '../datasets/dataset-hash.ts';
import { exampleJson } from '../datasets/example-json.ts';
import type { Run } from '../model/agent-trace.ts';
import type { Clock } from '../model/clock.ts';
import type { DatasetExample } from '../model/example.ts';
import type { ExperimentDataset, ResultVerdict } from '../model/experiment.ts';
import type { JsonObject } from '../model/json.ts';
import { type DatasetKey, type DatasetStore, examplesPageMax } from '../model/store/dataset-store.ts';
import { evaluateRun, type PlannedEvaluator } from '../pipeline/evaluation/evaluate.ts';
import { verdictFaults } from '../pipeline/evaluation/run-faults.ts';
import { resultVerdict } from '../pipeline/reporting/experiment-result.ts';
import { noTelemetry } from '../telemetry/telemetry.ts';
import { present } from '../model/present.ts';

export interface ExpectationRulesOptions {
  readonly members: readonly AnyEvaluator[];
  /** The configured evaluators. */
  readonly plan: () => readonly PlannedEvaluator[];
  readonly context: EvaluationContext;
  readonly clock: Clock;
}

/** Verdicts on what an example expects of a run, and on nothing else. */
export type ExpectationRules = (run: Run, example: DatasetExample) => readonly ResultVerdict[];

/**
 * The configured rules that check a part of the expectation, and those that the expectation switches on. Judges are not asked: a run of an
 * experiment is scored when it comes, and a judge has had its turn with it.
 */
export function expectationRules({ members, plan, context, clock }: ExpectationRulesOptions): ExpectationRules {
  const made = new Map<string, ConfiguredEvaluator>();
  return (run, { expect, tasks, constraints }) => {
    const expected: JsonObject = { ...expect, ...present({ tasks, constraints }) };
    const { expectation } = readExpectation(expected);
    const rules = plan().filter(({ configured }) => configured.kind === 'rule');
    const checking = rules.filter(({ configured }) => (configured.checks?.(expectation) ?? []).length > 0);
    const { switchedOn } = coverageOf(
      expectation,
      rules.map(({ configured }) => configured),
      { table: members, canAsk: false, made },
    );
    const wanted = [...checking, ...switchedOn.map(({ configured }): PlannedEvaluator => ({ configured, sampleRate: 1 }))];
    if (wanted.length === 0) return [];
    const { evaluations } = evaluateRun({ ...run, expected }, wanted, { context, clock, telemetry: noTelemetry, sessionsAsRuns: true });
    return evaluations.map(({ key, evaluator, verdict }) =>
      resultVerdict({ name: key.name, evaluator, verdict, faults: verdictFaults({ evaluator, verdict }, run.trace) }),
    );
  };
}

/** Examples that are read for the hash of a dataset; a larger one has none. */
const hashedExamplesMax = 10_000;

/** `undefined`: there is no such dataset or version. Without a version it is the newest one. */
export async function experimentDataset(
  datasets: DatasetStore,
  key: DatasetKey,
  version: number | undefined,
): Promise<(ExperimentDataset & { readonly version: number }) | undefined> {
  const newest = await datasets.dataset(key);
  if (newest === undefined || (version ?? 1) > newest.version) return undefined;
  const wanted = version ?? newest.version;
  const examples: { readonly id: string; readonly given: JsonObject }[] = [];
  let after: number | undefined;
  do {
    const page = await datasets.examples(key, wanted, { limit: examplesPageMax, ...(after === undefined ? {} : { after }) });
    if (page === undefined) return undefined;
    examples.push(...page.examples.map(({ example }) => ({ id: example.id, given: exampleJson(example) })));
    after = page.next;
  } while (after !== undefined && examples.length <= hashedExamplesMax);
  const isWhole = after === undefined && examples.length <= hashedExamplesMax;
  return {
    name: key.name,
    version: wanted,
    hash: isWhole ? datasetHash(examples) : '',
    examples: isWhole ? examples.length : newest.examples,
  };
}

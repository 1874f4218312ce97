/** `tracejury/experiment`: an agent over a dataset, every run scored, and a report. */
import type { ConfiguredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { coverageOf } from '../../evaluators/configuration/coverage.ts';
import type { ExpectedPart } from '../../evaluators/evaluator.ts';
import { expectedParts, refinedPart, statedParts } from '../../evaluators/expectation/expectation.ts';
import type { AgentTrace } from '../model/agent-trace.ts';
import type { Expectation } from '../model/expectation.ts';
import type { Verdict } from '../model/verdict.ts';
import { evaluate, refuseUnanswered, type UsableEvaluator } from './evaluate.ts';
import {
  exampleFaults,
  optionFaults,
  type Example,
  type ExperimentOptions,
  switchable,
  machineTimers,
  outOfTime,
  withinTime,
} from './experiment-options.ts';
import { readyEvaluator } from './factory.ts';
import { fromOpenAiTools } from './openai-tools.ts';
import { reportOf, type ExampleResult, type Report } from './report.ts';
import { createHash } from 'node:crypto';

export interface Experiment {
  /** Resolves with the report, whatever the agent does. Rejects only for what is wrong with the experiment itself. */
  run(): Promise<Report>;
}

const concurrencyDefault = 4;
const timeoutMsDefault = 30_000;
const faultsShown = 10;

export function experiment<Input>(options: ExperimentOptions<Input>): Experiment {
  const { dataset, concurrency = concurrencyDefault, failFast = false, samplePercentage = 100, onProgress } = options;
  const wrong = optionFaults(options);
  const faults = wrong.length > 0 ? wrong : dataset.flatMap(exampleFaults);
  if (faults.length > 0)
    throw new TypeError(
      `${faults.slice(0, faultsShown).join(' ')}${faults.length > faultsShown ? ` And ${faults.length - faultsShown} more.` : ''}`,
    );
  const ids = dataset.map(({ id }, at) => id ?? String(at + 1));
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw new TypeError(`Two examples have the id ${twice}.`);
  return {
    async run() {
      const runner = exampleRunner(options, ids);
      const places = sampledPlaces(ids, samplePercentage);
      const results: (ExampleResult | undefined)[] = dataset.map(() => undefined);
      const queue = places.values();
      let done = 0;
      let stopped = false;
      const worker = async (): Promise<void> => {
        for (const at of queue) {
          const example = dataset[at];
          if (example === undefined) continue;
          const result = await runner(example, ids[at] ?? '');
          results[at] = result;
          done++;
          stopped ||= failFast && result.status === 'failed';
          onProgress?.({ done, total: places.length, example: result });
          if (stopped) return;
        }
      };
      await Promise.all(Array.from({ length: Math.min(concurrency, places.length) }, worker));
      return reportOf(
        results.filter((result) => result !== undefined),
        { total: dataset.length, sampledOut: dataset.length - places.length },
      );
    },
  };
}

function exampleRunner<Input>(
  options: ExperimentOptions<Input>,
  ids: readonly string[],
): (example: Example<Input>, id: string) => Promise<ExampleResult> {
  const { task, judge, call, context = evaluationContext(), timeoutMs = timeoutMsDefault, timers = machineTimers } = options;
  const ready = (given: readonly UsableEvaluator[]): readonly ConfiguredEvaluator[] => {
    const made = given.map((one) => (isUndeclared(one) ? { ...readyEvaluator(one), checks: () => expectedParts } : readyEvaluator(one)));
    for (const one of made) refuseUnanswered(one, { judge, call });
    return made;
  };
  const common = ready(options.evaluators);
  const own = new Map(
    options.dataset.flatMap((example) => (example.evaluators === undefined ? [] : [[example, ready(example.evaluators)] as const])),
  );
  const plans = coveredExamples(options, ids, (example) => own.get(example) ?? common);
  return async (example, id) => {
    const { input } = example;
    const evaluators = plans.get(id) ?? common;
    const limitMs = example.timeoutMs ?? timeoutMs;
    let trace: AgentTrace | undefined;
    const work = async (signal: AbortSignal): Promise<readonly Verdict[]> => {
      trace = withTools(await task(input, { id, signal }), example);
      return await evaluate(trace, { expect: expectedOf(example) }, evaluators, {
        context,
        ...(judge === undefined ? {} : { judge }),
        ...(call === undefined ? {} : { call }),
      });
    };
    const named = { id, input };
    try {
      const verdicts = await withinTime(work, limitMs, timers);
      const ran = trace === undefined ? {} : { trace };
      if (verdicts === outOfTime)
        return { ...named, ...ran, status: 'failed', verdicts: [], error: { kind: 'timed_out', message: `not done within ${limitMs} ms` } };
      const found = verdicts.flatMap((verdict, at) => {
        const evaluator = evaluators[at];
        return evaluator === undefined ? [] : [{ name: evaluator.name, evaluator: evaluator.evaluator.id, verdict }];
      });
      const open = partsWithoutScore(expectedOf(example), evaluators, verdicts);
      return {
        ...named,
        ...ran,
        status: statusOf(verdicts, open),
        verdicts: found,
        ...(open.length === 0 ? {} : { expectationsWithoutScore: open }),
      };
    } catch (error) {
      return {
        ...named,
        status: 'failed',
        verdicts: [],
        error: { kind: 'task_failed', message: error instanceof Error ? error.message : String(error) },
      };
    }
  };
}

function expectedOf({ expect = {}, tasks, constraints }: Pick<Example<unknown>, 'expect' | 'tasks' | 'constraints'>): Expectation {
  return { ...expect, ...(tasks === undefined ? {} : { tasks }), ...(constraints === undefined ? {} : { constraints }) };
}

function withTools(trace: AgentTrace, { tools }: Pick<Example<unknown>, 'tools'>): AgentTrace {
  if (tools === undefined) return trace;
  const known = new Set(trace.toolDefinitions.map(({ name }) => name));
  return { ...trace, toolDefinitions: [...trace.toolDefinitions, ...fromOpenAiTools(tools).filter(({ name }) => !known.has(name))] };
}

/** An evaluator of the user's own without declared checks: it may check anything. Ours are made by factories. */
function isUndeclared(one: UsableEvaluator): boolean {
  return !('evaluator' in one) && one.checks === undefined && one.expectationSchema === undefined;
}

/** The evaluators of each example by its id: its own or the common ones, and those that its expectation switches on. Throws where only a judge could check it and there is none. */
function coveredExamples<Input>(
  { dataset, judge }: ExperimentOptions<Input>,
  ids: readonly string[],
  planOf: (example: Example<Input>) => readonly ConfiguredEvaluator[],
): ReadonlyMap<string, readonly ConfiguredEvaluator[]> {
  const made = new Map<string, ConfiguredEvaluator>();
  const found = dataset.map((example, at) => ({
    id: ids[at] ?? '',
    plan: planOf(example),
    ...coverageOf(expectedOf(example), planOf(example), { table: switchable, canAsk: judge !== undefined, made }),
  }));
  const unchecked = found.flatMap(({ id, unchecked: parts }) =>
    parts.map(
      ({ part, use }) => `${part} of example ${id} (add ${use.join(' or ')}${part === 'by_turn' ? '' : ', and a judge as { judge }'})`,
    ),
  );
  if (unchecked.length > 0)
    throw new TypeError(
      `${unchecked.length === 1 ? '1 expectation is' : `${unchecked.length} expectations are`} checked by no evaluator: ${unchecked.slice(0, uncheckedShown).join('; ')}${unchecked.length > uncheckedShown ? `; and ${unchecked.length - uncheckedShown} more` : ''}.`,
    );
  return new Map(found.map(({ id, plan, switchedOn }) => [id, [...plan, ...switchedOn.map((one) => one.configured)]]));
}

const uncheckedShown = 20;

/** Parts of an expectation on which every evaluator that checks them gave no score. */
function partsWithoutScore(
  expected: Expectation,
  evaluators: readonly ConfiguredEvaluator[],
  verdicts: readonly Verdict[],
): readonly ExpectedPart[] {
  return statedParts(expected)
    .filter((part) => refinedPart(part) === undefined)
    .filter((part) => {
      const checking = verdicts.filter((_, at) => evaluators[at]?.checks?.(expected).includes(part) === true);
      return checking.length > 0 && checking.every(({ kind }) => kind !== 'scored');
    });
}

/** One failure is enough; a broken judge is no pass, nor is an expectation without a score. */
function statusOf(verdicts: readonly Verdict[], withoutScore: readonly ExpectedPart[]): ExampleResult['status'] {
  if (verdicts.some((verdict) => verdict.kind === 'scored' && verdict.passed === false)) return 'failed';
  if (verdicts.some(({ kind }) => kind === 'failed')) return 'error';
  return withoutScore.length === 0 && verdicts.some(({ kind }) => kind === 'scored') ? 'passed' : 'skipped';
}

export type { EvaluatorResult, ExampleResult, NamedVerdict, Report } from './report.ts';
export type { Tally } from './tally.ts';
export type { Timers } from './experiment-options.ts';

/** Places in the dataset, in its order: at least one of them, and in all a share that is rounded up. A larger share holds all of a smaller one. */
export function sampledPlaces(ids: readonly string[], percent: number): readonly number[] {
  const places = ids.map((_, at) => at);
  const size = Math.min(ids.length, Math.max(1, Math.ceil((ids.length * percent) / 100)));
  if (size === ids.length) return places;
  const hashes = ids.map((id) => createHash('sha256').update(id).digest('hex'));
  const rank = (at: number): string => hashes[at] ?? '';
  const chosen = new Set(places.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1)).slice(0, size));
  return places.filter((at) => chosen.has(at));
}

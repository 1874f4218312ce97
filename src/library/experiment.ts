/** `tracejury/experiment`: runs an agent over a dataset, scores every run, and reports. */
import { createHash } from 'node:crypto';
import type { ConfiguredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { coverageOf, partsWithoutScore } from '../../evaluators/configuration/coverage.ts';
import type { AnyEvaluator, EvaluationContext, ExpectedPart } from '../../evaluators/evaluator.ts';
import { expectedParts, readExpectation, writtenExpectation } from '../../evaluators/expectation/expectation.ts';
import { expectedTools } from '../../evaluators/expected-tools.ts';
import { exactMatch } from '../../evaluators/output-equality.ts';
import { planAdherence } from '../../evaluators/plan-judges.ts';
import { hallucination } from '../../evaluators/response-judges.ts';
import { taskCompletion } from '../../evaluators/task-completion.ts';
import { contains } from '../../evaluators/text-search.ts';
import { toolCallOrder } from '../../evaluators/tool-call-order.ts';
import { toolCallOutput } from '../../evaluators/tool-call-output.ts';
import { toolCallCount } from '../../evaluators/tool-counts.ts';
import { toolTrajectory } from '../../evaluators/tool-trajectory.ts';
import { trajectoryMatch } from '../../evaluators/trajectory-match.ts';
import { evaluate, refuseUnanswered, type UsableEvaluator, type UsableJudge } from './evaluate.ts';
import { readyEvaluator } from './factory.ts';
import { fromOpenAiTools, type OpenAiTool } from './openai-messages.ts';
import { type ExampleResult, type NamedVerdict, type Report, reportOf } from './report.ts';
import { type ExperimentSink, storedExperiment, type StoredExperiment } from './stored-experiment.ts';
import type { AgentTrace, ToolDefinition } from '../model/agent-trace.ts';
import { didYouMean } from '../model/did-you-mean.ts';
import type { Expectation } from '../model/expectation.ts';
import { statusOfVerdicts } from '../model/experiment.ts';
import { type Verdict, verdictWord } from '../model/verdict.ts';
import type { Call } from '../pipeline/jury/judge-driver.ts';
import { runErrorOf } from '../pipeline/reporting/experiment-result.ts';
import { present } from '../model/present.ts';

interface Experiment {
  /** Resolves with the report for any behaviour of the agent. Rejects only for faults of the experiment itself. */
  run(): Promise<Report>;
}

const concurrencyDefault = 4;
const timeoutMsDefault = 30_000;
const faultsMax = 10;

export function experiment<Input>(options: ExperimentOptions<Input>): Experiment {
  const { dataset, concurrency = concurrencyDefault, failFast = false, samplePercentage = 100, onProgress } = options;
  const wrong = optionFaults(options);
  const faults = wrong.length > 0 ? wrong : dataset.flatMap(exampleFaults);
  if (faults.length > 0)
    throw new TypeError(
      `${faults.slice(0, faultsMax).join(' ')}${faults.length > faultsMax ? ` And ${faults.length - faultsMax} more.` : ''}`,
    );
  const ids = dataset.map(({ id }, at) => id ?? String(at + 1));
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw new TypeError(`Two examples have the id ${twice}.`);
  return {
    async run() {
      const runner = exampleRunner(options, ids);
      const stored = await storedOf(options, ids);
      const places = sampledPlaces(ids, samplePercentage);
      const results: (ExampleResult | undefined)[] = dataset.map(() => undefined);
      const queue = places.values();
      let done = 0;
      let stopped = false;
      const worker = async (): Promise<void> => {
        for (const at of queue) {
          const example = dataset[at];
          if (example === undefined) continue;
          const beganMs = Date.now();
          const result = await runner(example, ids[at] ?? '');
          await stored?.add(result, { beganMs, endedMs: Date.now() });
          results[at] = result;
          done++;
          stopped ||= failFast && result.status === 'failed';
          await onProgress?.({ done, total: places.length, example: result });
          if (stopped) return;
        }
      };
      await Promise.all(Array.from({ length: Math.min(concurrency, places.length) }, worker));
      await stored?.end(done === places.length ? 'done' : 'stopped');
      const report = reportOf(
        results.filter((result) => result !== undefined),
        { total: dataset.length, sampledOut: dataset.length - places.length },
      );
      return stored === undefined ? report : { ...report, experimentId: stored.id };
    },
  };
}

async function storedOf<Input>(
  { store, name, dataset, evaluators }: ExperimentOptions<Input>,
  ids: readonly string[],
): Promise<StoredExperiment | undefined> {
  if (store === undefined || name === undefined) return undefined;
  const examples = dataset.map(({ input, expect, tasks, constraints }, at) => ({
    id: ids[at] ?? '',
    content: [input, expect, tasks, constraints],
  }));
  return await storedExperiment({ store, name, examples, evaluators: evaluators.map(readyEvaluator) });
}

function exampleRunner<Input>(
  options: ExperimentOptions<Input>,
  ids: readonly string[],
): (example: Example<Input>, id: string) => Promise<ExampleResult> {
  const {
    task,
    judge,
    call,
    context = evaluationContext(),
    timeoutMs = timeoutMsDefault,
    timers = machineTimers,
    allowRunErrors = false,
  } = options;
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
      return await evaluate(trace, { expect: expectedOf(example) }, evaluators, present({ context, judge, call }));
    };
    const named = { id, input };
    try {
      const verdicts = await withinTime(work, limitMs, timers);
      const ran = trace === undefined ? {} : { trace };
      if (verdicts === outOfTime)
        return { ...named, ...ran, status: 'failed', verdicts: [], error: { kind: 'timed_out', message: `not done within ${limitMs} ms` } };
      const given = verdicts.flatMap((verdict, at) => evaluators.slice(at, at + 1).map((configured) => ({ configured, verdict })));
      const found = given.map(({ configured, verdict }) => ({ name: configured.name, evaluator: configured.evaluator.id, verdict }));
      const open = partsWithoutScore(expectedOf(example), given).map(({ part }) => part);
      const runError = trace === undefined || allowRunErrors ? undefined : runErrorOf(trace);
      return {
        ...named,
        ...ran,
        status: runError === undefined ? statusOf(found, open) : 'failed',
        ...(runError === undefined ? {} : { error: { kind: 'run_error', message: runError.message } }),
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

/** A user's own evaluator without declared checks may check anything. */
function isUndeclared(one: UsableEvaluator): boolean {
  return !('evaluator' in one) && one.checks === undefined && one.expectationSchema === undefined;
}

/**
 * The evaluators of each example by its id: its own or the common ones, and those that its expectation switches on. Throws when an expectation
 * needs a judge and there is none.
 */
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
      `${unchecked.length === 1 ? '1 expectation is' : `${unchecked.length} expectations are`} checked by no evaluator: ${unchecked.slice(0, uncheckedMax).join('; ')}${unchecked.length > uncheckedMax ? `; and ${unchecked.length - uncheckedMax} more` : ''}.`,
    );
  return new Map(found.map(({ id, plan, switchedOn }) => [id, [...plan, ...switchedOn.map((one) => one.configured)]]));
}

const uncheckedMax = 20;

/** One failure fails the example; a judge without an answer or an expectation without a score prevents a pass. */
function statusOf(verdicts: readonly NamedVerdict[], withoutScore: readonly ExpectedPart[]): ExampleResult['status'] {
  const status = statusOfVerdicts(verdicts.map(({ evaluator, verdict }) => ({ evaluator, verdict: verdictWord(verdict) })));
  return status === 'passed' && withoutScore.length > 0 ? 'skipped' : status;
}

export { comparePairwise } from './pairwise.ts';
export type { BudgetedJudge, JudgedPair, PairOutcome, PairwiseComparison, PairwiseForecast, PairwiseOptions } from './pairwise.ts';
export type { PairwiseSummary } from './pairwise.ts';
export type { EvaluatorResult, ExampleResult, NamedVerdict, Report, Tally } from './report.ts';

/** The sampled positions of the dataset, in order: a share that is rounded up, at least one. A larger share includes a smaller one. */
function sampledPlaces(ids: readonly string[], percent: number): readonly number[] {
  const places = ids.map((_, at) => at);
  const size = Math.min(ids.length, Math.max(1, Math.ceil((ids.length * percent) / 100)));
  if (size === ids.length) return places;
  const hashes = ids.map((id) => createHash('sha256').update(id).digest('hex'));
  const rank = (at: number): string => hashes[at] ?? '';
  const chosen = new Set(places.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1)).slice(0, size));
  return places.filter((at) => chosen.has(at));
}

export interface Example<Input = string> {
  /** Its name in the report. Default: its position in the dataset, from 1. */
  readonly id?: string;
  readonly input: Input;
  readonly expect?: Expectation;
  /** Tools of the agent, beside the definitions in its trace. */
  readonly tools?: readonly (ToolDefinition | OpenAiTool)[];
  /** Tasks of the run; overrides `expect.tasks`. */
  readonly tasks?: readonly string[];
  /** Overrides `expect.constraints`. */
  readonly constraints?: string;
  /** Replaces the evaluators of the experiment. */
  readonly evaluators?: readonly UsableEvaluator[];
  /** Overrides that of the experiment. */
  readonly timeoutMs?: number;
  /** A note for the maintainers of the dataset; no evaluator reads it. */
  readonly tags?: readonly string[];
  readonly metadata?: unknown;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  /** The example that was just finished. */
  readonly example: ExampleResult;
}

interface ExperimentOptions<Input> {
  /** Names the experiment in the store; several may have one name, and the name then means the newest. */
  readonly name?: string;
  /** Keeps the results, as `openExperimentStore` of `tracejury/store` opens it. Needs a name. */
  readonly store?: ExperimentSink;
  readonly dataset: readonly Example<Input>[];
  /** Runs the agent once. The signal is aborted when its time is over. */
  readonly task: (input: Input, run: { readonly id: string; readonly signal: AbortSignal }) => AgentTrace | Promise<AgentTrace>;
  readonly evaluators: readonly UsableEvaluator[];
  /** Concurrent examples. Default: 4. */
  readonly concurrency?: number;
  /** Time limit of one example with its evaluation; a slower example fails. Default: 30 s. */
  readonly timeoutMs?: number;
  /** Starts no further example after the first failed one. */
  readonly failFast?: boolean;
  /** True when an example whose run ended in an error fails only by its verdicts. */
  readonly allowRunErrors?: boolean;
  /** Runs this share of the examples, at least one, always the same ones; a larger share includes a smaller one. Default: all. */
  readonly samplePercentage?: number;
  readonly judge?: UsableJudge;
  readonly call?: Call;
  readonly context?: EvaluationContext;
  /** Its errors, rejections included, reject `run()`. */
  readonly onProgress?: (progress: Progress) => unknown;
  readonly timers?: Timers;
}

type Names<Members> = { readonly [Name in keyof Required<Members>]: true };

const optionNames: Names<ExperimentOptions<unknown>> = {
  name: true,
  store: true,
  dataset: true,
  task: true,
  evaluators: true,
  concurrency: true,
  timeoutMs: true,
  failFast: true,
  allowRunErrors: true,
  samplePercentage: true,
  judge: true,
  call: true,
  context: true,
  onProgress: true,
  timers: true,
};
const exampleNames: Names<Example<unknown>> = {
  id: true,
  input: true,
  expect: true,
  tools: true,
  tasks: true,
  constraints: true,
  evaluators: true,
  timeoutMs: true,
  tags: true,
  metadata: true,
};
const expectationNames: Names<Expectation> = {
  toolCalls: true,
  toolOutputs: true,
  toolCallsCount: true,
  toolCallsOrder: true,
  messages: true,
  tasks: true,
  constraints: true,
  plan: true,
  output: true,
  context: true,
  searchText: true,
  byTurn: true,
};

function optionFaults<Input>(options: ExperimentOptions<Input>): readonly string[] {
  const { name, store, dataset, task, evaluators, concurrency = 1, timeoutMs, samplePercentage = 100 } = options;
  return [
    ...unknownMembers(options, optionNames, 'experiment'),
    ...(store === undefined || (typeof name === 'string' && name.trim() !== '') ? [] : ['store needs a name of the experiment.']),
    ...(Array.isArray(dataset) ? [] : ['dataset must be a list of examples.']),
    ...(typeof task === 'function' ? [] : ['task must be a function that runs the agent.']),
    ...(Array.isArray(evaluators) ? [] : ['evaluators must be a list.']),
    ...(Number.isInteger(concurrency) && concurrency >= 1 ? [] : ['concurrency must be a whole number from 1 on.']),
    ...(samplePercentage > 0 && samplePercentage <= 100 ? [] : ['samplePercentage must be a number above 0 and up to 100.']),
    ...timeoutFaults(timeoutMs, 'timeoutMs'),
  ];
}

function exampleFaults<Input>(example: Example<Input>, at: number): readonly string[] {
  const where = `dataset[${at}]`;
  return [
    ...unknownMembers(example, exampleNames, where),
    ...timeoutFaults(example.timeoutMs, `${where}.timeoutMs`),
    ...(example.expect === undefined ? [] : expectationFaults(example.expect, `${where}.expect`)),
  ];
}

function expectationFaults(expect: Expectation, where: string): readonly string[] {
  const unknown = unknownMembers(expect, expectationNames, where);
  if (unknown.length > 0) return unknown;
  try {
    return readExpectation(writtenExpectation(expect)).faults.map(
      ({ path, problem }) => `${[where, ...path.map((step) => camelCase(String(step)))].join('.')} ${problem}.`,
    );
  } catch {
    return [`${where} has a member of the wrong type: calls, outputs, messages and counts are lists of objects.`];
  }
}

function unknownMembers(given: object, known: object, where: string): readonly string[] {
  const names = Object.keys(known);
  return Object.keys(given)
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => {
      const meant = didYouMean(name, names);
      return `${where} has an unknown member ${JSON.stringify(name)}; ${meant === undefined ? `known are ${names.join(', ')}` : `did you mean ${meant}?`}${meant === undefined ? '.' : ''}`;
    });
}

function timeoutFaults(timeoutMs: number | undefined, where: string): readonly string[] {
  return timeoutMs === undefined || timeoutMs > 0 ? [] : [`${where} must be a number above 0.`];
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The evaluators that an expectation may switch on, in the order of the table: only these, so that a bundle needs no parsers of others. */
export const switchable: readonly AnyEvaluator[] = [
  expectedTools,
  toolTrajectory,
  toolCallOutput,
  toolCallCount,
  toolCallOrder,
  trajectoryMatch,
  taskCompletion,
  planAdherence,
  hallucination,
  exactMatch,
  contains,
];

/** Time-outs of an experiment; tests pass their own. */
export interface Timers {
  /** Calls back once after the milliseconds, unless the returned function is called before. */
  after(ms: number, callback: () => void): () => void;
}

const machineTimers: Timers = {
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Replaces a late result. */
const outOfTime: unique symbol = Symbol('out of time');

/** Resolves with the result of the work, or with `outOfTime`; the signal then aborts the work. */
async function withinTime<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  ms: number,
  timers: Timers,
): Promise<Result | typeof outOfTime> {
  const abort = new AbortController();
  const working = work(abort.signal);
  return await new Promise((resolve, reject) => {
    const cancel = timers.after(ms, () => {
      abort.abort();
      resolve(outOfTime);
    });
    void working.then(resolve, reject).finally(cancel);
  });
}

/** What is wrong with an experiment as it was written, one sentence a fault. Types find most of it; programs without types, and data from files, have none. */
import type { ExampleResult } from './report.ts';
import type { Call } from '../pipeline/jury/judge-driver.ts';
import type { EvaluationContext, AnyEvaluator } from '../../evaluators/evaluator.ts';
import type { AgentTrace, ToolDefinition } from '../model/agent-trace.ts';
import type { OpenAiTool } from './openai-tools.ts';
import type { UsableJudge, UsableEvaluator } from './evaluate.ts';
import { readExpectation } from '../../evaluators/expectation/expectation.ts';
import { writtenExpectation } from '../../evaluators/expectation/written-expectation.ts';
import type { Expectation } from '../model/expectation.ts';
import { didYouMean } from '../model/did-you-mean.ts';
import { contains } from '../../evaluators/contains.ts';
import { exactMatch } from '../../evaluators/exact-match.ts';
import { expectedTools } from '../../evaluators/expected-tools.ts';
import { hallucination } from '../../evaluators/hallucination.ts';
import { planAdherence } from '../../evaluators/plan-adherence.ts';
import { taskCompletion } from '../../evaluators/task-completion.ts';
import { toolCallCount } from '../../evaluators/tool-call-count.ts';
import { toolCallOrder } from '../../evaluators/tool-call-order.ts';
import { toolCallOutput } from '../../evaluators/tool-call-output.ts';
import { toolTrajectory } from '../../evaluators/tool-trajectory.ts';
import { trajectoryMatch } from '../../evaluators/trajectory-match.ts';

export interface Example<Input = string> {
  /** Names it in the report; its place in the dataset, from 1, when left out. */
  readonly id?: string;
  readonly input: Input;
  readonly expect?: Expectation;
  /** What the agent may call, besides the definitions in its trace. */
  readonly tools?: readonly (ToolDefinition | OpenAiTool)[];
  /** What is to be done; wins over `expect.tasks`. */
  readonly tasks?: readonly string[];
  /** Wins over `expect.constraints`. */
  readonly constraints?: string;
  /** Instead of the experiment's. */
  readonly evaluators?: readonly UsableEvaluator[];
  /** Wins over the experiment's. */
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

export interface ExperimentOptions<Input> {
  readonly dataset: readonly Example<Input>[];
  /** Runs the agent once. The signal is aborted when its time is over. */
  readonly task: (input: Input, run: { readonly id: string; readonly signal: AbortSignal }) => AgentTrace | Promise<AgentTrace>;
  readonly evaluators: readonly UsableEvaluator[];
  /** Examples at the same time; 4 when left out. */
  readonly concurrency?: number;
  /** Of one example, the agent's run and its evaluation together; 30 s when left out. An example that is not done by then has failed. */
  readonly timeoutMs?: number;
  /** No further example is begun after the first that failed. */
  readonly failFast?: boolean;
  /** Runs this share of the examples, at least one, the same ones each time; a larger share holds all of a smaller one. All when left out. */
  readonly samplePercentage?: number;
  readonly judge?: UsableJudge;
  readonly call?: Call;
  readonly context?: EvaluationContext;
  readonly onProgress?: (progress: Progress) => void;
  readonly timers?: Timers;
}

type Names<Members> = { readonly [Name in keyof Required<Members>]: true };

const optionNames: Names<ExperimentOptions<unknown>> = {
  dataset: true,
  task: true,
  evaluators: true,
  concurrency: true,
  timeoutMs: true,
  failFast: true,
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

export function optionFaults<Input>(options: ExperimentOptions<Input>): readonly string[] {
  const { dataset, task, evaluators, concurrency = 1, timeoutMs, samplePercentage = 100 } = options;
  return [
    ...unknownMembers(options, optionNames, 'experiment'),
    ...(Array.isArray(dataset) ? [] : ['dataset must be a list of examples.']),
    ...(typeof task === 'function' ? [] : ['task must be a function that runs the agent.']),
    ...(Array.isArray(evaluators) ? [] : ['evaluators must be a list.']),
    ...(Number.isInteger(concurrency) && concurrency >= 1 ? [] : ['concurrency must be a whole number from 1 on.']),
    ...(samplePercentage > 0 && samplePercentage <= 100 ? [] : ['samplePercentage must be a number above 0 and up to 100.']),
    ...timeoutFaults(timeoutMs, 'timeoutMs'),
  ];
}

export function exampleFaults<Input>(example: Example<Input>, at: number): readonly string[] {
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
    return [`${where} has a member of another type than it must have: calls, outputs, messages and counts are lists of objects.`];
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

/** Time-outs of an experiment. Tests hand in timers of their own. */
export interface Timers {
  /** Calls back once after so many milliseconds, unless the function it gives is called before. */
  after(ms: number, callback: () => void): () => void;
}

export const machineTimers: Timers = {
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Given in place of a result that came too late. */
export const outOfTime: unique symbol = Symbol('out of time');

/** The result of the work, or `outOfTime` when it takes longer; the signal aborts the work, and its late result is dropped. */
export async function withinTime<Result>(
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

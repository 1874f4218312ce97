/** `tracejury/experiment`: an agent over a dataset, every run scored, and a report. */
import { evaluationContext } from '../../evaluators/context.ts';
import type { EvaluationContext } from '../../evaluators/evaluator.ts';
import type { AgentTrace } from '../model/agent-trace.ts';
import type { Expectation } from '../model/expectation.ts';
import type { Verdict } from '../model/verdict.ts';
import type { Call } from '../pipeline/ask.ts';
import { evaluate, refuseUnanswered, type UsableEvaluator, type UsableJudge } from './evaluate.ts';
import { readyEvaluator } from './factory.ts';
import { reportOf, type ExampleResult, type Report } from './report.ts';
import { machineTimers, outOfTime, withinTime, type Timers } from './timers.ts';

export interface Example<Input = string> {
  /** Names it in the report; its place in the dataset, from 1, when left out. */
  readonly id?: string;
  readonly input: Input;
  readonly expect?: Expectation;
  /** Wins over the experiment's. */
  readonly timeoutMs?: number;
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
  readonly judge?: UsableJudge;
  readonly call?: Call;
  readonly context?: EvaluationContext;
  readonly onProgress?: (progress: Progress) => void;
  readonly timers?: Timers;
}

export interface Experiment {
  /** Resolves with the report, whatever the agent does. Rejects only for what is wrong with the experiment itself. */
  run(): Promise<Report>;
}

const concurrencyDefault = 4;
const timeoutMsDefault = 30_000;

export function experiment<Input>(options: ExperimentOptions<Input>): Experiment {
  const { dataset, concurrency = concurrencyDefault, failFast = false, onProgress } = options;
  if (!(Number.isInteger(concurrency) && concurrency >= 1)) throw new TypeError('concurrency must be a whole number from 1 on.');
  const ids = dataset.map(({ id }, at) => id ?? String(at + 1));
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw new TypeError(`Two examples have the id ${twice}.`);
  return {
    async run() {
      const runner = exampleRunner(options);
      const results: (ExampleResult | undefined)[] = dataset.map(() => undefined);
      const queue = dataset.entries();
      let done = 0;
      let stopped = false;
      const worker = async (): Promise<void> => {
        for (const [at, example] of queue) {
          const result = await runner(example, ids[at] ?? '');
          results[at] = result;
          done++;
          stopped ||= failFast && result.status === 'failed';
          onProgress?.({ done, total: dataset.length, example: result });
          if (stopped) return;
        }
      };
      await Promise.all(Array.from({ length: Math.min(concurrency, dataset.length) }, worker));
      return reportOf(results.filter((result) => result !== undefined), dataset.length);
    },
  };
}

function exampleRunner<Input>(options: ExperimentOptions<Input>): (example: Example<Input>, id: string) => Promise<ExampleResult> {
  const { task, judge, call, context = evaluationContext(), timeoutMs = timeoutMsDefault, timers = machineTimers } = options;
  const evaluators = options.evaluators.map(readyEvaluator);
  for (const one of evaluators) refuseUnanswered(one, { judge, call });
  return async (example, id) => {
    const { input, expect = {} } = example;
    const limitMs = example.timeoutMs ?? timeoutMs;
    let trace: AgentTrace | undefined;
    const work = async (signal: AbortSignal): Promise<readonly Verdict[]> => {
      trace = await task(input, { id, signal });
      return await evaluate(trace, { expect }, evaluators, { context, ...(judge === undefined ? {} : { judge }), ...(call === undefined ? {} : { call }) });
    };
    const common = { id, input };
    try {
      const verdicts = await withinTime(work, limitMs, timers);
      const ran = trace === undefined ? {} : { trace };
      if (verdicts === outOfTime) return { ...common, ...ran, status: 'failed', verdicts: [], error: { kind: 'timed_out', message: `not done within ${limitMs} ms` } };
      const named = verdicts.flatMap((verdict, at) => {
        const evaluator = evaluators[at];
        return evaluator === undefined ? [] : [{ name: evaluator.name, evaluator: evaluator.evaluator.id, verdict }];
      });
      return { ...common, ...ran, status: statusOf(verdicts), verdicts: named };
    } catch (error) {
      return { ...common, status: 'failed', verdicts: [], error: { kind: 'task_failed', message: error instanceof Error ? error.message : String(error) } };
    }
  };
}

/** One failure is enough; a broken judge is no pass. */
function statusOf(verdicts: readonly Verdict[]): ExampleResult['status'] {
  if (verdicts.some((verdict) => verdict.kind === 'scored' && verdict.passed === false)) return 'failed';
  if (verdicts.some(({ kind }) => kind === 'failed')) return 'error';
  return verdicts.some(({ kind }) => kind === 'scored') ? 'passed' : 'skipped';
}

export type { EvaluatorResult, ExampleResult, NamedVerdict, Report } from './report.ts';
export type { Tally } from './tally.ts';
export type { Timers } from './timers.ts';

/** Turns the spans of one run of one example into its result, by the pipeline of the service. */
import type { AnyEvaluator, EvaluationContext } from '../../../evaluators/evaluator.ts';
import type { AgentEnd } from './agent.ts';
import type { RunnableExample } from './dataset.ts';
import type { CollectedSpans } from './span-collector.ts';
import { covered, unverified } from '../eval/expectations.ts';
import { type EvalItem, matched, scored } from '../eval/scoring.ts';
import { recordedRuns } from '../inspect/inspection.ts';
import type { Config } from '../../config/config.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { Clock } from '../../model/clock.ts';
import { type ExperimentResult, type ResultError, statusOfVerdicts } from '../../model/experiment.ts';
import { verdictFaults } from '../../pipeline/evaluation/run-faults.ts';
import { agentFacts, inputExcerpt, resultVerdict, runErrorOf, textsOf, usageOf } from '../../pipeline/reporting/experiment-result.ts';
import { plainText } from '../../model/json.ts';
import type { Redaction } from '../../redaction/redaction.ts';
import type { JudgePool } from '../../service/judge-pool.ts';

interface ScoringDeps {
  readonly config: Config;
  readonly members: readonly AnyEvaluator[];
  readonly context: EvaluationContext;
  readonly clock: Clock;
  readonly ask: JudgePool['ask'];
  readonly redaction: Redaction | undefined;
  /** Time limit of one verdict of a judge. */
  readonly judgeTimeoutMs: number | undefined;
}

type Scored = Pick<
  ExperimentResult,
  'status' | 'input' | 'texts' | 'error' | 'run' | 'tookMicros' | 'inputTokens' | 'outputTokens' | 'cost' | 'agent' | 'verdicts'
>;

export interface ExampleScoring {
  /** The runs as they would close now. */
  runsOf(collected: CollectedSpans): readonly Run[];
  /** Never rejects for what an agent has sent. */
  result(example: RunnableExample, outcome: Outcome): Promise<Scored>;
}

interface Outcome {
  readonly end: Extract<AgentEnd, { readonly kind: 'ended' }>;
  readonly collected: CollectedSpans;
  readonly runs: readonly Run[];
  readonly whatToCheck: string;
  readonly strays: number;
}

export function exampleScoring({ config, members, context, clock, ask, redaction, judgeTimeoutMs }: ScoringDeps): ExampleScoring {
  const judges = config.judges.map(({ name }) => name);
  const text = (given: string): string => redaction?.text(given) ?? given;
  const errorOf = (error: ResultError | undefined): Pick<Scored, 'error'> =>
    error === undefined ? {} : { error: { ...error, message: text(error.message) } };
  return {
    runsOf: (recorded) => recordedRuns(recorded, config),
    async result(example, { end, collected, runs, whatToCheck, strays }) {
      const run = mainRun(runs);
      const input = inputExcerpt(example.inputValue, text);
      if (run === undefined)
        return { status: 'failed', input, ...errorOf(end.error ?? withoutRun(collected, whatToCheck, strays)), agent: {}, verdicts: [] };
      const item: EvalItem = { run, label: example.id, exampleId: example.id, task: undefined, ordered: false };
      const { items } = covered(matched([item], [example]).items, [], { plan: config.evaluators, members, judges });
      const results = await scored(items, {
        plan: config.evaluators,
        context,
        clock,
        ask,
        timeoutMs: judgeTimeoutMs,
        failFast: false,
        redaction,
        onDone: () => undefined,
      });
      const verdicts = results.flatMap(({ item, verdicts: own }) =>
        own.map((one) => resultVerdict({ ...one, faults: verdictFaults(one, item.run.trace) })),
      );
      const said = statusOfVerdicts(verdicts);
      const failed = end.error ?? runErrorOf(run.trace);
      const isOpen = said === 'passed' && unverified(results).length > 0;
      return {
        status: failed === undefined ? (isOpen ? 'skipped' : said) : 'failed',
        input,
        ...(results[0] === undefined || config.store.content.content === 'none'
          ? {}
          : textsOf(results[0].item.run.trace, example.inputValue === null ? '' : text(plainText(example.inputValue)))),
        ...errorOf(failed),
        run: { traceId: run.traceId, spanId: run.spanId },
        tookMicros: Number((run.endUnixNano - run.startUnixNano) / 1_000n),
        ...usageOf(
          runs.map(({ trace }) => trace),
          config.prices,
        ),
        agent: agentFacts(results[0]?.item.run ?? run),
        verdicts,
      };
    },
  };
}

/** The last run that no other one called: it has the answer. */
export function mainRun(runs: readonly Run[]): Run | undefined {
  const known = new Set(runs.map(({ spanId }) => spanId));
  return runs.findLast(({ parent }) => parent === undefined || !known.has(parent.spanId));
}

function withoutRun({ spans }: CollectedSpans, whatToCheck: string, strays: number): ResultError {
  if (spans.length > 0)
    return {
      kind: 'no_run',
      message: `${spans.length} ${spans.length === 1 ? 'span' : 'spans'} arrived, and no agent run among them. Record one run with tracejury record, and look at it with tracejury inspect.`,
    };
  const stray =
    strays === 0
      ? ''
      : ` ${strays} ${strays === 1 ? 'span' : 'spans'} of this experiment so far name no example, neither by trace id nor by resource attributes.`;
  return { kind: 'no_spans', message: `No span arrived. ${whatToCheck}${stray}` };
}

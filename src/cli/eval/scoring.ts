/** One run that `eval` scores, with its place in the inputs and its example of the dataset. */
import { setTimeout as sleepFor } from 'node:timers/promises';
import { readDefinitions, unitedDefinitions } from '../../../collectors/parsing/definitions.ts';
import type { EvaluationContext, ExpectedPart } from '../../../evaluators/evaluator.ts';
import { convergence } from '../../../evaluators/evidence/convergence.ts';
import type { ConfigFault, Path } from '../../config/diagnostic.ts';
import type { NamedVerdict } from '../../library/report.ts';
import type { Run } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { Clock } from '../../model/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { Evaluation, Verdict } from '../../model/verdict.ts';
import { evaluateRun, type PlannedEvaluator, type ToJudge } from '../../pipeline/evaluation/evaluate.ts';
import { redactedRun } from '../../pipeline/evaluation/redacted-run.ts';
import { sampleDecision } from '../../pipeline/evaluation/sampling.ts';
import { comparedRun, type Comparing } from '../../pipeline/reporting/task-groups.ts';
import type { Redaction } from '../../redaction/redaction.ts';
import type { JudgePool } from '../../service/judge-pool.ts';
import { noTelemetry, type Telemetry } from '../../telemetry/telemetry.ts';

/** A key in a file. */
type KeyPlace = Omit<ConfigFault, 'problem' | 'todo'>;

export interface EvalItem {
  readonly run: Run;
  /** As reports name it. */
  readonly label: string;
  /** The id of an example that the run itself names. */
  readonly exampleId: string | undefined;
  /** What the run names as its task. */
  readonly task: string | undefined;
  /** Out of agent traces or messages, whose order is that of the file; spans have none. */
  readonly ordered: boolean;
  /** Where a part of what the run expects of itself stands in its file; absent: it comes with a span. */
  readonly origin?: (path: Path, at: 'key' | 'value') => KeyPlace;
}

/** One line of a dataset. */
export interface DatasetExample {
  readonly id: string;
  readonly input: string | undefined;
  readonly expect: JsonObject | undefined;
  readonly tools: JsonValue | undefined;
  readonly tags: readonly string[];
  /** Where a part of what it expects stands. */
  readonly placeOf: (part: ExpectedPart) => KeyPlace;
  /** Instead of the configured ones. */
  readonly plan: readonly PlannedEvaluator[] | undefined;
}

export interface MatchedItem extends EvalItem {
  readonly example: DatasetExample | undefined;
  /** The evaluators of this run; absent: those of its example, else of the configuration. */
  readonly plan?: readonly PlannedEvaluator[];
}

export interface EvalResult {
  readonly item: MatchedItem;
  readonly verdicts: readonly NamedVerdict[];
  /** How long each verdict took by the name of its evaluator, in milliseconds; absent: it was not measured. */
  readonly tookMs?: ReadonlyMap<string, number>;
  /** Id of the session whose turn the run is; absent where it is redacted, because sessions cannot be distinguished then. */
  readonly session?: string | undefined;
}

export interface EvalOutcome {
  /** In the order of the items. */
  readonly results: readonly EvalResult[];
  /** Runs that were read. */
  readonly runs: number;
  /** Runs left out by --sample. */
  readonly sampledOut: number;
  /** Runs that were not begun after the first failure. */
  readonly notBegun: number;
  /** Examples that no run belongs to. */
  readonly missing: readonly string[];
}

// What reports name runs, examples and tasks by, without what the configuration redacts. Runs and verdicts have left it behind before.

export function redactedNames(outcome: EvalOutcome, redaction: Redaction | undefined): EvalOutcome {
  if (redaction === undefined) return outcome;
  const { text } = redaction;
  const example = (one: DatasetExample | undefined): DatasetExample | undefined =>
    one === undefined ? undefined : { ...one, id: text(one.id), tags: one.tags.map(text) };
  const result = ({ item, ...rest }: EvalResult): EvalResult => ({
    ...rest,
    item: { ...item, label: text(item.label), example: example(item.example), task: item.task === undefined ? undefined : text(item.task) },
  });
  return { ...outcome, results: outcome.results.map(result), missing: outcome.missing.map(text) };
}

// Runs through their evaluators, as the service does it: rules at once, judges through the judge lane.

interface ScoringOptions {
  readonly plan: readonly PlannedEvaluator[];
  readonly context: EvaluationContext;
  readonly clock: Clock;
  readonly ask: JudgePool['ask'];
  /** Of one judge verdict; undefined: as long as the judge takes. */
  readonly timeoutMs: number | undefined;
  readonly failFast: boolean;
  /** What neither judges nor reports may see. */
  readonly redaction?: Redaction | undefined;
  readonly onDone: (done: number) => void;
}

/** Runs whose judges are asked at the same time; the judges' own concurrency holds below that. */
const runsAtOnce = 64;

/** Results in the order of the items; fewer than items when the first failure ended it. */
export async function scored(items: readonly MatchedItem[], options: ScoringOptions): Promise<readonly EvalResult[]> {
  const results = new Map<MatchedItem, EvalResult>();
  const queue = items.values();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      const result = await resultOn(item, options);
      const { verdicts } = result;
      results.set(item, result);
      options.onDone(results.size);
      failed ||= verdicts.some(({ verdict }) => verdict.kind === 'scored' && verdict.passed === false);
      if (options.failFast && failed) return;
    }
  };
  await Promise.all(Array.from({ length: options.failFast ? 1 : Math.min(runsAtOnce, items.length) }, worker));
  return items.flatMap((item) => results.get(item) ?? []);
}

/** In the order of the plan. Offline every run is put before its judges: a sample is drawn with --sample. */
async function resultOn(item: MatchedItem, options: ScoringOptions): Promise<EvalResult> {
  const { context, clock } = options;
  const plan = (item.plan ?? item.example?.plan ?? options.plan).map((planned) => ({ ...planned, sampleRate: 1 }));
  const tookMs = new Map<string, number>();
  const telemetry: Telemetry = {
    ...noTelemetry,
    record(metric, value, labels = {}) {
      if (metric === 'tracejury.evaluation.duration') tookMs.set(String(labels[wire.evaluationName]), value * 1_000);
    },
  };
  const { evaluations, toJudge } = evaluateRun(item.run, plan, { context, clock, telemetry, sessionsAsRuns: true });
  const { run, work, verdict } = redactedRun(item.run, options.redaction);
  const judged = await Promise.all(
    toJudge.map(async (one) => {
      const { name, evaluator } = one.configured;
      const startMs = clock.nowMs();
      const given = await asked(run, work(one), options);
      tookMs.set(name, clock.nowMs() - startMs);
      return { name, evaluator: evaluator.id, verdict: given };
    }),
  );
  const found = new Map([...evaluations.map(named), ...judged].map((one) => [one.name, one]));
  const verdicts = plan
    .flatMap(({ configured }) => found.get(configured.name) ?? [])
    .map((one) => ({ ...one, verdict: verdict(one.verdict) }));
  const { sessionId } = run.trace;
  return { item: { ...item, run }, verdicts, tookMs, session: sessionId === item.run.trace.sessionId ? sessionId : undefined };
}

function named({ key, evaluator, verdict }: Evaluation): NamedVerdict {
  return { name: key.name, evaluator, verdict };
}

async function asked(run: MatchedItem['run'], work: ToJudge, { ask, timeoutMs }: ScoringOptions): Promise<Verdict> {
  const answered = new Promise<Verdict>((resolve) => {
    ask(run, work, (end) =>
      resolve(end.kind === 'judged' ? end.verdict : broken(end.kind === 'over_budget' ? end.kind : end.reason, 'The judge was not asked.')),
    );
  });
  if (timeoutMs === undefined) return await answered;
  const settled = new AbortController();
  const late = sleepFor(timeoutMs, undefined, { signal: settled.signal }).then(
    () => broken('timed_out', `The judge gave no verdict within ${timeoutMs / 1_000} s.`),
    () => broken('aborted', ''),
  );
  const verdict = await Promise.race([answered, late]);
  settled.abort();
  return verdict;
}

function broken(error: string, explanation: string): Verdict {
  return { kind: 'failed', error, explanation, details: {} };
}

// Which example a run belongs to: the one whose id it names, else one with the same input, else, for agent traces and messages, the
// next one in order. Several runs may belong to one example. Sub-agents belong to none unless their own span names it.

interface Matching {
  readonly items: readonly MatchedItem[];
  readonly missing: readonly string[];
}

export function matched(items: readonly EvalItem[], examples: readonly DatasetExample[]): Matching {
  const byId = new Map(examples.map((example) => [example.id, example]));
  const byInput = Map.groupBy(
    examples.filter(({ input }) => input !== undefined),
    ({ input }) => plain(input ?? ''),
  );
  const taken = new Set<DatasetExample>();
  const found = new Map<EvalItem, DatasetExample>();
  const take = (item: EvalItem, example: DatasetExample | undefined): void => {
    if (example === undefined) return;
    found.set(item, example);
    taken.add(example);
  };
  for (const item of items) if (item.exampleId !== undefined) take(item, byId.get(item.exampleId));
  for (const item of items) {
    const input = item.run.trace.input;
    if (found.has(item) || item.exampleId !== undefined || item.run.parent !== undefined || input === undefined) continue;
    // Of several with the same input, each gets its run before one gets a second.
    const same = byInput.get(plain(input)) ?? [];
    take(item, same.find((example) => !taken.has(example)) ?? same[0]);
  }
  const left = examples.filter((example) => !taken.has(example)).values();
  for (const item of items) if (item.ordered && !found.has(item) && item.exampleId === undefined) take(item, left.next().value);
  return {
    items: items.map((item) => withExample(item, found.get(item))),
    missing: examples.filter((example) => !taken.has(example)).map(({ id }) => id),
  };
}

/** White space at the ends is what people and templates add. */
function plain(input: string): string {
  return input.trim();
}

/** The expectation of the dataset wins over that of the run; its tools add the definitions that the run does not carry. */
function withExample(item: EvalItem, example: DatasetExample | undefined): MatchedItem {
  if (example === undefined) return { ...item, example };
  const { run } = item;
  const own = isJsonObject(run.expected) ? run.expected : {};
  const toolDefinitions =
    example.tools === undefined
      ? run.trace.toolDefinitions
      : unitedDefinitions([run.trace.toolDefinitions, readDefinitions(example.tools)]);
  return {
    ...item,
    label: example.id,
    example,
    run: {
      ...run,
      trace: { ...run.trace, toolDefinitions },
      ...(example.expect === undefined ? {} : { expected: { ...own, ...example.expect } }),
    },
  };
}

// A share of the runs by their trace ids: the same ones each time, and a larger share holds all of a smaller one.

/** Never none of them: a gate over nothing would say nothing. */
export function sampledItems<Item extends MatchedItem>(items: readonly Item[], percent: number): readonly Item[] {
  const kept = items.filter(({ run: { traceId } }) => sampleDecision({ traceId, traceState: '', rate: percent / 100 }).sampled);
  if (kept.length > 0) return kept;
  const first = items
    .map(({ run }) => run.traceId)
    .reduce((best, id) => (randomPart(id) > randomPart(best) ? id : best), items[0]?.run.traceId ?? '');
  return items.filter(({ run }) => run.traceId === first);
}

/** The bits that the sampler reads. */
function randomPart(traceId: string): string {
  return traceId.slice(-14);
}

// Runs of one task beside one another: of one example of a dataset, or of what the configuration names as the task.

export interface TaskResult {
  readonly task: string;
  readonly agent: string;
  /** Runs that were compared; one alone is its own shortest way. */
  readonly runs: number;
  readonly convergence: number;
  readonly shareOnOptimalPath: number;
  /** Undefined: no run succeeded. */
  readonly optimalSteps: number | undefined;
}

/** In the order of their first runs. Runs that name no task or cannot be compared are in none of them. */
export function taskResults(results: readonly EvalResult[], comparing: Comparing): readonly TaskResult[] {
  const compared = results.flatMap(({ item, verdicts }) => {
    const task = item.example?.id ?? item.task;
    const found = comparedRun(item.run, comparing, (wanted) => verdicts.find(({ name }) => name === wanted)?.verdict);
    return task === undefined || found.kind === 'left_out' ? [] : [{ task, agent: item.run.trace.agent ?? '', run: found.run }];
  });
  return [...Map.groupBy(compared, ({ task, agent }) => JSON.stringify([task, agent])).values()].flatMap((group) => {
    const [first] = group;
    const outcome = convergence(group.map(({ run }) => run));
    if (first === undefined || outcome.kind === 'skipped') return [];
    const { optimal_steps: optimal, share_on_optimal_path: share } = outcome.details;
    return [
      {
        task: first.task,
        agent: first.agent,
        runs: group.length,
        convergence: outcome.score,
        shareOnOptimalPath: typeof share === 'number' ? share : 0,
        optimalSteps: typeof optimal === 'number' ? optimal : undefined,
      },
    ];
  });
}

/** Tasks with several runs to compare. */
export function severalRuns(tasks: readonly TaskResult[]): readonly TaskResult[] {
  return tasks.filter(({ runs }) => runs > 1);
}

export const taskHeads = ['task', 'agent', 'runs', 'convergence', 'shortest way', 'on it'] as const;

/** The cells under these heads. */
export function taskCells({ task, agent, runs, convergence: score, optimalSteps, shareOnOptimalPath }: TaskResult): readonly string[] {
  return [
    task,
    agent === '' ? '–' : agent,
    String(runs),
    score.toFixed(3),
    optimalSteps === undefined ? '–' : String(optimalSteps),
    shareOnOptimalPath.toFixed(3),
  ];
}

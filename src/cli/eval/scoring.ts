/** Scores runs offline: matches them with examples, evaluates them, and compares runs of one task. */
import { setTimeout as sleepFor } from 'node:timers/promises';
import { readDefinitions, unitedDefinitions } from '../../../collectors/parsing/definitions.ts';
import type { EvaluationContext, ExpectedPart } from '../../../evaluators/evaluator.ts';
import { convergence, type GroupRun } from '../../../evaluators/evidence/convergence.ts';
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

/** The evaluators of a run, and how far they check its expectation. */
export interface Coverage {
  readonly plan: readonly PlannedEvaluator[];
  readonly switchedOn: readonly {
    readonly name: string;
    readonly evaluator: string;
    /** `undefined` for an evaluator without a judge. */
    readonly judge: string | undefined;
    readonly part: ExpectedPart;
  }[];
  readonly unchecked: readonly ConfigFault[];
  readonly notCompared: readonly ExpectedPart[];
  readonly undecided: readonly ExpectedPart[];
}

export interface EvalItem {
  readonly run: Run;
  /** Its name in reports. */
  readonly label: string;
  /** The example that the run names. */
  readonly exampleId: string | undefined;
  /** The task that the run names. */
  readonly task: string | undefined;
  /** `true` for agent traces and messages, which have the order of the file. */
  readonly ordered: boolean;
  /** The place of an expectation in the file of the run; absent for spans. */
  readonly origin?: (path: Path, at: 'key' | 'value') => KeyPlace;
  /** Faults of the run's expectation; omitted when it was not checked. */
  readonly faults?: readonly ConfigFault[];
  /** Rules have scored the run, which is left without its content. */
  readonly begun?: { readonly example: FileExample | undefined; readonly coverage: Coverage; readonly result: EvalResult };
}

/** One line of a dataset. */
export interface FileExample {
  readonly id: string;
  readonly input: string | undefined;
  readonly expect: JsonObject | undefined;
  readonly tools: JsonValue | undefined;
  readonly tags: readonly string[];
  /** The place of an expectation. */
  readonly placeOf: (part: ExpectedPart) => KeyPlace;
  /** Replaces the configured evaluators. */
  readonly plan: readonly PlannedEvaluator[] | undefined;
  /** True when no one has reviewed the expectation, which repeats a run. */
  readonly isDraft: boolean;
  /** The example as its file has it. */
  readonly given: JsonObject;
}

export interface MatchedItem extends EvalItem {
  readonly example: FileExample | undefined;
  /** The evaluators of this run. Default: those of its example, or of the configuration. */
  readonly plan?: readonly PlannedEvaluator[];
  readonly coverage?: Coverage;
}

export interface EvalResult {
  readonly item: MatchedItem;
  readonly verdicts: readonly NamedVerdict[];
  /** Duration of each verdict in milliseconds, by the name of its evaluator. */
  readonly tookMs?: ReadonlyMap<string, number>;
  /** Session of the run; absent when it is redacted, because redacted sessions cannot be distinguished. */
  readonly session?: string | undefined;
  /** The run beside others of its task; absent when it cannot be compared. */
  readonly compared?: GroupRun | undefined;
}

export interface EvalOutcome {
  /** In the order of the items. */
  readonly results: readonly EvalResult[];
  /** All runs of the inputs. */
  readonly runs: number;
  /** Runs that --sample omits. */
  readonly sampledOut: number;
  /** Runs that --fail-fast omits. */
  readonly notBegun: number;
  /** Examples without a run. */
  readonly missing: readonly string[];
}

/** Redacts the names of runs, examples and tasks in reports. Runs and verdicts are redacted already. */
export function redactedNames(outcome: EvalOutcome, redaction: Redaction | undefined): EvalOutcome {
  if (redaction === undefined) return outcome;
  const { text } = redaction;
  const example = (one: FileExample | undefined): FileExample | undefined =>
    one === undefined ? undefined : { ...one, id: text(one.id), tags: one.tags.map(text) };
  const result = ({ item, ...rest }: EvalResult): EvalResult => ({
    ...rest,
    item: { ...item, label: text(item.label), example: example(item.example), task: item.task === undefined ? undefined : text(item.task) },
  });
  return { ...outcome, results: outcome.results.map(result), missing: outcome.missing.map(text) };
}

export interface ScoringOptions {
  readonly plan: readonly PlannedEvaluator[];
  readonly context: EvaluationContext;
  readonly clock: Clock;
  /** Absent for a plan of rules. */
  readonly ask: JudgePool['ask'] | undefined;
  /** Time limit of one verdict of a judge; no limit when `undefined`. */
  readonly timeoutMs: number | undefined;
  readonly failFast: boolean;
  /** Applies to judges and reports. */
  readonly redaction?: Redaction | undefined;
  /** Omitted when runs of a task are not compared. */
  readonly comparing?: Comparing;
  readonly onDone: (done: number) => void;
}

/** Concurrent runs; the concurrency of each judge applies as well. */
const runsAtOnce = 64;

/** Gives results in the order of the items; with `failFast` only up to the first failure. */
export async function scored(items: readonly MatchedItem[], options: ScoringOptions): Promise<readonly EvalResult[]> {
  const results = new Map<MatchedItem, EvalResult>();
  const queue = items.values();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      const result = item.begun?.result ?? (await resultOn(item, options));
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

/** Verdicts have the order of the plan. Offline the judges get every run; --sample draws a sample. */
async function resultOn(item: MatchedItem, options: ScoringOptions): Promise<EvalResult> {
  const { toJudge, finished } = ruledOn(item, options);
  return finished(await Promise.all(toJudge.map((ask) => ask())));
}

interface Ruled {
  /** The questions to judges. */
  readonly toJudge: readonly (() => Promise<NamedVerdict>)[];
  readonly finished: (judged: readonly NamedVerdict[]) => EvalResult;
}

export function ruledOn(item: MatchedItem, options: ScoringOptions): Ruled {
  const { context, clock, comparing } = options;
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
  return {
    toJudge: toJudge.map((one) => async () => {
      const { name, evaluator } = one.configured;
      const startMs = clock.nowMs();
      const given = await asked(run, work(one), options);
      tookMs.set(name, clock.nowMs() - startMs);
      return { name, evaluator: evaluator.id, verdict: given };
    }),
    finished(judged) {
      const found = new Map([...evaluations.map(named), ...judged].map((one) => [one.name, one]));
      const verdicts = plan
        .flatMap(({ configured }) => found.get(configured.name) ?? [])
        .map((one) => ({ ...one, verdict: verdict(one.verdict) }));
      const { sessionId } = run.trace;
      const compared =
        comparing === undefined
          ? undefined
          : comparedRun(run, comparing, (wanted) => verdicts.find(({ name }) => name === wanted)?.verdict);
      return {
        item: { ...item, run },
        verdicts,
        tookMs,
        session: sessionId === item.run.trace.sessionId ? sessionId : undefined,
        compared: compared?.kind === 'compared' ? compared.run : undefined,
      };
    },
  };
}

function named({ key, evaluator, verdict }: Evaluation): NamedVerdict {
  return { name: key.name, evaluator, verdict };
}

async function asked(run: MatchedItem['run'], work: ToJudge, { ask, timeoutMs }: ScoringOptions): Promise<Verdict> {
  if (ask === undefined) return broken('aborted', 'The judge was not asked.');
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

interface Matching {
  readonly items: readonly MatchedItem[];
  readonly missing: readonly string[];
}

export interface Matcher {
  /** The example of a run that has the same one beside any other runs; `undefined` when other runs decide. */
  atOnce(item: EvalItem): { readonly example: FileExample | undefined } | undefined;
  matched(items: readonly EvalItem[]): Matching;
}

export function matched(items: readonly EvalItem[], examples: readonly FileExample[]): Matching {
  return matcherOf(examples).matched(items);
}

/**
 * Matches runs with examples: by the id that the run names, then by the input, then, for agent traces and messages, by their order. Several
 * runs may match one example. A sub-agent matches only by id.
 */
export function matcherOf(examples: readonly FileExample[]): Matcher {
  const byId = new Map(examples.map((example) => [example.id, example]));
  const byInput = Map.groupBy(
    examples.filter(({ input }) => input !== undefined),
    ({ input }) => plain(input ?? ''),
  );
  /** Examples with the input of a run that names none. */
  const alike = ({ exampleId, run }: EvalItem): readonly FileExample[] =>
    exampleId !== undefined || run.parent !== undefined || run.trace.input === undefined ? [] : (byInput.get(plain(run.trace.input)) ?? []);
  return {
    atOnce(item) {
      const [first, ...others] = alike(item);
      if (item.exampleId !== undefined) return { example: byId.get(item.exampleId) };
      return others.length > 0 || (item.ordered && first === undefined && examples.length > 0) ? undefined : { example: first };
    },
    matched: (items) => matchedAmong(items, examples, { byId, alike }),
  };
}

function matchedAmong(
  items: readonly EvalItem[],
  examples: readonly FileExample[],
  { byId, alike }: { readonly byId: ReadonlyMap<string, FileExample>; readonly alike: (item: EvalItem) => readonly FileExample[] },
): Matching {
  const taken = new Set<FileExample>();
  const found = new Map<EvalItem, FileExample>();
  const take = (item: EvalItem, example: FileExample | undefined): void => {
    if (example === undefined) return;
    found.set(item, example);
    taken.add(example);
  };
  for (const item of items) take(item, item.begun?.example ?? (item.exampleId === undefined ? undefined : byId.get(item.exampleId)));
  for (const item of items) {
    if (found.has(item)) continue;
    // Among examples with the same input, each gets a run before one gets a second.
    const same = alike(item);
    take(item, same.find((example) => !taken.has(example)) ?? same[0]);
  }
  const left = examples.filter((example) => !taken.has(example)).values();
  for (const item of items) if (item.ordered && !found.has(item) && item.exampleId === undefined) take(item, left.next().value);
  return {
    items: items.map((item) => withExample(item, found.get(item))),
    missing: examples.filter((example) => !taken.has(example)).map(({ id }) => id),
  };
}

/** People and templates add white space at the ends. */
function plain(input: string): string {
  return input.trim();
}

/** The expectation of the dataset overrides that of the run; its tools add missing definitions. */
export function withExample(item: EvalItem, example: FileExample | undefined): MatchedItem {
  const { begun: scoredBefore } = item;
  if (scoredBefore !== undefined) return { ...item, label: scoredBefore.result.item.label, example, coverage: scoredBefore.coverage };
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

/**
 * Samples by trace id: always the same runs, and a larger share includes a smaller one. The sample has at least one trace, for a gate needs
 * runs.
 */
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

/** The comparison of runs of one task: of one example, or of one task key. */
export interface TaskResult {
  readonly task: string;
  readonly agent: string;
  /** Compared runs. */
  readonly runs: number;
  readonly convergence: number;
  readonly shareOnOptimalPath: number;
  /** `undefined` when no run succeeded. */
  readonly optimalSteps: number | undefined;
}

/** In the order of first runs. Omits runs that name no task or cannot be compared. */
export function taskResults(results: readonly EvalResult[]): readonly TaskResult[] {
  const compared = results.flatMap(({ item, compared: run }) => {
    const task = item.example?.id ?? item.task;
    return task === undefined || run === undefined ? [] : [{ task, agent: item.run.trace.agent ?? '', run }];
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

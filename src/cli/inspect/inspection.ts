/** A run with the outcome of every evaluator; sub-agents are below their agent. */
import type { Collector } from '../../../collectors/collector.ts';
import { configuredCollector, type DialectSettings } from '../../../collectors/configured/dialect.ts';
import { collectors } from '../../../collectors/index.ts';
import { configuredEvaluator, type ConfiguredEvaluator } from '../../../evaluators/configuration/configured.ts';
import type { AnyEvaluator, EvaluationContext, Fault, Need } from '../../../evaluators/evaluator.ts';
import { readExpectation } from '../../../evaluators/expectation/expectation.ts';
import { evaluators } from '../../../evaluators/index.ts';
import type { Recorded } from './recording.ts';
import type { EvaluatorConfig } from '../../config/config.ts';
import type { Run, SubAgent } from '../../model/agent-trace.ts';
import type { Expectation } from '../../model/expectation.ts';
import type { SpanId } from '../../model/ids.ts';
import type { LogRecord } from '../../model/span.ts';
import type { Verdict } from '../../model/verdict.ts';
import { spanReadingOf } from '../../pipeline/assembly/span-facts.ts';
import type { GatheringOptions } from '../../pipeline/gathering/gatherer.ts';
import { regatheredRuns } from '../../pipeline/gathering/regathered-runs.ts';
import { type Attempt, attemptOf, type Share, sharesOf } from '../../pipeline/reporting/evaluability.ts';
import { type Lack, lackOf, missingDataOf } from '../../pipeline/reporting/missing-data.ts';
import { metricRegistry, type MetricRegistry } from '../../telemetry/registry.ts';
import { noTelemetry, type Telemetry } from '../../telemetry/telemetry.ts';

export interface InspectedRun {
  readonly run: Run;
  readonly evaluability: readonly Evaluability[];
  /** The call by the agent above; omitted for a root agent. */
  readonly via?: SubAgent;
  readonly subRuns: readonly InspectedRun[];
}

/** The result of `inspect`, for every output format. */
export interface Report {
  readonly recorded: Recorded;
  readonly replayed: Replayed;
  readonly runs: readonly InspectedRun[];
}

export function inspected(runs: readonly Run[], catalogue: Catalogue): readonly InspectedRun[] {
  const known = new Set(runs.map(keyOf));
  const children = Map.groupBy(runs, (run) => (run.parent !== undefined && known.has(keyOf(run.parent)) ? keyOf(run.parent) : ''));
  const of = (run: Run, parent: Run | undefined): InspectedRun => {
    const via = parent?.trace.subAgents.find(({ spanId }) => spanId === run.spanId);
    return {
      run,
      evaluability: evaluability(run, catalogue),
      ...(via === undefined ? {} : { via }),
      subRuns: (children.get(keyOf(run)) ?? []).map((child) => of(child, run)),
    };
  };
  return (children.get('') ?? []).map((run) => of(run, undefined));
}

function keyOf({ traceId, spanId }: Pick<Run, 'traceId' | 'spanId'>): string {
  return `${traceId}/${spanId}`;
}

/** Runs from recorded spans, by the gathering of the service with a simulated clock. */
export interface Replayed {
  /** The last revision of each run, by start time, then by the order of spans. */
  readonly runs: readonly Run[];
  /** Spans by the collector that recognised them; a span may count for several. */
  readonly spansByDialect: ReadonlyMap<string, number>;
  readonly unrecognised: { readonly spans: number; readonly scopes: readonly ScopeCount[] };
  /** Omissions of the gathering, from its metrics. */
  readonly leftOut: readonly LeftOut[];
}

export interface LeftOut {
  readonly metric: string;
  readonly reason: string;
  readonly meaning: string;
  readonly count: number;
}

/** The settings that affect the reading of spans. */
export type Reading = Required<Pick<GatheringOptions, 'closing'>> &
  Pick<GatheringOptions, 'tools'> & { readonly dialects?: readonly DialectSettings[] };

interface ScopeCount {
  readonly scope: string;
  readonly spans: number;
}

const scopesMax = 10;

export function replayed(recorded: Recorded, reading: Reading): Replayed {
  const telemetry = metricRegistry();
  return {
    runs: recordedRuns(recorded, reading, telemetry),
    leftOut: leftOut(telemetry),
    ...recognition(recorded, [...(reading.dialects ?? []).map(configuredCollector), ...collectors]),
  };
}

/** The last revision of each run, by start time, then by the order of spans. */
export function recordedRuns(
  recorded: Pick<Recorded, 'spans' | 'records'>,
  reading: Reading,
  telemetry: Telemetry = noTelemetry,
): readonly Run[] {
  const last = gatheredRuns(recorded, reading, telemetry);
  const places = new Map(recorded.spans.map(({ traceId, spanId }, place) => [`${traceId}/${spanId}`, place]));
  return [...last.values()]
    .map((run) => ({ run, startUnixNano: run.startUnixNano, place: places.get(placeKey(run)) ?? 0 }))
    .sort(byStart)
    .map(({ run }) => run);
}

/** The last revision of each run, by `trace/span`. */
export function gatheredRuns(
  recorded: Pick<Recorded, 'spans' | 'records'>,
  { dialects = [], ...reading }: Reading,
  telemetry: Telemetry,
): ReadonlyMap<string, Run> {
  return regatheredRuns(recorded, { ...reading, collectors, dialects: dialects.map(configuredCollector), telemetry });
}

/** The key of the span of a run. */
export function placeKey({ traceId, spanTraceId = traceId, spanId }: Pick<Run, 'traceId' | 'spanTraceId' | 'spanId'>): string {
  return `${spanTraceId}/${spanId}`;
}

export interface RunPlace {
  readonly startUnixNano: bigint;
  /** The place of its span among all spans. */
  readonly place: number;
}

/** Equal starts keep the order of their spans. */
export function byStart(a: RunPlace, b: RunPlace): number {
  return a.startUnixNano === b.startUnixNano ? a.place - b.place : a.startUnixNano < b.startUnixNano ? -1 : 1;
}

function recognition({ spans, records }: Recorded, all: readonly Collector[]): Pick<Replayed, 'spansByDialect' | 'unrecognised'> {
  const spansByDialect = new Map<string, number>();
  const scopes = new Map<string, number>();
  const withRecords = new Set(records.flatMap(({ spanId }) => spanId ?? []));
  let unrecognised = 0;
  for (const span of spans) {
    const own = spanReadingOf({ collectors: all, records: noRecords }, span).dialects;
    for (const id of own) spansByDialect.set(id, (spansByDialect.get(id) ?? 0) + 1);
    if (own.length > 0 || withRecords.has(span.spanId)) continue;
    unrecognised++;
    scopes.set(span.scope.name, (scopes.get(span.scope.name) ?? 0) + 1);
  }
  const most = [...scopes].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1)).slice(0, scopesMax);
  return { spansByDialect, unrecognised: { spans: unrecognised, scopes: most.map(([scope, count]) => ({ scope, spans: count })) } };
}

/** The reading of a single span. */
const noRecords: ReadonlyMap<SpanId, readonly LogRecord[]> = new Map();

function leftOut(telemetry: MetricRegistry): readonly LeftOut[] {
  const counted = telemetry
    .snapshot()
    .filter(
      ({ name }) => name === 'tracejury.traces.dropped' || name === 'tracejury.runs.beyond_limit' || name.startsWith('tracejury.spans.'),
    );
  return counted.flatMap(({ name, row, points }) =>
    points.flatMap((point) => {
      if (point.kind !== 'number' || point.value === 0) return [];
      return [{ metric: name, reason: Object.values(point.labels)[0] ?? '', meaning: row.meaning, count: point.value }];
    }),
  );
}

/** States that an evaluator could score a run, or names the missing data and the setting that provides it. */
export interface Evaluability {
  readonly name: string;
  readonly evaluator: AnyEvaluator;
  /** `true` when it is on by default or configured. */
  readonly on: boolean;
  readonly outcome: Verdict | { readonly kind: 'would_ask' } | { readonly kind: 'filtered' } | Unconfigured;
  /** Needs that the run does not meet. */
  readonly missing: readonly Need[];
  /** The missing data that prevented a score. */
  readonly lack?: Lack | 'options';
  /** Settings that provide the missing data. */
  readonly hints: readonly string[];
}

/** The evaluator needs options or an expectation of a configuration. */
interface Unconfigured {
  readonly kind: 'needs_configuration';
  readonly explanation: string;
}

interface Catalogue {
  readonly plan: readonly EvaluatorConfig[];
  readonly context: EvaluationContext;
}

export function evaluability(run: Run, { plan, context }: Catalogue): readonly Evaluability[] {
  const expected = run.expected === undefined ? {} : readExpectation(run.expected).expectation;
  // Evaluators of files come last.
  return [...new Set([...evaluators, ...plan.map(({ configured }) => configured.evaluator)])].flatMap((evaluator) => {
    const planned = plan.filter(({ configured }) => configured.evaluator.id === evaluator.id);
    if (planned.length > 0)
      return planned.map(({ configured, when }) =>
        ofConfigured(run, configured, {
          on: true,
          outcome: when !== undefined && !when(run) ? { kind: 'filtered' } : outcomeOf(run, configured, expected, context),
          expected,
        }),
      );
    const made = configuredEvaluator({ use: evaluator.id }, evaluators);
    if (made.kind === 'ready')
      return [ofConfigured(run, made.evaluator, { on: false, outcome: outcomeOf(run, made.evaluator, expected, context), expected })];
    return [
      {
        name: evaluator.id,
        evaluator,
        on: false,
        outcome: unconfigured(made.faults),
        missing: missingOf(run, evaluator, expected),
        hints: [],
      },
    ];
  });
}

function ofConfigured(
  run: Run,
  { name, evaluator, expect }: ConfiguredEvaluator,
  { on, outcome, expected }: Pick<Evaluability, 'on' | 'outcome'> & { readonly expected: Expectation },
): Evaluability {
  const lacking = lackIn(outcome, evaluator);
  return {
    name,
    evaluator,
    on,
    outcome,
    missing: missingOf(run, evaluator, { ...expect, ...expected }),
    ...lacking,
    hints: hintsFor(lacking.lack, run),
  };
}

function missingOf(run: Run, { needs }: AnyEvaluator, expected: Expectation): readonly Need[] {
  return needs.filter((need) => !has[need](run, expected));
}

function unconfigured(faults: readonly Fault[]): Unconfigured {
  return {
    kind: 'needs_configuration',
    explanation: `It needs a configuration: ${faults.map(({ path, problem }) => [path.join('.'), problem].join(' ').trim()).join('; ')}.`,
  };
}

/** Asks no judge: an evaluator that comes to a question could score. */
function outcomeOf(run: Run, configured: ConfiguredEvaluator, expected: Expectation, context: EvaluationContext): Evaluability['outcome'] {
  if (configured.kind === 'rule') return configured.evaluate(run.trace, expected, context);
  const questions = configured.judge(run.trace, expected, context, run);
  const first = questions.next();
  if (first.done === true) return first.value;
  questions.return({ kind: 'failed', error: 'not_asked', explanation: '', details: {} });
  return { kind: 'would_ask' };
}

const has: { readonly [need in Need]: (run: Run, expected: Expectation) => boolean } = {
  tool_calls: ({ trace }) => trace.toolCalls.length > 0,
  tool_definitions: ({ trace }) => trace.toolDefinitions.length > 0,
  tool_results: ({ trace }) => trace.toolCalls.some((call) => call.result !== undefined || call.error !== undefined),
  input: ({ trace }) => trace.input !== undefined,
  final_response: ({ trace }) => trace.finalResponse !== undefined,
  expected_tool_calls: (_run, expected) => expected.toolCalls !== undefined,
  expected_tool_outputs: (_run, expected) => expected.toolOutputs !== undefined,
  expected_tool_counts: (_run, expected) => expected.toolCallsCount !== undefined,
  expected_tool_order: (_run, expected) => expected.toolCallsOrder !== undefined,
  expected_messages: (_run, expected) => expected.messages !== undefined,
  expected_output: (_run, expected) => expected.output !== undefined,
  expected_context: (_run, expected) => expected.context !== undefined,
  documents: ({ trace }) => trace.documents.some(({ content }) => content !== undefined),
  search_text: (_run, expected) => expected.searchText !== undefined,
  tokens: ({ trace }) => trace.tokens !== undefined,
  times: ({ trace }) => trace.startUnixNano !== undefined && trace.endUnixNano !== undefined,
  tasks: ({ trace }, expected) => (expected.tasks ?? trace.tasks) !== undefined,
};

/** An evaluator without an expectation takes its settings from its options. */
function lackIn(outcome: Evaluability['outcome'], { expectationSchema }: AnyEvaluator): Pick<Evaluability, 'lack'> {
  const lack = outcome.kind === 'skipped' ? lackOf(outcome.reason) : undefined;
  if (lack === undefined) return {};
  return { lack: lack === 'expectation' && expectationSchema === undefined ? 'options' : lack };
}

function hintsFor(lack: Evaluability['lack'], run: Run): readonly string[] {
  if (lack === undefined) return [];
  const remedy =
    lack === 'options' ? 'Set its options in the configuration; tracejury evaluators NAME lists them.' : missingDataOf(lack, run.dialects);
  return remedy === undefined ? [] : [remedy];
}

/** The share of runs of one agent and dialect that each evaluator could score. */
export interface AgentShares {
  readonly agent: string;
  /** The main collector; empty when none read the run. */
  readonly dialect: string;
  /** All collectors that read any of the runs. */
  readonly dialects: readonly string[];
  readonly runs: number;
  readonly shares: readonly Share[];
  /** Every evaluator of every run. */
  readonly evaluability: readonly Evaluability[];
}

interface RunAttempts {
  readonly run: Run;
  readonly evaluability: readonly Evaluability[];
  readonly attempts: readonly Attempt[];
}

/** By agent and dialect, in order of first run; sub-agents are agents like the others. */
export function agentShares(inspected: readonly InspectedRun[]): readonly AgentShares[] {
  const groups = Map.groupBy(flat(inspected).map(attemptsOf), ({ run, attempts }) =>
    JSON.stringify([run.trace.agent ?? '', attempts[0]?.dialect ?? '']),
  );
  return [...groups.values()].map((own) => {
    const attempts = own.flatMap((one) => one.attempts);
    return {
      agent: own[0]?.run.trace.agent ?? '',
      dialect: attempts[0]?.dialect ?? '',
      dialects: [...new Set(own.flatMap(({ run }) => run.dialects))],
      runs: own.length,
      shares: sharesOf(attempts),
      evaluability: own.flatMap(({ evaluability }) => evaluability),
    };
  });
}

function flat(inspected: readonly InspectedRun[]): readonly InspectedRun[] {
  return inspected.flatMap((one) => [one, ...flat(one.subRuns)]);
}

function attemptsOf({ run, evaluability }: InspectedRun): RunAttempts {
  return { run, evaluability, attempts: evaluability.flatMap((one) => attemptIn(run, one) ?? []) };
}

/** A question to a judge counts as scored: nothing is missing. */
function attemptIn(run: Run, { name, outcome }: Evaluability): Attempt | undefined {
  if (outcome.kind === 'needs_configuration') return undefined;
  if (outcome.kind === 'skipped') return attemptOf(run, { name, decision: 'skipped', reason: outcome.reason });
  return attemptOf(run, { name, decision: outcome.kind === 'would_ask' ? 'scored' : outcome.kind });
}

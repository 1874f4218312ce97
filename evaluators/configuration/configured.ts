/**
 * Turns a configuration entry into an evaluator that is ready to run: validates options and expectation by the evaluator's schemas, fills
 * in defaults, and applies the threshold. An exception of an evaluator becomes a failed outcome.
 */
import type { AgentTrace, Run } from '../../src/model/agent-trace.ts';
import type { ClientTls } from '../../src/model/client-tls.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import { isJsonArray, isJsonObject, jsonText, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { runTargetId, verdictOf, type Outcome, type Verdict } from '../../src/model/verdict.ts';
import type { AnyEvaluator, Asking, EvaluationContext, ExpectedPart, JudgeEvaluator, Fault } from '../evaluator.ts';
import { readExpectation, schemaParts } from '../expectation/expectation.ts';
import { withFunctions, type GivenFunction, withoutSecrets, filledOptions, schemaFaults } from './options.ts';
import { judgeParts, judgedPartsFaults, judgedPartsSchema, readJudgedParts, type JudgedParts } from '../judging/judged-parts.ts';
import { mapReduced, mapReduceFaults, mapReduceSchema, readMapReduce, type MapReduce } from '../judging/map-reduce.ts';
import { validateOutcome } from './validate-outcome.ts';
import { outcomeByTurn, turnGroupings, type TurnGrouping } from '../evidence/conversation.ts';

/** The part of an `evaluators:` entry that concerns the evaluator, as the user wrote it. */
export interface EvaluatorEntry {
  readonly use: string;
  readonly name?: string;
  readonly options?: JsonValue;
  /** `null` for a metric without pass or fail. Defaults to the evaluator's threshold. */
  readonly threshold?: JsonValue;
  readonly expect?: JsonValue;
  readonly on_empty?: JsonValue;
  readonly include_explanation?: JsonValue;
  /** Grouping of turns: the run is scored turn by turn, and the worst turn counts. When omitted, the run is scored as a whole. */
  readonly turns?: JsonValue;
  /** Parts of a run that the judge is asked about one by one. When omitted, it is asked about the run. */
  readonly on?: JsonValue;
  /** The way to read a run that does not fit into one question. When omitted, its middle is cut. */
  readonly map?: JsonValue;
  /** Name of a judge; a rule with a judge then uses it. */
  readonly judge?: JsonValue;
}

interface Configured {
  readonly name: string;
  readonly evaluator: AnyEvaluator;
  readonly threshold: number | null;
  /** Hash that distinguishes verdicts by options and expectation. */
  readonly optionsHash: string;
  /** The expectation of every run. Members of a run's own expectation win. */
  readonly expect: Expectation;
  /** The parts of a run's expectation that decide the verdict. When omitted, none do. */
  checks?(expected: Expectation): readonly ExpectedPart[];
}

export interface ConfiguredRule extends Configured {
  readonly kind: 'rule';
  /** `run`: present for a trace from a stream of spans. */
  evaluate(trace: AgentTrace, expected: Expectation, context: EvaluationContext, run?: Run): Verdict;
}

interface Asks extends Configured {
  /** When omitted, the judge is asked about the run as a whole. */
  readonly parts?: JudgedParts;
  /** When omitted, a run that does not fit into one question is shown with its middle cut. */
  readonly map?: MapReduce;
  /** `run`: present for a trace from a stream of spans. */
  judge(trace: AgentTrace, expected: Expectation, context: EvaluationContext, run?: Run): Asking<Verdict>;
}

/** A judge evaluator, or a rule with a judge. */
export interface ConfiguredJudge extends Asks {
  readonly kind: 'judge';
}

/** An evaluator at an HTTP endpoint. */
export interface ConfiguredHttp extends Asks {
  readonly kind: 'http';
  /** TLS settings of an HTTPS endpoint; no part of the options hash. */
  readonly tls?: ClientTls;
  /** Limit of runs in progress at the endpoint. */
  readonly concurrency: number;
}

/** An evaluator that waits for answers. */
export type ConfiguredAsking = ConfiguredJudge | ConfiguredHttp;
export type ConfiguredEvaluator = ConfiguredRule | ConfiguredAsking;

export type Configuration =
  | { readonly kind: 'ready'; readonly evaluator: ConfiguredEvaluator }
  | { readonly kind: 'faulty'; readonly faults: readonly Fault[] };

const nameMax = 128;

/** The evaluator of an entry, or all faults of the entry with the paths of their keys. `functions`: values that only a program can pass. */
export function configuredEvaluator(
  entry: EvaluatorEntry,
  table: readonly AnyEvaluator[],
  functions: readonly GivenFunction[] = [],
): Configuration {
  const evaluator = table.find(({ id }) => id === entry.use);
  if (evaluator === undefined)
    return {
      kind: 'faulty',
      faults: [{ path: ['use'], problem: `names no evaluator; there are ${table.map(({ id }) => id).join(', ')}` }],
    };
  const given = entry.options ?? {};
  const written = isJsonObject(given) && entry.on_empty !== undefined ? { ...given, on_empty: entry.on_empty } : given;
  const expectation = entry.expect === undefined ? { expectation: {}, faults: [] } : readExpectation(entry.expect);
  const faults = [
    ...entryFaults(entry),
    ...nameFaults(entry, evaluator),
    ...onEmptyFaults(entry, evaluator),
    ...turnsFaults(entry, evaluator),
    ...onFaults(entry, evaluator),
    ...mapFaults(entry, evaluator),
    ...optionFaults(entry, evaluator, written),
    ...expectFaults(entry, evaluator, expectation.faults),
  ];
  if (faults.length > 0) return { kind: 'faulty', faults };
  const options = withFunctions(
    filledOptions(evaluator.optionsSchema, evaluator.defaults, isJsonObject(written) ? written : {}),
    functions,
  );
  const more = [
    ...below('options', evaluator.optionFaults?.(options)),
    ...(entry.expect === undefined ? [] : below('expect', evaluator.expectationFaults?.(expectation.expectation, options))),
  ];
  if (more.length > 0) return { kind: 'faulty', faults: more };
  const threshold = thresholdOf(entry, evaluator);
  const parts = entry.on === undefined ? undefined : readJudgedParts(entry.on);
  const map = entry.map === undefined ? undefined : readMapReduce(entry.map);
  const common = {
    name: entry.name ?? evaluator.id,
    threshold,
    optionsHash: hashText(
      jsonText(
        [
          evaluator.id,
          evaluator.version,
          withoutSecrets(evaluator.optionsSchema, written),
          entry.expect ?? null,
          threshold,
          ...(entry.turns === undefined ? [] : [entry.turns]),
          ...(parts === undefined ? [] : [JSON.stringify(parts)]),
          ...(map === undefined ? [] : [JSON.stringify(map)]),
          ...functions.map(({ path, given }) => [path.join('.'), String(given)]),
        ],
        { sortKeys: true },
      ),
    ),
    expect: expectation.expectation,
    checks: (expected: Expectation) => [
      ...(evaluator.checks?.(options, expected) ?? schemaParts(evaluator.expectationSchema)),
      ...(entry.turns === undefined ? [] : ['by_turn' as const]),
    ],
  };
  return {
    kind: 'ready',
    evaluator: ready(evaluator, common, options, {
      withJudge: entry.judge !== undefined,
      withExplanation: entry.include_explanation !== false,
      turns: turnGroupings.find((one) => one === entry.turns),
      parts,
      map,
    }),
  };
}

type Questions = JudgeEvaluator<unknown>['evaluate'];

function ready(
  evaluator: AnyEvaluator,
  common: Omit<Configured, 'evaluator'>,
  options: unknown,
  {
    withJudge,
    withExplanation,
    turns,
    parts,
    map,
  }: {
    readonly withJudge: boolean;
    readonly withExplanation: boolean;
    readonly turns: TurnGrouping | undefined;
    readonly parts: JudgedParts | undefined;
    readonly map: MapReduce | undefined;
  },
): ConfiguredEvaluator {
  const verdict = (outcome: Outcome): Verdict => {
    const reached = verdictOf(outcome, common.threshold);
    return withExplanation ? reached : unexplained(reached);
  };
  const expectedOf = (expected: Expectation): Expectation => ({ ...common.expect, ...expected });
  const asking = (questions: Questions): Asks => ({
    ...common,
    evaluator,
    ...(parts === undefined ? {} : { parts }),
    ...(map === undefined ? {} : { map }),
    *judge(trace, expected, context, run) {
      if (parts === undefined) {
        // Pieces bound what the judge gets, so more calls may be read.
        const own = map === undefined ? context : { ...context, toolCallsMax: context.toolCallsMax * map.piecesMax };
        const subject = { trace, expected: expectedOf(expected), ...(run === undefined ? {} : { run }) };
        return verdict(yield* guardedAsking(() => mapReduced(questions(subject, options, own), map)));
      }
      // The expectation of a run does not apply to its parts.
      const ofPart = (part: AgentTrace): Asking<Outcome> =>
        guardedAsking(() => mapReduced(questions({ trace: part, expected: common.expect, whole: trace }, options, context), undefined));
      const seed = run === undefined ? '' : runTargetId(run);
      return verdict(yield* judgeParts(trace, { parts, threshold: common.threshold, seed, questions: ofPart }));
    },
  });
  if (evaluator.kind === 'judge') return { ...asking(evaluator.evaluate), kind: 'judge' };
  if (evaluator.kind === 'http') return { ...asking(evaluator.evaluate), kind: 'http', concurrency: evaluator.concurrency(options) };
  if (withJudge && evaluator.evaluateWithJudge !== undefined) return { ...asking(evaluator.evaluateWithJudge), kind: 'judge' };
  const outcome = (trace: AgentTrace, expected: Expectation, context: EvaluationContext, run?: Run): Outcome =>
    guarded(() => evaluator.evaluate({ trace, expected, ...(run === undefined ? {} : { run }) }, options, context));
  return {
    ...common,
    kind: 'rule',
    evaluator,
    evaluate: (trace, expected, context, run) =>
      verdict(
        turns === undefined
          ? outcome(trace, expectedOf(expected), context, run)
          : outcomeByTurn(trace, expectedOf(expected), turns, (turn, own) => outcome(turn, own, context)),
      ),
  };
}

function* guardedAsking(asking: () => Asking<Outcome>): Asking<Outcome> {
  try {
    return validateOutcome(yield* asking());
  } catch (error) {
    return crashed(error);
  }
}

function guarded(evaluate: () => Outcome): Outcome {
  try {
    return validateOutcome(evaluate());
  } catch (error) {
    return crashed(error);
  }
}

/** An exception is not the agent's fault. The outcome names only the kind of error, as a message may contain trace text. */
function crashed(error: unknown): Outcome {
  const name = error instanceof Error ? error.name : 'an error';
  return {
    kind: 'failed',
    error: 'evaluator_crashed',
    explanation: `The evaluator broke off with ${name}; this is a fault of the evaluator, not of the agent.`,
  };
}

function unexplained(verdict: Verdict): Verdict {
  if (verdict.kind !== 'scored') return { ...verdict, explanation: '' };
  return { ...verdict, explanation: '', parts: verdict.parts.map((part) => ({ ...part, explanation: '' })) };
}

function below(key: string, faults: readonly Fault[] = []): readonly Fault[] {
  return faults.map(({ path, problem }) => ({ path: [key, ...path], problem }));
}

function entryFaults({ name, threshold, include_explanation: explanation }: EvaluatorEntry): readonly Fault[] {
  const faults: Fault[] = [];
  if (name !== undefined && (name.trim() === '' || name.length > nameMax))
    faults.push({ path: ['name'], problem: `must be a text of 1 to ${nameMax} characters` });
  if (threshold !== undefined && threshold !== null && !(typeof threshold === 'number' && threshold >= 0 && threshold <= 1))
    faults.push({ path: ['threshold'], problem: 'must be a number from 0 to 1, or null for a raw metric' });
  if (explanation !== undefined && typeof explanation !== 'boolean')
    faults.push({ path: ['include_explanation'], problem: 'must be true or false' });
  return faults;
}

/** An HTTP entry needs a name, as its id is the same for every endpoint. */
function nameFaults({ name }: EvaluatorEntry, { id, kind }: AnyEvaluator): readonly Fault[] {
  return kind === 'http' && name === undefined
    ? [{ path: ['name'], problem: `is missing; each ${id} evaluator needs a different name` }]
    : [];
}

function onEmptyFaults(entry: EvaluatorEntry, evaluator: AnyEvaluator): readonly Fault[] {
  const properties = member(evaluator.optionsSchema, 'properties');
  const known = isJsonObject(properties) && Object.hasOwn(properties, 'on_empty');
  return entry.on_empty === undefined || known
    ? []
    : [{ path: ['on_empty'], problem: `is not for ${evaluator.id}, which has no empty case` }];
}

function turnsFaults(entry: EvaluatorEntry, { id, kind }: AnyEvaluator): readonly Fault[] {
  if (entry.turns === undefined) return [];
  if (kind !== 'rule' || entry.judge !== undefined)
    return [{ path: ['turns'], problem: `is for rules; ${id} asks a judge or an endpoint` }];
  return turnGroupings.some((one) => one === entry.turns)
    ? []
    : [{ path: ['turns'], problem: `must be one of ${turnGroupings.join(', ')}` }];
}

function thresholdOf({ threshold }: EvaluatorEntry, { defaultThreshold }: AnyEvaluator): number | null {
  return typeof threshold === 'number' ? threshold : threshold === null ? null : defaultThreshold;
}

function onFaults(entry: EvaluatorEntry, evaluator: AnyEvaluator): readonly Fault[] {
  if (entry.on === undefined) return [];
  const schema = schemaFaults(judgedPartsSchema, entry.on);
  return below('on', schema.length > 0 ? schema : judgedPartsFaults(entry.on, evaluator, thresholdOf(entry, evaluator)));
}

function mapFaults(entry: EvaluatorEntry, evaluator: AnyEvaluator): readonly Fault[] {
  if (entry.map === undefined) return [];
  const schema = schemaFaults(mapReduceSchema, entry.map);
  return below('map', schema.length > 0 ? schema : mapReduceFaults(evaluator, entry.on !== undefined));
}

function optionFaults(entry: EvaluatorEntry, evaluator: AnyEvaluator, written: JsonValue): readonly Fault[] {
  if (!isJsonObject(written)) return [{ path: ['options'], problem: 'must be an object' }];
  const ownKey = (path: Fault['path']): Fault['path'] =>
    path[0] === 'on_empty' && entry.on_empty !== undefined ? path : ['options', ...path];
  return schemaFaults(evaluator.optionsSchema, written)
    .filter(({ path }) => !(path[0] === 'on_empty' && onEmptyFaults(entry, evaluator).length > 0))
    .map(({ path, problem }) => ({ path: ownKey(path), problem }));
}

function expectFaults(entry: EvaluatorEntry, evaluator: AnyEvaluator, read: readonly Fault[]): readonly Fault[] {
  if (entry.expect === undefined) return [];
  if (evaluator.expectationSchema === undefined)
    return [{ path: ['expect'], problem: `is not for ${evaluator.id}, which takes no expectation` }];
  const known = new Set(read.map(({ path }) => jsonText([...path])));
  const more = expectationSchemaFaults(evaluator.expectationSchema, entry).filter(({ path }) => !known.has(jsonText([...path])));
  return [...read, ...more].map(({ path, problem }) => ({ path: ['expect', ...path], problem }));
}

/** Expectations of turns have the form of a run's expectation; one of the two is enough. */
function expectationSchemaFaults(schema: JsonObject, { expect = {}, turns }: EvaluatorEntry): readonly Fault[] {
  const byTurn = isJsonObject(expect) ? member(expect, 'by_turn') : undefined;
  if (byTurn === undefined || !isJsonObject(expect)) return schemaFaults(schema, expect);
  const { by_turn: _turns, ...flat } = expect;
  return [
    ...(turns === undefined ? [{ path: ['by_turn'], problem: `is for an entry with turns: ${turnGroupings.join(' or ')}` }] : []),
    ...(Object.keys(flat).length === 0 ? [] : schemaFaults(schema, flat)),
    ...(isJsonArray(byTurn)
      ? byTurn.flatMap((one, at) =>
          one === null ? [] : schemaFaults(schema, one).map(({ path, problem }) => ({ path: ['by_turn', at, ...path], problem })),
        )
      : []),
  ];
}

/** FNV-1a in 64 bits; distinguishes configurations, but is not collision-resistant. */
function hashText(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}

export type { Fault } from '../evaluator.ts';

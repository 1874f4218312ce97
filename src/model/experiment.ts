/** An experiment: one version of an agent, run over one version of a dataset, with its runs and verdicts. */
import type { SpanId, Tenant, TraceId } from './ids.ts';
import type { RunFault } from './scored-run.ts';
import { type Micros, timeText } from './timestamp.ts';
import { isCheck, type VerdictWord } from './verdict.ts';

/**
 * running: results are still coming, or the runner was killed. stopped: the runner was interrupted. done: each example has its results, and it takes
 * no more. An experiment begun by spans is done when no result has come for `spanExperimentOpenMicros`.
 */
export const experimentStates = ['running', 'done', 'stopped'] as const;
export type ExperimentState = (typeof experimentStates)[number];

/** A week: verdicts of judges may come in batches, a day later. */
export const spanExperimentOpenMicros = 7 * 86_400_000_000;

export interface Experiment {
  /** Unique in its tenant: 1 to 100 letters, digits, `.`, `_` and `-`. */
  readonly id: string;
  readonly tenant: Tenant;
  /** Several experiments may have one name; the name refers to the newest. */
  readonly name: string;
  /** Omitted when no dataset was named. */
  readonly dataset?: ExperimentDataset;
  /** Runs of each example. */
  readonly repeats: number;
  readonly state: ExperimentState;
  readonly beganAt: Micros;
  readonly endedAt: Micros | undefined;
  readonly provenance: Provenance;
  readonly evaluators: readonly ExperimentEvaluator[];
  /** True when spans have begun it. Runs that name any other experiment in their spans are not its results: its runner writes them. */
  readonly isFromSpans?: true;
}

export interface ExperimentDataset {
  /** Name of a stored dataset, or of a file. */
  readonly name: string;
  /** Absent for a file. */
  readonly version?: number;
  /** SHA-256 of the examples: equal for a file and a stored version with the same examples. */
  readonly hash: string;
  /** Number of examples. */
  readonly examples: number;
}

/** The code and settings of the runs. Omitted members are unknown. */
export interface Provenance {
  readonly commit?: string;
  readonly branch?: string;
  /** True when the work tree had uncommitted changes. */
  readonly isDirty?: boolean;
  /** Hash of the evaluators and judges with their options. */
  readonly configHash?: string;
  /** Versions of the programs, the platform, and the CI system, by name. */
  readonly environment?: { readonly [name: string]: string };
}

/** Facts of the agent in the spans of one run. Omitted members are unknown. */
export interface AgentFacts {
  readonly agent?: string;
  readonly version?: string;
  readonly model?: string;
  /** Hash of the system prompt. */
  readonly promptHash?: string;
  /** Hash of the tool definitions in any order. */
  readonly toolsHash?: string;
}

export interface ExperimentEvaluator {
  /** The configured name. */
  readonly name: string;
  /** The evaluator's id. */
  readonly evaluator: string;
  readonly version: number;
  /** `null` for a raw metric. */
  readonly threshold: number | null;
}

/**
 * failed: a verdict did not pass, or there is no run to score. error: a judge gave no usable answer. skipped: nothing could be scored, or an
 * expectation has no score.
 */
export const resultStatuses = ['passed', 'failed', 'error', 'skipped'] as const;
export type ResultStatus = (typeof resultStatuses)[number];

/** Why an example has no run, or none that ended well. run_error: the spans of the run state that it ended in an error. */
export const resultErrorKinds = [
  'no_spans',
  'no_run',
  'exit_code',
  'signal',
  'timed_out',
  'too_much_output',
  'not_started',
  'http_status',
  'task_failed',
  'run_error',
] as const;
export type ResultErrorKind = (typeof resultErrorKinds)[number];

/** One run of one example. */
export interface ExperimentResult {
  readonly exampleId: string;
  /** Number of the run of this example, from 1. */
  readonly repeat: number;
  readonly status: ResultStatus;
  /** The beginning of the example's input in one line, for people; absent when it is unknown. */
  readonly input?: string;
  /** Input and final response, redacted and cut; absent when the run lacks one of them, or when the store of the service has the run. */
  readonly texts?: ResultTexts;
  readonly error?: ResultError;
  /** The scored run; absent when there is none. */
  readonly run?: { readonly traceId: TraceId; readonly spanId: SpanId };
  readonly beganAt: Micros;
  readonly endedAt: Micros;
  /** Duration of the agent's run by its spans, or else of its process. */
  readonly tookMicros?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** US dollars. Absent when the cost of a model call is unknown. */
  readonly cost?: number;
  readonly agent: AgentFacts;
  readonly verdicts: readonly ResultVerdict[];
}

export interface ResultTexts {
  readonly input: string;
  readonly response: string;
}

export interface ResultError {
  readonly kind: ResultErrorKind;
  /** The fault and what to check, in sentences. */
  readonly message: string;
}

export interface ResultVerdict {
  readonly name: string;
  readonly evaluator: string;
  readonly verdict: VerdictWord;
  /** From 0 to 1; absent unless it was scored. */
  readonly score?: number;
  readonly label: string;
  readonly explanation: string;
  /** Reason of a skip, or the error. */
  readonly reason?: string;
  /** The issues that a failed verdict belongs to; absent when they are unknown. */
  readonly faults?: readonly Omit<RunFault, 'name'>[];
}

export const experimentIdPattern = '^[A-Za-z0-9._-]{1,100}$';
const experimentId = new RegExp(experimentIdPattern);

/** `.` and `..` are steps of a path, and `compare` and `history` are routes of the API. */
export function isExperimentId(text: string): boolean {
  return experimentId.test(text) && !/^(?:\.+|compare|history)$/.test(text);
}

const idNameChars = 60;

/** Readable, in the order of time, and unique by `random`. */
export function newExperimentId(name: string, beganAt: Micros, random: string): string {
  const slug = name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, idNameChars);
  const time = timeText(BigInt(beganAt) * 1_000n)
    .replaceAll(/[-:]|\..*$/g, '')
    .replace('T', '-');
  const id = `${slug}-${time}-${random}`;
  return isExperimentId(id) ? id : `experiment-${time}-${random}`;
}

/** The words of all verdicts together. One failure fails the result, a missing verdict of a judge leaves it open. */
export function statusOfVerdicts(verdicts: readonly Pick<ResultVerdict, 'evaluator' | 'verdict'>[]): ResultStatus {
  const has = (word: VerdictWord): boolean => verdicts.some(({ verdict }) => verdict === word);
  if (has('fail')) return 'failed';
  if (has('error')) return 'error';
  return verdicts.some(({ evaluator, verdict: word }) => isCheck({ evaluator, word })) ? 'passed' : 'skipped';
}

/** A result with an error failed, with any verdicts. */
export function statusOfResult({ error, verdicts }: Pick<ExperimentResult, 'error' | 'verdicts'>): ResultStatus {
  return error === undefined ? statusOfVerdicts(verdicts) : 'failed';
}

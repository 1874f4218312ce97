/** Judge calls as spans report them: endpoint, model, times and outcome, without any text. */
import { derivedSpanId, derivedTraceId, type SpanId, type TraceId } from './ids.ts';
import { evaluationKeyText, type EvaluationKey } from './verdict.ts';

/** One request with all its attempts. */
export interface JudgeCall {
  /** Name of the judge's entry in the configuration. */
  readonly judge: string;
  readonly operation: 'chat' | 'embeddings';
  /** The provider's name in the GenAI conventions; for an unknown endpoint the name of its protocol. */
  readonly provider: string;
  readonly server: { readonly address: string; readonly port: number };
  /** The requested model. */
  readonly model: string;
  /** Id of the batch in which it went, as the endpoint names it. */
  readonly batch?: string;
  /** Id of the question within its evaluator; embeddings have none. */
  readonly question?: string;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  /** Failed attempts: time and error. */
  readonly retries: readonly { readonly atMs: number; readonly error: string }[];
  /** Facts of the answer that the endpoint reports, truncated. */
  readonly response?: { readonly id?: string; readonly model?: string; readonly finishReason?: string };
  readonly tokens?: { readonly input: number; readonly output: number };
  /** `word: sentence`; absent when an answer came. */
  readonly error?: string;
}

/** Called after each call. */
export type NoteCall = (call: JudgeCall) => void;

/** Limit of recorded calls per verdict. */
export const judgeCallsMax = 100;

/** Ids of the judge trace of one verdict, derived from the evaluation key. */
export interface JudgeTrace {
  readonly traceId: TraceId;
  readonly spanId: SpanId;
}

export function judgeTrace(key: EvaluationKey, revision: number): JudgeTrace {
  const text = JSON.stringify(['judge', evaluationKeyText(key), revision]);
  return { traceId: derivedTraceId(text), spanId: derivedSpanId(text, 32) };
}

/** Span id of the n-th call for a verdict. A call repeated after a restart has other times and another id. */
export function judgeCallSpanId({ traceId }: JudgeTrace, nth: number, { startMs, endMs }: JudgeCall): SpanId {
  return derivedSpanId(JSON.stringify(['call', traceId, nth, startMs, endMs]));
}

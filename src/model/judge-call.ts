/** Calls to judges, as they are told to those who watch: which endpoint was asked for which model, how long it took and what came of it, and no text. */
import { derivedSpanId, derivedTraceId, type SpanId, type TraceId } from './ids.ts';
import { evaluationKeyText, type EvaluationKey } from './verdict.ts';

/** One request, with all the times that it was sent until it was answered or given up. */
export interface JudgeCall {
  /** Name of the judge's entry in the configuration. */
  readonly judge: string;
  readonly operation: 'chat' | 'embeddings';
  /** As the GenAI conventions name it; for an endpoint that nobody knows, whose protocol it speaks. */
  readonly provider: string;
  readonly server: { readonly address: string; readonly port: number };
  /** That was asked for. */
  readonly model: string;
  /** Id of the batch in which it went, as the endpoint names it. */
  readonly batch?: string;
  /** Id of the question within its evaluator; embeddings have none. */
  readonly question?: string;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  /** Times that it was sent in vain before: when that showed, and why. */
  readonly retries: readonly { readonly atMs: number; readonly error: string }[];
  /** What the endpoint said of itself, cut to a length. */
  readonly response?: { readonly id?: string; readonly model?: string; readonly finishReason?: string };
  readonly tokens?: { readonly input: number; readonly output: number };
  /** `word: sentence`; there when no answer came. */
  readonly error?: string;
}

/** Is told of each call when it is over. */
export type NoteCall = (call: JudgeCall) => void;

/** Of one verdict; an evaluator that asks more is told of as far as this. */
export const judgeCallsMax = 100;

/** The trace of the calls for one verdict, and its first span. The same verdict has the same ones everywhere. */
export interface JudgeTrace {
  readonly traceId: TraceId;
  readonly spanId: SpanId;
}

export function judgeTrace(key: EvaluationKey, revision: number): JudgeTrace {
  const text = JSON.stringify(['judge', evaluationKeyText(key), revision]);
  return { traceId: derivedTraceId(text), spanId: derivedSpanId(text, 32) };
}

/** Of the n-th call for a verdict. A call that is made again after a restart began at another time and is another span. */
export function judgeCallSpanId({ traceId }: JudgeTrace, nth: number, { startMs, endMs }: JudgeCall): SpanId {
  return derivedSpanId(JSON.stringify(['call', traceId, nth, startMs, endMs]));
}

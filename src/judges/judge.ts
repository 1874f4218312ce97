/**
 * The contract of a judge, and the settings of one. A judge is a model endpoint that answers a question in the question's schema, or gives the
 * vectors of texts, or says why not.
 */
import type { Answer, EmbeddingRequest, Question } from '../../evaluators/evaluator.ts';
import type { BudgetReservation, BudgetLimits } from '../model/budget.ts';
import type { NoteCall } from '../model/judge-call.ts';
import type { ClientTls } from '../model/client-tls.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import type { JsonObject } from '../model/json.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { TokenPrice } from './budget/budgets.ts';

export interface Judge {
  readonly name: string;
  readonly model: string;
  /** Resolves, never rejects: every fault is an answer of kind `failed`. `note` records each request; `budget` is that of the evaluator that asks. */
  ask(question: Question, note?: NoteCall, budget?: BudgetReservation): Promise<Answer>;
  /** As `ask`; only an embedding model has an answer to it. */
  embed(request: EmbeddingRequest, note?: NoteCall, budget?: BudgetReservation): Promise<Answer>;
  stop(): Promise<void>;
}

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

/** How the endpoint is asked to keep to the schema, from the strictest. Not every compatible endpoint knows each. */
export const answerFormats = ['json_schema', 'tool_call', 'json_object', 'text'] as const;
export type AnswerFormat = (typeof answerFormats)[number];

/** Members of the body of a question that only other keys set: its text, its form, and what bounds its cost. */
export const ownBodyMembers = [
  'model',
  'messages',
  'response_format',
  'stream',
  'stream_options',
  'n',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'max_completion_tokens',
  'max_tokens',
  'temperature',
  'reasoning_effort',
] as const;

/** Headers that the client itself sets; the key of the endpoint is `api_key`. */
export const ownHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'host',
  'connection',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'accept',
  'accept-encoding',
  'expect',
  'te',
  'trailer',
  'upgrade',
]);

export interface JudgeSettings {
  readonly name: string;
  readonly baseUrl: string;
  readonly model: string;
  /** Secret; empty: none is sent. */
  readonly apiKey: string;
  readonly concurrency: number;
  /** Longest wait for one whole answer. */
  readonly timeoutMs: number;
  readonly requestsPerMinute?: number;
  /** Sendings of one request after the first, while the endpoint is busy; absent: 4. */
  readonly retries?: number;
  /** Sent only when set: not every model takes them. */
  readonly temperature?: number;
  readonly reasoningEffort?: string;
  readonly answerTokensMax?: number;
  /** The only format that is asked for; absent: the strictest that the endpoint does not refuse. */
  readonly answerFormat?: AnswerFormat;
  /** Of every request. Values are secret. */
  readonly headers?: { readonly [name: string]: string };
  /** Members of the body of every question; those that are ours win. */
  readonly extraBody?: JsonObject;
  /** How long an answer stands for the same question; absent or 0: not at all. */
  readonly cacheMs?: number;
  /** US dollars per million tokens; absent: not known. */
  readonly price?: TokenPrice;
  /** Where it bounds money there is a price, and where it bounds money or tokens a limit of the answer. */
  readonly budget?: BudgetLimits;
  /** For an endpoint over HTTPS; absent: Node's authorities, and no certificate of ours. */
  readonly tls?: ClientTls;
  /** Questions go to the endpoint together; absent: each by itself. */
  readonly batch?: BatchSettings;
}

export interface JudgeDeps {
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** 0..1; spreads attempts. */
  readonly random: () => number;
  /** New at every call and not to be guessed: at least 64 random bits in text. */
  readonly nonce: () => string;
  /** Absent: its use is not counted. */
  readonly reservation?: BudgetReservation;
  /** Told of the code, such as ECONNREFUSED, when there is no connection. */
  readonly onNoConnection?: (judge: string, code: string) => void;
}

export interface BatchSettings {
  /** Between two polls of the batches that are in progress. */
  readonly pollMs: number;
  /** How long questions gather. */
  readonly gatherMs: number;
  /** A batch that is not done by then is cancelled. */
  readonly withinMs: number;
  /** Questions of one batch. */
  readonly requests: number;
  /** Of the file of one batch. */
  readonly bytes: number;
  /** Batches at one time. */
  readonly inFlight: number;
  /** Absent: that of the judge. */
  readonly price?: TokenPrice;
}

/** The contract of a judge and its settings. A judge is a model endpoint that answers questions in their schema, or embeds texts. */
import type { Answer, EmbeddingRequest, Question } from '../../evaluators/evaluator.ts';
import type { BudgetReservation, BudgetLimits } from '../model/budget.ts';
import type { NoteCall } from '../model/judge-call.ts';
import type { ClientTls } from '../model/client-tls.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import type { JsonObject } from '../model/json.ts';
import type { Busy } from '../runtime/retry.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { TokenPrice } from './budget/budgets.ts';

export interface Judge {
  readonly name: string;
  readonly model: string;
  /**
   * Resolves, never rejects: a fault is an answer of kind `failed`. `note` records each request; `budget` is that of the evaluator that
   * asks.
   */
  ask(question: Question, note?: NoteCall, budget?: BudgetReservation): Promise<Answer>;
  /** As `ask`, for embedding models. */
  embed(request: EmbeddingRequest, note?: NoteCall, budget?: BudgetReservation): Promise<Answer>;
  stop(): Promise<void>;
}

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

/** For a judge with a budget: a reservation needs the most that a call may cost. */
export const answerTokensDefault = 8_192;

/** How a request enforces the schema, from the strictest. Compatible endpoints do not support all of them. */
export const answerFormats = ['json_schema', 'tool_call', 'json_object', 'text'] as const;
export type AnswerFormat = (typeof answerFormats)[number];

/** Body members that `extraBody` cannot set: other keys set them, or they would lift a bound on cost. */
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

/** Headers that the client sets itself. The key `api_key` sets `authorization`. */
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
  /** Secret. Empty: no key is sent. */
  readonly apiKey: string;
  readonly concurrency: number;
  /** Timeout of one whole answer. */
  readonly timeoutMs: number;
  readonly requestsPerMinute?: number;
  /** Retries of one request while the endpoint is busy. Default: 4. */
  readonly retries?: number;
  /** Sent only when set, as not every model accepts it. Likewise the next two. */
  readonly temperature?: number;
  readonly reasoningEffort?: string;
  readonly answerTokensMax?: number;
  /** The only format to request. Default: the strictest that the endpoint accepts. */
  readonly answerFormat?: AnswerFormat;
  /** Headers of every request. Values are secret. */
  readonly headers?: { readonly [name: string]: string };
  /** Further body members of every question; `ownBodyMembers` win. */
  readonly extraBody?: JsonObject;
  /** Time for which an answer stays valid for the same question. Without it, or with 0, there is no cache. */
  readonly cacheMs?: number;
  /** US dollars per million tokens. Omitted when unknown. */
  readonly price?: TokenPrice;
  /** A money limit requires a price, and a money or token limit requires `answerTokensMax`. */
  readonly budget?: BudgetLimits;
  /** TLS settings of an HTTPS endpoint. Default: the authorities of Node, without a client certificate. */
  readonly tls?: ClientTls;
  /** Batches the questions. Without it, each question is a separate request. */
  readonly batch?: BatchSettings;
}

export interface JudgeDeps {
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** A number from 0 to 1, for the jitter of retries. */
  readonly random: () => number;
  /** A fresh text of at least 64 random bits. */
  readonly nonce: () => string;
  /** Omitted when the judge has no budget. */
  readonly reservation?: BudgetReservation;
  /** Called with a code such as ECONNREFUSED when a connection fails. */
  readonly onNoConnection?: (judge: string, code: string) => void;
  /** Called before a request is sent again. */
  readonly onRetry?: (judge: string, busy: Busy) => void;
  /** Called when the last attempt of a request has ended; `error` is `undefined` for an answer. */
  readonly onReply?: (judge: string, error: string | undefined) => void;
}

export interface BatchSettings {
  /** Pause between two polls of the batches in progress. */
  readonly pollMs: number;
  /** Time for which questions gather before a batch is sent. */
  readonly gatherMs: number;
  /** Age at which an unfinished batch is cancelled. */
  readonly withinMs: number;
  /** Limit of questions in one batch. */
  readonly requests: number;
  /** Limit of bytes in the file of one batch. */
  readonly bytes: number;
  /** Limit of batches in progress. */
  readonly inFlight: number;
  /** Default: the price of the judge. */
  readonly price?: TokenPrice;
}

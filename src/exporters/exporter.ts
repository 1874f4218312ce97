/** The contract of an exporter: it takes the evaluations of one run and says what became of them. */
import type { JsonValue } from '../model/json.ts';
import type { ExportItem } from '../model/scored-run.ts';

/**
 * `retryable`: the same item may be taken later. `retryAfterMs`: the backend asks to be left alone for so long. A failure that is not retryable is about
 * the item; whatever concerns the backend as a whole is. `isMissing`: the backend is there, and what the item is about is not there yet; it comes, or it
 * never does. Decision 35.
 */
export type ExportOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly retryable: boolean; readonly error: string; readonly retryAfterMs?: number }
  | {
      readonly kind: 'failed';
      readonly retryable: true;
      readonly isMissing: true;
      readonly error: string;
      readonly retryAfterMs?: undefined;
    };

export type ExportFailure = Extract<ExportOutcome, { readonly kind: 'failed' }>;

/** A request as it is sent. */
export interface PlannedRequest {
  readonly method: string;
  /** As the configuration has it, with the path: a user or a query in it may be secret. */
  readonly url: string;
  /** What is asked for, where it stands in the query. */
  readonly query?: string;
  /** Values may be secret. */
  readonly headers: { readonly [name: string]: string };
  /** What of it is JSON, or would be if it were sent so. */
  readonly body?: JsonValue;
}

export interface Exporter {
  readonly id: string;
  /** Items that it is given at one time; a few when left out. For exporters that send items together. */
  readonly itemsAtOnce?: number;
  /** What it has taken ends with the process, so nothing is kept for it in the store. */
  readonly isVolatile?: true;
  /** Resolves, never rejects. Called again with the same item after a retryable failure: the same item must give the same ids. */
  send(item: ExportItem): Promise<ExportOutcome>;
  /** One request that changes nothing, with address and credentials of all others. Resolves, never rejects. Absent: there is nothing to try. */
  probe?(): Promise<ExportOutcome>;
  /** The requests in which these would go to a backend that has their spans and no scores yet. Sends nothing. Absent: none would be sent. */
  plan?(items: readonly ExportItem[]): Promise<readonly PlannedRequest[]>;
  /** May be called twice. */
  stop(): Promise<void>;
}

/** The contract of an exporter: it sends the evaluations of one run to a backend and returns the outcome. */
import type { PeopleNotice } from '../model/issue-notice.ts';
import type { JsonValue } from '../model/json.ts';
import type { ExportItem } from '../model/scored-run.ts';

/**
 * `retryable`: the item may be sent again later; failures of the backend are, failures of the item are not. `retryAfterMs`: the delay that
 * the backend asks for. `isMissing`: the backend is up but does not have the span or trace of the item yet, or never gets it (decision 13).
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

/** A request as a dry run lists it. */
export interface PlannedRequest {
  readonly method: string;
  /** The URL with its path. A user name in it, or the path itself, may be secret. */
  readonly url: string;
  /** The query string, without its question mark. */
  readonly query?: string;
  /** Values may be secret. */
  readonly headers: { readonly [name: string]: string };
  /** The body as JSON; absent when it has none. */
  readonly body?: JsonValue;
}

export interface Exporter {
  readonly id: string;
  /** Items that the queue sends at the same time. Default: the queue's number. Exporters that batch items set it. */
  readonly itemsAtOnce?: number;
  /** True when the backend is in this process, so the store keeps no rows for it. */
  readonly isVolatile?: true;
  /** Resolves, never rejects. Idempotent: a retry of the same item sends the same ids. */
  send(item: ExportItem): Promise<ExportOutcome>;
  /** Notifies people of an alert or of issues. Resolves, never rejects. Omitted by exporters that send only scores. */
  notify?(notice: PeopleNotice): Promise<ExportOutcome>;
  /**
   * Sends one request without effect, to the address and with the credentials of all others. Resolves, never rejects. Omitted when there is
   * nothing to test.
   */
  probe?(): Promise<ExportOutcome>;
  /**
   * Lists the requests for these items, as if the backend had their spans and no scores. Sends nothing. Omitted by exporters that send no
   * requests.
   */
  plan?(items: readonly ExportItem[]): Promise<readonly PlannedRequest[]>;
  /** May be called twice. */
  stop(): Promise<void>;
}

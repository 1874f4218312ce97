/** What goes on to somebody else, as far as the journal must know it: what it has not got rid of is read again at the next start. */
import type { Tenant } from '../model/ids.ts';
import type { LogRecord, Span } from '../model/span.ts';
import type { OtlpEncoding } from '../otlp/read/read.ts';
import type { Received } from '../model/ingest.ts';
import type { JournalEntry, JournalRecord, Position } from './journal.ts';
import { encodingOf, type Request } from './records.ts';

export interface PassedRequest {
  readonly position: number;
  readonly tenant: Tenant;
  /** Inflated; undefined: it is to be read from the journal. */
  readonly body: { readonly bytes: Buffer; readonly encoding: OtlpEncoding } | undefined;
  /** False: something in it was rejected. */
  readonly isWhole: boolean;
}

export interface ForwardPort {
  /** False: nothing goes on. */
  wants(): boolean;
  /** When they are gathered. */
  spans(request: PassedRequest & { readonly spans: readonly Span[] }): void;
  logs(request: PassedRequest & { readonly records: readonly LogRecord[] }): void;
  /** The lowest position of what has not gone on. */
  oldest(): number | undefined;
  /** True: something of the trace with this key has not. */
  isHeld(key: string): boolean;
}

/** Of a request that has just come. */
export function passedRequest(
  position: Position,
  record: JournalRecord,
  { plain, isWhole = true }: Pick<Received, 'plain' | 'isWhole'>,
): PassedRequest {
  return {
    position,
    tenant: record.tenant,
    body: plain === undefined ? undefined : { bytes: plain, encoding: encodingOf(record) },
    isWhole,
  };
}

/** Of one that an earlier process took. */
export function passAgain(passing: ForwardPort, { position, record }: JournalEntry, request: Request): void {
  const passed = { position, tenant: record.tenant, body: undefined, isWhole: request.isWhole };
  if (request.kind === 'traces') passing.spans({ ...passed, spans: request.spans });
  else passing.logs({ ...passed, records: request.records });
}

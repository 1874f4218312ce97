/** What became of an OTLP request, from what the OpenTelemetry exporter lets us see. */
import type { ExportOutcome } from './exporter.ts';

interface ExportResult {
  /** 0: success. */
  readonly code: number;
  readonly error?: Error;
}

/**
 * OTLP names 429, 502, 503 and 504 as retryable. 500 joins them: what is sent again has the same ids, attempts are bounded, and a
 * backend whose database was away for a moment answers 500.
 */
const retryableStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
/** Errors of a connection that will not heal by itself, such as a wrong certificate or URL. */
const lastingFault = /^(ERR_|CERT_|DEPTH_|UNABLE_|SELF_SIGNED|HPE_)/;

export function exportOutcome({ code, error }: ExportResult): ExportOutcome {
  if (code === 0) return { kind: 'sent' };
  const fault: unknown = error !== undefined && 'code' in error ? error.code : undefined;
  // Messages may hold what the backend answered; the code says enough and is never secret.
  if (typeof fault === 'number') return { kind: 'failed', retryable: retryableStatuses.has(fault), error: `status ${fault}` };
  if (typeof fault === 'string') return { kind: 'failed', retryable: !lastingFault.test(fault), error: fault };
  return { kind: 'failed', retryable: true, error: 'no answer, or one that asks to try again' };
}

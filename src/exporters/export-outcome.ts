/** What became of a request, from what the backend answered. */
import type { ExportOutcome } from './exporter.ts';
import type { Answer } from './post.ts';

/**
 * What a backend says about this one item is final. Whatever else it answers concerns its address, its key or its state, which may be mended while the
 * item waits: decision 16.
 */
const finalStatuses: ReadonlySet<number> = new Set([400, 409, 413, 414, 422, 431]);

export function exportOutcome(answer: Answer): ExportOutcome {
  if (answer.kind === 'unanswered') return { kind: 'failed', retryable: true, error: answer.fault };
  const { status, retryAfterMs } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent' };
  return { kind: 'failed', retryable: !finalStatuses.has(status), error: `status ${status}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

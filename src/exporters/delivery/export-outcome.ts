/** What became of a request, from what the backend answered. */
import { pageFault } from './failure-reason.ts';
import type { Answer } from './http-request.ts';
import type { ExportOutcome } from '../exporter.ts';

/**
 * What a backend says about this one item is final. Whatever else it answers concerns its address, its key or its state, which may be mended while the
 * item waits: decision 16.
 */
const finalStatuses: ReadonlySet<number> = new Set([400, 409, 413, 414, 422, 431]);

/** `takesPages`: for receivers that may answer as they like. */
export function exportOutcome(answer: Answer, { takesPages = false }: { readonly takesPages?: boolean } = {}): ExportOutcome {
  if (answer.kind === 'unanswered') return { kind: 'failed', retryable: true, error: answer.fault };
  const { status, retryAfterMs } = answer;
  // Nothing that takes scores answers so: it is a proxy, a login, or a user interface that has a page for every path. Decision 46.
  if (status >= 200 && status < 300)
    return answer.isPage === true && !takesPages
      ? { kind: 'failed', retryable: true, error: `status ${status}: ${pageFault}` }
      : { kind: 'sent' };
  return {
    kind: 'failed',
    retryable: !finalStatuses.has(status),
    error: `status ${status}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** Whoever reads of a refusal looks at what shows who asks, and not at the network. `names`: what does, in the entry. */
export function refusalNamed<Outcome extends ExportOutcome>(outcome: Outcome, names: readonly string[]): Outcome {
  if (outcome.kind !== 'failed' || 'isMissing' in outcome || names.length === 0 || !/^status 40[13]$/.test(outcome.error)) return outcome;
  return { ...outcome, error: `${outcome.error}: ${names.join(' or ')} is refused` };
}

/** Sends the requests of one item one after the other: the first that fails ends it, and all of them are sent again with the item. */
export async function oneByOne<Part>(parts: readonly Part[], send: (part: Part) => Promise<ExportOutcome>): Promise<ExportOutcome> {
  for (const part of parts) {
    const outcome = await send(part);
    if (outcome.kind === 'failed') return outcome;
  }
  return { kind: 'sent' };
}

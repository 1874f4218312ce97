/** Derives the outcome of an export from the answer of the backend. */
import type { Answer } from './http-client.ts';
import type { ExportOutcome, ExportFailure } from '../exporter.ts';

/**
 * A status that concerns the item is final. Any other failure concerns the address, the key or the state of the backend, which an operator
 * can correct while the item waits: decision 13.
 */
const finalStatuses: ReadonlySet<number> = new Set([400, 409, 413, 414, 422, 431]);

/** `takesPages`: true for receivers that may answer with HTML. */
export function exportOutcome(answer: Answer, { takesPages = false }: { readonly takesPages?: boolean } = {}): ExportOutcome {
  if (answer.kind === 'unanswered') return { kind: 'failed', retryable: true, error: answer.fault };
  const { status, retryAfterMs } = answer;
  // No score API answers with a page. It comes from a proxy, a login or a user interface: decision 13.
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

/** Names the keys of the entry that carry credentials, as a refusal concerns them and not the network. */
export function refusalNamed<Outcome extends ExportOutcome>(outcome: Outcome, names: readonly string[]): Outcome {
  if (outcome.kind !== 'failed' || 'isMissing' in outcome || names.length === 0 || !/^status 40[13]$/.test(outcome.error)) return outcome;
  return { ...outcome, error: `${outcome.error}: ${names.join(' or ')} is refused` };
}

/** The outcome when an exporter throws. The name of the error is safe, its message may quote the item. */
export function unexpectedFailure(error: unknown): ExportFailure {
  return { kind: 'failed', retryable: false, error: error instanceof Error ? error.name : 'unknown' };
}

/** The backend does not have the span or trace of the item. `what`: the sentence about it. */
export function missing(what: string): ExportFailure & { readonly isMissing: true } {
  return { kind: 'failed', retryable: true, isMissing: true, error: what };
}

/** A 404 whose body matches `pattern` means that the target has not arrived. Any other 404 concerns the address. */
export function missingOr(answer: Answer, pattern: RegExp, what: string): ExportOutcome {
  return hasStatus(answer, 404) && pattern.test(answer.body.toString()) ? missing(what) : exportOutcome(answer);
}

/** The outcome of a deletion; what does not exist counts as deleted. */
export function deletionOutcome(answer: Answer): ExportOutcome {
  return hasStatus(answer, 404) ? { kind: 'sent' } : exportOutcome(answer);
}

export function hasStatus(answer: Answer, status: number): answer is Extract<Answer, { readonly kind: 'answered' }> {
  return answer.kind === 'answered' && answer.status === status;
}

/** Sends the requests of one item in order and stops at the first failure. A retry of the item sends all of them again. */
export async function oneByOne<Part>(parts: readonly Part[], send: (part: Part) => Promise<ExportOutcome>): Promise<ExportOutcome> {
  for (const part of parts) {
    const outcome = await send(part);
    if (outcome.kind === 'failed') return outcome;
  }
  return { kind: 'sent' };
}

export interface FailureReason {
  /** Reason of low cardinality: a known word, or `http_` and a status. */
  readonly reason: string;
  /** A sentence with the remedy; empty when unknown. */
  readonly todo: string;
}

export const pageFault = 'a page of HTML';
export const noGrpcFault = 'no status of gRPC';
export const rejectedFault = 'refused by a partial success';

/** By the beginning of the error, the first that fits. Codes are those of Node and of OpenSSL. */
const rows: readonly (FailureReason & { readonly of: RegExp })[] = [
  {
    of: new RegExp(`: ${pageFault}$`),
    reason: 'page',
    todo: 'Look at the endpoint: it answered with an HTML page of a proxy, a login or the backend’s own user interface.',
  },
  { of: /^status 40[13]/, reason: '', todo: 'Look at the keys, and whether they are of this address.' },
  { of: /^status 40[45]/, reason: '', todo: 'Look at the endpoint: there is no such interface at it.' },
  { of: /^status 413/, reason: '', todo: 'The backend takes smaller requests only: look for a limit of a proxy before it.' },
  { of: /^status 429/, reason: '', todo: 'The backend limits the rate of requests: try again later.' },
  { of: /^status 3/, reason: '', todo: 'Set the endpoint to the address that it redirects to.' },
  { of: /^status 5/, reason: '', todo: 'The backend has a fault: try again later.' },
  { of: /^no answer within/, reason: 'timeout', todo: 'The backend is slow, or a firewall drops the request.' },
  {
    of: /^(?:ENOTFOUND|ENODATA|EAI_)/,
    reason: 'dns',
    todo: 'Look at the host name in the endpoint, and at the name server of this machine.',
  },
  { of: /^(?:ERR_TLS_CERT_ALTNAME_INVALID)/, reason: 'tls', todo: 'The certificate names a different host from the endpoint.' },
  {
    of: /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)/,
    reason: 'tls',
    todo: 'The certificate is not valid now: renew it, or look at the clock of this machine.',
  },
  {
    of: /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_)/,
    reason: 'tls',
    todo: 'The certificate comes from an authority that is not trusted: name that authority in tls.ca_file.',
  },
  {
    of: /^ERR_SSL_\w*(?:ALERT|CERTIFICATE)/,
    reason: 'tls',
    todo: 'The backend refuses the handshake: if it requires a client certificate, name one in tls.cert_file.',
  },
  {
    of: /^(?:ERR_SSL_|ERR_TLS_|EPROTO)/,
    reason: 'tls',
    todo: 'The endpoint does not speak TLS as this machine does: does its address begin with http://?',
  },
  {
    of: /^(?:HPE_|ERR_HTTP2_|no status of gRPC)/,
    reason: 'protocol',
    todo: 'The endpoint speaks another protocol: look at its address, its port, and at protocol.',
  },
  { of: /^ECONNREFUSED/, reason: 'connection', todo: 'Nothing listens at the address: is the backend up, and its port right?' },
  {
    of: /^ADDRESS_NOT_PUBLIC/,
    reason: 'connection',
    todo: 'The endpoint resolves to a private address: set private_addresses: true if that is intended.',
  },
  {
    of: /^(?:E[A-Z]{3,}|no answer)/,
    reason: 'connection',
    todo: 'The connection breaks or cannot be made: look at the network and at proxies on the way.',
  },
  { of: new RegExp(`^${rejectedFault}`), reason: 'rejected', todo: 'The log of the backend has the reason.' },
];

export function failureReason({ error, ...outcome }: Pick<ExportFailure, 'error'> & { readonly isMissing?: true }): FailureReason {
  if (outcome.isMissing === true)
    return {
      reason: 'missing',
      todo: 'Look whether the spans reach this backend: at the agent’s exporter, and at the sampling on the way.',
    };
  const found = rows.find(({ of }) => of.test(error));
  const status = /^status (\d{3})/.exec(error)?.[1];
  return {
    reason: found !== undefined && found.reason !== '' ? found.reason : status === undefined ? 'other' : `http_${status}`,
    todo: found?.todo ?? '',
  };
}

/** Shortens the text to `charsMax` UTF-16 units, the last of them an ellipsis, and makes it well-formed. */
export function cutText(text: string, charsMax: number): string {
  return (text.length > charsMax ? `${text.slice(0, charsMax - 1)}…` : text).toWellFormed();
}

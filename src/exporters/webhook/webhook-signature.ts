/** Signatures of webhooks as Standard Webhooks 1.0 has them, for which receivers find ready code in most languages. Decision 41. */
import { createHmac } from 'node:crypto';

const secretPrefix = 'whsec_';

export interface SignedMessage {
  readonly id: string;
  /** Seconds since 1970. */
  readonly atSeconds: number;
  readonly body: string;
}

/** Bytes of a secret: base64 behind `whsec_`, any other text as it is. */
export function secretBytes(secret: string): Buffer {
  return secret.startsWith(secretPrefix) ? Buffer.from(secret.slice(secretPrefix.length), 'base64') : Buffer.from(secret);
}

/** Without a secret only the id and the time. */
export function signatureHeaders({ id, atSeconds, body }: SignedMessage, secret: string | undefined): { readonly [name: string]: string } {
  const unsigned = { 'webhook-id': id, 'webhook-timestamp': String(atSeconds) };
  if (secret === undefined) return unsigned;
  return { ...unsigned, 'webhook-signature': `v1,${createHmac('sha256', secretBytes(secret)).update(`${id}.${atSeconds}.${body}`).digest('base64')}` };
}

/** The reason that an endpoint gives for not answering, without keys and without what the request itself holds. */
import { oneLine } from '../../model/one-line.ts';
import type { JudgeSettings } from '../judge.ts';

const reasonCharsMax = 200;
/** Shorter runs of characters are words that any text has. */
const sharedCharsMin = 16;
const KEY = /\b(?:sk|pk|rk|key|token|bearer)[-_ ][\w*.-]{6,}/gi;
const QUOTED = /(["'`])([^"'`\n]{3,200})\1/g;

/** Texts that a reason may not repeat. */
export interface Confidential {
  readonly settings: Pick<JudgeSettings, 'apiKey' | 'headers'>;
  /** Texts of the request. */
  readonly sent: readonly string[];
}

/** The message with an ellipsis for what was sent, and a star for what is secret. */
export function redactedReason(message: string, { settings, sent }: Confidential): string {
  const secrets = [settings.apiKey, ...Object.values(settings.headers ?? {})].filter((secret) => secret.length >= 4);
  let text = oneLine(message, reasonCharsMax * 2);
  for (const secret of secrets) text = text.replaceAll(secret, '*');
  text = text
    .replaceAll(KEY, '*')
    .replaceAll(QUOTED, (whole, _quote, inner: string) => (sent.some((one) => one.includes(inner)) ? '…' : whole));
  return oneLine(withoutShared(text, sent), reasonCharsMax);
}

/** Leaves out each run of characters that is also in a text of the request. */
function withoutShared(text: string, sent: readonly string[]): string {
  const isSent = (part: string): boolean => sent.some((one) => one.includes(part));
  let kept = '';
  for (let at = 0; at < text.length;) {
    let end = at + sharedCharsMin;
    if (end > text.length || !isSent(text.slice(at, end))) {
      kept += text.charAt(at++);
      continue;
    }
    while (end < text.length && isSent(text.slice(at, end + 1))) end++;
    kept += '…';
    at = end;
  }
  return kept;
}

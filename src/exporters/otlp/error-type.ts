/** `error.type` of a failed evaluation: a word of low cardinality, never a message. */

const WORD = /^[A-Za-z][A-Za-z0-9_.]{0,63}$/;

/** The word before the colon; `_OTHER`, as OpenTelemetry prescribes, when the error does not begin with one. */
export function errorType(error: string): string {
  const word = error.split(':', 1)[0]?.trim() ?? '';
  return WORD.test(word) ? word : '_OTHER';
}

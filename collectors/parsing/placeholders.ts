/** Texts that SDKs send in place of a value that they leave out. Such a value is not carried; the text is nobody's argument or answer. */
const placeholders: ReadonlySet<string> = new Set([
  '__REDACTED__',
  '<REDACTED>',
  '[REDACTED]',
  'HIDDEN:non-empty',
  '<fully masked due to failed mask function>',
]);

/** Longer ones are nobody's. */
const placeholderCharsMax = 199;
/** A text of more UTF-8 than this is none. */
export const placeholderBytesMax = placeholderCharsMax * 3;

/** How they all begin: most texts need no further look. */
const openings = '_<[H';

const SCRUBBED = /^\[Scrubbed due to '[^']{1,100}'\]$/;

export function isPlaceholder(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.length <= placeholderCharsMax &&
    openings.includes(value.charAt(0)) &&
    (placeholders.has(value) || SCRUBBED.test(value))
  );
}

/** Percent-decodes a text. Gives a text that is not encoded properly unchanged. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

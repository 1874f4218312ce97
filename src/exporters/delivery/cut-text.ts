/** A text that others will hold: no longer than they take, and well-formed. */
export function cutText(text: string, charsMax: number): string {
  return (text.length > charsMax ? `${text.slice(0, charsMax - 1)}…` : text).toWellFormed();
}

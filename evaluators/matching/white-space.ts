/** White space as it counts in a sentence: one space between words. */

/** What is not single-spaced. Most texts are, and looking costs less than replacing. */
const LOOSE = /\s\s|[^\S ]/;

/** Every run of white space is one space. */
export function singleSpaced(text: string): string {
  return LOOSE.test(text) ? text.replaceAll(/\s+/g, ' ') : text;
}

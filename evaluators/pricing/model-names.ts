/**
 * The names under which a model may stand in a table. Spans carry the name of an endpoint: the model's own name behind a provider and a
 * region, and before a date or revision (`us.anthropic.claude-sonnet-4-5-20250929-v1:0`).
 */

/** Longer names are looked up as they are. */
const charsMax = 200;
/** Parts taken off one end. No provider writes more. */
const partsMax = 8;

/** Up to a slash; or letters and dashes up to a dot or colon, which leaves `gpt-4.1` and `llama3:8b` alone. */
const LEADING = /^(?:[^/]*\/|[A-Za-z-]+[.:])/;
/** A day, a revision in digits, or `latest`. Other endings (`-mini`, `:free`) name other models or other prices. */
const TRAILING = /(?:-\d{4}-\d{2}-\d{2}|-(?:19|20)\d{6}|-0\d{2}|-v\d{1,3}:\d{1,3}|:\d{1,3}|@\d{1,8}|@default|[-:@]latest)$/;

/** The name itself, and with less and less around it, the longest first. */
export function modelNames(name: string): readonly string[] {
  if (name.length > charsMax) return [name];
  const names = shortened(name, LEADING).flatMap((inner) => shortened(inner, TRAILING));
  return [...new Set(names)].toSorted((a, b) => b.length - a.length);
}

/** The name, and what is left after each cut. Never the empty text. */
function shortened(name: string, part: RegExp): readonly string[] {
  const names = [name];
  for (let left = name.replace(part, ''); left !== '' && left !== names.at(-1) && names.length <= partsMax; left = left.replace(part, ''))
    names.push(left);
  return names;
}

/** Regular expressions of the configuration, on an engine whose single search takes linear time. */
import { RE2JS } from 're2js';
import type { Part, Spend } from './rule.ts';

/** Throws when the source is no pattern of this engine: the configuration has checked it. */
export function patternParts(source: string): (text: string, spend: Spend) => readonly Part[] | undefined {
  const pattern = RE2JS.compile(source);
  return (text, spend) => {
    if (!spend(text.length)) return undefined;
    if (!pattern.test(text)) return [];
    const parts: Part[] = [];
    const matcher = pattern.matcher(text);
    while (matcher.find()) {
      const part = { start: matcher.start(), end: matcher.end() };
      // An empty match blots out nothing.
      if (part.end > part.start) parts.push(part);
      // A search may have to look to the end before it knows where its match ends, and so may the next one.
      if (!spend(text.length - part.end)) return undefined;
    }
    return parts;
  };
}

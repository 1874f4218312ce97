/** Regular expressions of the configuration: checked when they are loaded, matched in linear time. */
import { RE2JS } from 're2js';

/** Why a regular expression cannot be used; undefined when it can. */
export function patternProblem(source: string): string | undefined {
  try {
    RE2JS.compile(source);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A test for texts, searched anywhere. Only for sources without a problem. */
export function linearPattern(source: string): (text: string) => boolean {
  const pattern = RE2JS.compile(source);
  return (text) => pattern.matcher(text).find();
}

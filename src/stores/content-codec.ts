/** What an agent was given and gave, on its way to a store that keeps it compressed. */
import { zstdDecompressSync } from 'node:zlib';
import type { Run } from '../model/agent-trace.ts';
import { isJsonObject, type JsonObject, jsonText, type JsonValue, parseJson } from '../model/json.ts';
import { runJson } from '../model/run-json.ts';
import { brief } from './compression.ts';
import type { RunContent, WithoutContent } from '../model/store/store.ts';

/** A run whose JSON is longer is kept without its content: nobody reads it on a page. */
const contentCharsMax = 8_000_000;

/** Compressing is for where it is kept: on its way there it is as it is, unless it is large. */
export function contentOf(run: Run, withoutContent: WithoutContent | undefined): RunContent {
  if (withoutContent !== undefined) return { content: undefined, contentGone: withoutContent };
  const text = textOf(run);
  if (text === undefined || text.length > contentCharsMax) return { content: undefined, contentGone: 'too_large' };
  return { content: brief(text), contentGone: undefined };
}

/** Undefined: it is longer than any text can be. */
function textOf(run: Run): string | undefined {
  try {
    return jsonText(runJson(run.trace, run));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export function readContent(content: Uint8Array): JsonObject {
  const value: JsonValue | undefined = parseJson(zstdDecompressSync(content).toString());
  if (!isJsonObject(value)) throw new Error('the content of a run is not what was written');
  return value;
}

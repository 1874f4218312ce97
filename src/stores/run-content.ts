/** What an agent was given and gave, as a store keeps it: compressed. */
import { zstdDecompressSync } from 'node:zlib';
import type { Run } from '../model/agent-trace.ts';
import { isJsonObject, type JsonObject, jsonText, type JsonValue, parseJson } from '../model/json.ts';
import { runJson } from '../model/run-json.ts';
import { compressed } from './compression.ts';
import type { ContentGone, WithoutContent } from './store.ts';

/** A run whose JSON is longer is kept without its content: nobody reads it on a page. */
const contentCharsMax = 8_000_000;

export type RunContent = { readonly content: Buffer; readonly contentGone: undefined } | { readonly content: undefined; readonly contentGone: ContentGone };

export function contentOf(run: Run, withoutContent: WithoutContent | undefined): RunContent {
  if (withoutContent !== undefined) return { content: undefined, contentGone: withoutContent };
  const text = jsonText(runJson(run.trace, run));
  if (text.length > contentCharsMax) return { content: undefined, contentGone: 'too_large' };
  return { content: compressed(text), contentGone: undefined };
}

export function readContent(content: Uint8Array): JsonObject {
  const value: JsonValue | undefined = parseJson(zstdDecompressSync(content).toString());
  if (!isJsonObject(value)) throw new Error('the content of a run is not what was written');
  return value;
}

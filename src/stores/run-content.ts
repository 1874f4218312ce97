/** What an agent was given and gave, as a store keeps it: compressed. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Run } from '../model/agent-trace.ts';
import { isJsonObject, type JsonObject, jsonText, type JsonValue, parseJson } from '../model/json.ts';
import { runJson } from '../model/run-json.ts';
import type { ContentGone, WithoutContent } from './store.ts';

/** A run whose JSON is longer is kept without its content: nobody reads it on a page. */
const contentCharsMax = 8_000_000;
/** On runs of a few kilobytes the default level takes four times as long and saves two bytes in a hundred. */
const compressionLevel = 1;

export type RunContent = { readonly content: Buffer; readonly contentGone: undefined } | { readonly content: undefined; readonly contentGone: ContentGone };

export function contentOf(run: Run, withoutContent: WithoutContent | undefined): RunContent {
  if (withoutContent !== undefined) return { content: undefined, contentGone: withoutContent };
  const text = jsonText(runJson(run.trace, run));
  if (text.length > contentCharsMax) return { content: undefined, contentGone: 'too_large' };
  return { content: zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: compressionLevel } }), contentGone: undefined };
}

export function readContent(content: Uint8Array): JsonObject {
  const value: JsonValue | undefined = parseJson(zstdDecompressSync(content).toString());
  if (!isJsonObject(value)) throw new Error('the content of a run is not what was written');
  return value;
}

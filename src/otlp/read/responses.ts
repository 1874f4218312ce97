/** The answers of an OTLP receiver. The messages are documented in `write/responses.ts`. */
import { isJsonObject, parseJson, type JsonValue } from '../../model/json.ts';
import { inBlocks } from '../cut/trace-extract.ts';
import { retryInfoType, type OtlpSignal } from '../write/responses.ts';
import { cursorOver, enter, leave, readInt64, readTag, readText, skip, type Cursor } from './protobuf.ts';
import type { OtlpEncoding } from './read.ts';

const rejectedMembers = {
  traces: 'rejectedSpans',
  logs: 'rejectedLogRecords',
  metrics: 'rejectedDataPoints',
} as const satisfies { readonly [signal in OtlpSignal | 'metrics']: string };

/** The number of items of a request that its receiver rejected. An answer that cannot be read rejects none: its receiver took the request. */
export function rejectedItems(answer: Buffer, signal: OtlpSignal | 'metrics', encoding: OtlpEncoding): number {
  if (answer.length === 0) return 0;
  const count = encoding === 'json' ? rejectedInJson(answer, rejectedMembers[signal]) : rejectedInProtobuf(answer);
  return Number.isFinite(count) ? Math.max(0, count) : 0;
}

function rejectedInJson(answer: Buffer, name: string): number {
  // An int64 of protobuf's JSON mapping is a text; receivers write numbers too.
  return Number(memberOf(memberOf(parseJson(answer.toString()), 'partialSuccess'), name) ?? 0);
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return value !== undefined && isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function rejectedInProtobuf(answer: Buffer): number {
  const cursor = cursorOver(answer);
  let rejected = 0;
  try {
    inBlocks(cursor, 1, () => {
      while (cursor.at < cursor.end) {
        const tag = readTag(cursor);
        if (tag >>> 3 === 1) rejected = Number(readInt64(cursor, tag));
        else skip(cursor, tag);
      }
    });
    return rejected;
  } catch {
    return 0;
  }
}

/** When a google.rpc.Status in protobuf allows the next attempt, in milliseconds. `undefined` when it does not say, or cannot be read. */
export function retryDelayMs(status: Buffer): number | undefined {
  const cursor = cursorOver(status);
  let delayMs: number | undefined;
  try {
    inBlocks(cursor, 3, () => {
      let type = '';
      while (cursor.at < cursor.end) {
        const tag = readTag(cursor);
        if (tag >>> 3 === 1) type = readText(cursor, tag);
        else if (tag >>> 3 === 2 && type === retryInfoType) {
          const outerEnd = enter(cursor, tag);
          inBlocks(cursor, 1, () => (delayMs = durationMs(cursor)));
          leave(cursor, outerEnd);
        } else skip(cursor, tag);
      }
    });
    return delayMs;
  } catch {
    return undefined;
  }
}

function durationMs(cursor: Cursor): number {
  let [seconds, nanos] = [0, 0];
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag >>> 3 === 1) seconds = Number(readInt64(cursor, tag));
    else if (tag >>> 3 === 2) nanos = Number(readInt64(cursor, tag));
    else skip(cursor, tag);
  }
  return seconds * 1_000 + nanos / 1e6;
}

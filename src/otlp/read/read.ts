/** Bytes of an OTLP request → spans or log records. */
import type { LogRecord, Span } from '../../model/span.ts';
import { attributeTable } from './attribute-table.ts';
import { keyShapes, type KeyShapes } from './key-shapes.ts';
import { defaultOtlpLimits, type OtlpLimits } from './limits.ts';
import { readLogsJson } from './records-json.ts';
import { readLogsProtobuf } from './records-protobuf.ts';
import { rejections, scanWithin, type Rejection, type Scan } from './decode-state.ts';
import { readTracesJson } from './spans-json.ts';
import { readTracesProtobuf } from './spans-protobuf.ts';
import { runSteps, type Steps } from '../../runtime/cooperative.ts';

export type { Rejection } from './decode-state.ts';
export type OtlpEncoding = 'protobuf' | 'json';

export interface ReadTraces {
  readonly spans: readonly Span[];
  /** Spans that could not be taken, by reason; the others are in `spans`. */
  readonly rejections: readonly Rejection[];
}

export interface ReadLogs {
  readonly records: readonly LogRecord[];
  /** Records that belong to no trace. */
  readonly ignored: number;
  readonly rejections: readonly Rejection[];
}

/** The spans of an ExportTraceServiceRequest. They keep the body alive. Throws OTLP_MALFORMED when the body as a whole cannot be read. */
export function readTraces(body: Uint8Array, encoding: OtlpEncoding, limits?: OtlpLimits): ReadTraces {
  return runSteps(tracesInSteps(body, encoding, limits));
}

/** The log records of an ExportLogsServiceRequest, likewise. */
export function readLogs(body: Uint8Array, encoding: OtlpEncoding, limits?: OtlpLimits): ReadLogs {
  return runSteps(logsInSteps(body, encoding, limits));
}

/** `shapes`: what was learned of attribute keys in earlier requests. */
export function* tracesInSteps(
  body: Uint8Array,
  encoding: OtlpEncoding,
  limits: OtlpLimits = defaultOtlpLimits,
  shapes: KeyShapes = keyShapes(),
): Steps<ReadTraces> {
  const bytes = bufferOver(body);
  const scan = scanOver(bytes, limits, shapes);
  const spans = yield* encoding === 'json' ? readTracesJson(bytes, scan) : readTracesProtobuf(scan);
  return { spans, rejections: rejections(scan) };
}

export function* logsInSteps(
  body: Uint8Array,
  encoding: OtlpEncoding,
  limits: OtlpLimits = defaultOtlpLimits,
  shapes: KeyShapes = keyShapes(),
): Steps<ReadLogs> {
  const bytes = bufferOver(body);
  const scan = scanOver(bytes, limits, shapes);
  const { records, ignored } = yield* encoding === 'json' ? readLogsJson(bytes, scan) : readLogsProtobuf(scan);
  return { records, ignored, rejections: rejections(scan) };
}

function scanOver(bytes: Buffer, limits: OtlpLimits, shapes: KeyShapes): Scan {
  return scanWithin(limits, {
    table: attributeTable({ bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) }),
    shapes,
  });
}

function bufferOver(body: Uint8Array): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

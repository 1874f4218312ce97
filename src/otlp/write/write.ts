/** Spans → bytes of an OTLP request. What the model does not keep (dropped counts but that of attributes, schema urls, a link's trace state) is not written. */
import type { Span } from '../../model/span.ts';
import type { OtlpEncoding } from '../read/read.ts';
import { writeTracesJson } from './write-json.ts';
import { writeTracesProtobuf } from './write-protobuf.ts';

/** An ExportTraceServiceRequest; in JSON it is one line, as files of JSON lines want it. Reading it gives equal spans. */
export function writeTraces(spans: readonly Span[], encoding: OtlpEncoding): Buffer {
  return encoding === 'json' ? writeTracesJson(spans) : writeTracesProtobuf(spans);
}

/**
 * The answers of an OTLP receiver; `read/responses.ts` reads them.
 *
 *     ExportTraceServiceResponse, ExportLogsServiceResponse, ExportMetricsServiceResponse = partial success = 1
 *     partial success   = rejected count: int64 = 1, error message = 2
 *     google.rpc.Status = code: int32 = 1, message = 2, details = 3
 *     detail            = type URL = 1, value = 2
 *     RetryInfo         = retry delay = 1, a Duration = seconds: int64 = 1, nanoseconds: int32 = 2
 */
import { protobufWriter } from './protobuf-writer.ts';
import type { OtlpEncoding } from '../read/read.ts';

export type OtlpSignal = 'traces' | 'logs';

export interface PartialSuccess {
  readonly rejected: number;
  readonly message: string;
}

/** The answer to a request that was taken; without `partial` all of it was. */
export function exportResponse(signal: OtlpSignal, encoding: OtlpEncoding, partial?: PartialSuccess): Buffer {
  if (encoding === 'json')
    return Buffer.from(JSON.stringify(partial === undefined ? {} : { partialSuccess: partialJson(signal, partial) }));
  const out = protobufWriter();
  if (partial !== undefined) {
    out.message(1, () => {
      if (partial.rejected > 0) out.varint(1, partial.rejected);
      if (partial.message !== '') out.text(2, partial.message);
    });
  }
  return out.result();
}

/** A google.rpc.Status: the body of every answer that is not 200. */
export function statusResponse(encoding: OtlpEncoding, code: number, message: string): Buffer {
  if (encoding === 'json') return Buffer.from(JSON.stringify({ code, message }));
  const out = protobufWriter();
  if (code !== 0) out.varint(1, code);
  if (message !== '') out.text(2, message);
  return out.result();
}

/** A google.rpc.Status in protobuf with a RetryInfo: how OTLP over gRPC throttles. */
export function retryStatus(code: number, message: string, retryAfterSeconds: number): Buffer {
  const out = protobufWriter();
  const ms = Math.round(retryAfterSeconds * 1_000);
  out.varint(1, code);
  if (message !== '') out.text(2, message);
  out.message(3, () => {
    out.text(1, retryInfoType);
    out.message(2, () =>
      out.message(1, () => {
        out.varint(1, Math.floor(ms / 1_000));
        if (ms % 1_000 > 0) out.varint(2, (ms % 1_000) * 1e6);
      }),
    );
  });
  return out.result();
}

export const retryInfoType = 'type.googleapis.com/google.rpc.RetryInfo';

/** The gRPC code with the meaning of an HTTP status. */
export function grpcCode(httpStatus: number): number {
  const code = grpcCodes.get(httpStatus);
  if (code !== undefined) return code;
  if (httpStatus < 400) return 0;
  return httpStatus < 500 ? INVALID_ARGUMENT : INTERNAL;
}

const INVALID_ARGUMENT = 3;
const INTERNAL = 13;

const grpcCodes: ReadonlyMap<number, number> = new Map([
  [401, 16],
  [403, 7],
  [404, 5],
  [405, 12],
  [408, 4],
  [413, 8],
  [429, 8],
  [431, 8],
  [501, 12],
  [502, 14],
  [503, 14],
  [504, 4],
]);

function partialJson(signal: OtlpSignal, { rejected, message }: PartialSuccess): object {
  const count = rejected.toString();
  return signal === 'traces' ? { rejectedSpans: count, errorMessage: message } : { rejectedLogRecords: count, errorMessage: message };
}

/** The published protobuf messages, read by a protobuf library that is not ours. */
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';

export interface Message {
  encode(plain: object): Buffer;
  /** Keys in camelCase, 64-bit numbers as text, enumerations as numbers, bytes as Buffer. */
  decode(bytes: Uint8Array): { readonly [field: string]: unknown };
}

const root = new protobuf.Root();
for (const name of ['common', 'resource', 'trace', 'logs', 'metrics', 'collector']) {
  protobuf.parse(readFileSync(new URL(`../fixtures/opentelemetry-proto/${name}.proto`, import.meta.url), 'utf8'), root);
}
root.resolveAll();

export const traceRequest = message('ExportTraceServiceRequest');
export const logsRequest = message('ExportLogsServiceRequest');
export const traceResponse = message('ExportTraceServiceResponse');
export const logsResponse = message('ExportLogsServiceResponse');
export const metricsRequest = message('ExportMetricsServiceRequest');
export const metricsResponse = message('ExportMetricsServiceResponse');
export const statusMessage = message('Status');

function message(name: string): Message {
  const type = root.lookupType(`opentelemetry.proto.collector.v1.${name}`);
  return {
    encode: (plain) => Buffer.from(type.encode(type.fromObject(plain)).finish()),
    decode: (bytes) => type.toObject(type.decode(bytes), { longs: String, bytes: Buffer }),
  };
}

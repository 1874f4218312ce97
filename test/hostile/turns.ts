/** The requests that take longest to read within the default limits, and the processor time of their longest step. */
import { tracesInSteps, type OtlpEncoding } from '../../src/otlp/read/read.ts';
import { field, good, idBytes, json, jsonText, MiB, plain, protobuf, requestOf, spanId } from './bodies.ts';

export interface Heavy {
  readonly name: string;
  readonly encoding: OtlpEncoding;
  readonly body: () => Buffer;
}

const trace = 'a'.repeat(32);
const ids = `"traceId":"${trace}","spanId":"${spanId(1)}"`;
const attribute = (value: Buffer): Buffer => field(0x4a, field(0x12, value));
const spans = (count: number, name: string): ReturnType<typeof plain>[] =>
  Array.from({ length: count }, (_, at) => plain(trace, { spanId: spanId(at + 1), name }));

export const heavy: readonly Heavy[] = [
  { name: 'a hundred thousand spans in JSON', encoding: 'json', body: () => json(...spans(100_000, 's')) },
  { name: 'a hundred thousand spans in protobuf', encoding: 'protobuf', body: () => protobuf(...spans(100_000, 's')) },
  {
    name: 'a JSON span of 190,000 numbers',
    encoding: 'json',
    body: () =>
      Buffer.from(
        jsonText(
          `{${ids},"attributes":[{"key":"k","value":{"arrayValue":{"values":[${Array(190_000).fill('{"doubleValue":0.12345}').join()}]}}}]}`,
        ),
      ),
  },
  { name: 'a JSON span of 15 MiB', encoding: 'json', body: () => json(good(trace, { name: '\u00e4'.repeat(7.5 * MiB) })) },
  { name: 'a JSON text of escapes', encoding: 'json', body: () => Buffer.from(jsonText(`{${ids},"name":"${'\\"'.repeat(7.5 * MiB)}"}`)) },
  {
    name: 'half a million JSON values around spans',
    encoding: 'json',
    body: () => Buffer.from(`{"unknown":[${Array(249_000).fill('{}').join()}]}`),
  },
  {
    name: 'a span of 400,000 empty values',
    encoding: 'protobuf',
    body: () => requestOf([Buffer.concat([idBytes(trace), attribute(field(0x2a, Buffer.alloc(799_000, '0a00', 'hex')))])]),
  },
  {
    name: 'a name of 15 MiB that is not UTF-8',
    encoding: 'protobuf',
    body: () => requestOf([Buffer.concat([idBytes(trace), field(0x2a, Buffer.alloc(15 * MiB, 0xff))])]),
  },
];

/** Processor time, not time on a clock: what else the machine does must not count. */
export function longestStepMs({ body, encoding }: Heavy): { readonly longestMs: number; readonly steps: number } {
  const steps = tracesInSteps(body(), encoding);
  let longestMs = 0;
  for (let count = 1; ; count++) {
    const before = process.threadCpuUsage();
    const { done } = steps.next();
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    if (done === true) return { longestMs, steps: count };
  }
}

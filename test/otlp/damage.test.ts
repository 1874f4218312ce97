/** Bodies that are cut, changed or made up: an answer or a JuryError, never another error. A failure prints its seed. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JuryError } from '../../src/model/errors.ts';
import { readLogs, readTraces, type OtlpEncoding } from '../../src/otlp/read/read.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { logsRequest, traceRequest } from './descriptors.ts';
import { plainRecord, plainSpan } from './plain.ts';
import { logsRequests, traceRequests } from './requests.ts';

/** Where a body is cut, or which bytes get which value; places are taken modulo the length. */
const damage = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
  fc.record({
    kind: fc.constant('set' as const),
    places: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('insert' as const), at: fc.nat(), bytes: fc.uint8Array({ minLength: 1, maxLength: 12 }) }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(), count: fc.integer({ min: 1, max: 12 }) }),
);
type Damage = typeof damage extends fc.Arbitrary<infer D> ? D : never;

const sources = [
  {
    name: 'protobuf spans',
    encoding: 'protobuf',
    bodies: traceRequests.map((request) => traceRequest.encode(request.proto)),
    read: forceTraces,
  },
  {
    name: 'JSON spans',
    encoding: 'json',
    bodies: traceRequests.map((request) => Buffer.from(JSON.stringify(request.json))),
    read: forceTraces,
  },
  {
    name: 'protobuf records',
    encoding: 'protobuf',
    bodies: logsRequests.map((request) => logsRequest.encode(request.proto)),
    read: forceLogs,
  },
  {
    name: 'JSON records',
    encoding: 'json',
    bodies: logsRequests.map((request) => Buffer.from(JSON.stringify(request.json))),
    read: forceLogs,
  },
  {
    name: 'noise read as protobuf',
    encoding: 'protobuf',
    bodies: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    read: forceTraces,
  },
  {
    name: 'noise read as JSON',
    encoding: 'json',
    bodies: fc.json({ maxDepth: 6 }).map((text) => Buffer.from(`{"resourceSpans":[${text}]}`)),
    read: forceTraces,
  },
] as const;

describe('otlp damage', () => {
  for (const { name, encoding, bodies, read } of sources) {
    test(`otlp: damaged ${name} are read or refused, and what was read can be used`, () => {
      fc.assert(
        fc.property(bodies, damage, (body, how) => {
          answered(() => read(damaged(body, how), encoding));
        }),
        { numRuns: propertyRuns({ short: 60, long: 400 }) },
      );
    });
  }

  test('otlp: a protobuf body cut at any place is refused or read in part', () => {
    const body = traceRequest.encode({
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  traceId: Buffer.alloc(16, 1),
                  spanId: Buffer.alloc(8, 1),
                  name: 'a',
                  attributes: [{ key: 'k', value: { stringValue: 'v' } }],
                },
              ],
            },
          ],
        },
      ],
    });
    for (let end = 1; end < body.length; end++)
      expect(answered(() => forceTraces(body.subarray(0, end), 'protobuf'))).toBe('OTLP_MALFORMED');
  });
});

/** The code of the refusal; undefined when the body was read. */
function answered(read: () => void): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof JuryError) return error.code;
    throw error;
  }
}

function forceTraces(body: Uint8Array, encoding: OtlpEncoding): void {
  for (const span of readTraces(body, encoding).spans) plainSpan(span);
}

function forceLogs(body: Uint8Array, encoding: OtlpEncoding): void {
  for (const record of readLogs(body, encoding).records) plainRecord(record);
}

function damaged(body: Buffer, how: Damage): Buffer {
  const length = Math.max(1, body.length);
  if (how.kind === 'set') {
    const copy = Buffer.from(body);
    for (const [at, value] of how.places) copy[at % length] = value;
    return copy;
  }
  const at = how.at % length;
  if (how.kind === 'cut') return body.subarray(0, at);
  const rest = how.kind === 'insert' ? [how.bytes, body.subarray(at)] : [body.subarray(at + how.count)];
  return Buffer.concat([body.subarray(0, at), ...rest]);
}

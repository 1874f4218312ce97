/** Dividing a request: the parts together are what came, and a trace is in one part. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JuryError } from '../../../src/model/errors.ts';
import { splitRequest } from '../../../src/otlp/cut/split.ts';
import { excerpts, type OtlpSignal } from '../../../src/otlp/cut/trace-extract.ts';
import { readLogs, readTraces, type OtlpEncoding } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { runSteps } from '../../../src/runtime/cooperative.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { span } from '../../builders/spans.ts';
import { logsRequest, traceRequest } from '../descriptors.ts';
import { plainRecord, plainSpan } from '../plain.ts';
import { logsRequests, traceRequests } from '../requests.ts';

const runs = { numRuns: propertyRuns({ short: 25, long: 100 }) };

const ownerOf = (traceId: string | undefined): number => (traceId === undefined ? 0 : parseInt(traceId.slice(-1), 16) % 3);

function divided(body: Buffer, signal: OtlpSignal, encoding: OtlpEncoding): ReadonlyMap<number, Buffer> {
  const parts = runSteps(splitRequest(body, { signal, encoding }, ownerOf));
  return new Map([...parts].map(([owner, pieces]) => [owner, Buffer.concat(pieces)]));
}

interface Read {
  readonly items: readonly { readonly traceId: string; readonly plain: object }[];
  readonly rejected: { readonly [reason: string]: number };
}

function read(body: Buffer, signal: OtlpSignal, encoding: OtlpEncoding): Read {
  if (signal === 'traces') {
    const { spans, rejections } = readTraces(body, encoding);
    return { items: spans.map((one) => ({ traceId: one.traceId, plain: plainSpan(one) })), rejected: counts(rejections) };
  }
  const { records, rejections } = readLogs(body, encoding);
  return { items: records.map((one) => ({ traceId: one.traceId, plain: plainRecord(one) })), rejected: counts(rejections) };
}

function counts(rejections: readonly { readonly reason: string; readonly count: number }[]): { readonly [reason: string]: number } {
  return Object.fromEntries(rejections.map(({ reason, count }) => [reason, count]));
}

function expectDivided(body: Buffer, signal: OtlpSignal, encoding: OtlpEncoding): void {
  const whole = read(body, signal, encoding);
  const parts = divided(body, signal, encoding);
  const rejected: { [reason: string]: number } = {};
  for (const [owner, part] of parts) {
    const own = read(part, signal, encoding);
    expect(own.items.map(({ plain }) => plain)).toEqual(
      whole.items.filter(({ traceId }) => ownerOf(traceId) === owner).map(({ plain }) => plain),
    );
    for (const [reason, count] of Object.entries(own.rejected)) rejected[reason] = (rejected[reason] ?? 0) + count;
    if (encoding === 'json') continue;
    const ids = new Set(own.items.map(({ traceId }) => traceId));
    expect(excerpts(part, signal, ids)).toEqual(excerpts(body, signal, ids));
  }
  expect([...parts.keys()]).toEqual(expect.arrayContaining([...new Set(whole.items.map(({ traceId }) => ownerOf(traceId)))]));
  expect(rejected).toEqual(whole.rejected);
  if (parts.size === 1) expect([...parts.values()][0]).toEqual(body);
}

test.each(['protobuf', 'json'] as const)('otlp: the parts of a request of spans in %s are the request, divided by trace', (encoding) => {
  fc.assert(
    fc.property(traceRequests, ({ proto, json }) =>
      expectDivided(encoding === 'json' ? Buffer.from(JSON.stringify(json)) : Buffer.from(traceRequest.encode(proto)), 'traces', encoding),
    ),
    runs,
  );
});

test.each(['protobuf', 'json'] as const)('otlp: likewise of a request of log records in %s', (encoding) => {
  fc.assert(
    fc.property(logsRequests, ({ proto, json }) =>
      expectDivided(encoding === 'json' ? Buffer.from(JSON.stringify(json)) : Buffer.from(logsRequest.encode(proto)), 'logs', encoding),
    ),
    runs,
  );
});

const spans = [1, 2, 3, 4].map((id) => span({ id, trace: id, attributes: { text: 'x'.repeat(id) } }));

test.each([
  { name: 'of one trace stays unchanged', body: writeTraces(spans.slice(0, 1), 'protobuf'), encoding: 'protobuf' as const },
  { name: 'without spans goes to the owner of what has no trace', body: Buffer.alloc(0), encoding: 'protobuf' as const },
  {
    name: 'with something else between its JSON spans is not divided',
    body: Buffer.from(writeTraces(spans, 'json').toString().replace('"spans":[', '"spans":[null,')),
    encoding: 'json' as const,
  },
])('otlp: a request $name', ({ body, encoding }) => {
  expect([...divided(body, 'traces', encoding).values()]).toEqual([body]);
});

test('otlp: indented JSON is divided as well', () => {
  const text = JSON.stringify(JSON.parse(writeTraces(spans, 'json').toString()), undefined, 2);
  expectDivided(Buffer.from(text), 'traces', 'json');
  expect(divided(Buffer.from(text), 'traces', 'json').size).toBeGreaterThan(1);
});

test('otlp: a damaged request is divided so that no sound span is lost, or it is reported as malformed', () => {
  const body = writeTraces(spans, 'protobuf');
  fc.assert(
    fc.property(fc.nat(body.length - 1), fc.nat(255), (at, byte) => {
      const damaged = Buffer.from(body);
      damaged[at] = byte;
      let parts: ReadonlyMap<number, Buffer>;
      try {
        parts = divided(damaged, 'traces', 'protobuf');
      } catch (error) {
        expect(error).toBeInstanceOf(JuryError);
        return;
      }
      let whole: Read;
      try {
        whole = read(damaged, 'traces', 'protobuf');
      } catch {
        return;
      }
      const found = [...parts.values()].flatMap((part) => read(part, 'traces', 'protobuf').items.map(({ plain }) => plain));
      expect(found).toHaveLength(whole.items.length);
      expect(found).toEqual(expect.arrayContaining(whole.items.map(({ plain }) => plain)));
    }),
    runs,
  );
});

/** Cutting traces out of bodies, writing log records, and putting requests together: what is read afterwards is what was there. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JuryError } from '../../../src/model/errors.ts';
import { bundle, unbundled, type BundlePart } from '../../../src/otlp/cut/bundle.ts';
import { excerpts } from '../../../src/otlp/cut/trace-extract.ts';
import { readLogs, readTraces } from '../../../src/otlp/read/read.ts';
import { runSteps } from '../../../src/runtime/cooperative.ts';
import { writeLogsJson, writeTraces } from '../../../src/otlp/write/write.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { span } from '../../builders/spans.ts';
import { logsRequest, traceRequest } from '../descriptors.ts';
import { plainRecord, plainSpan } from '../plain.ts';
import { logsRequests, traceRequests } from '../requests.ts';

const runs = { numRuns: propertyRuns({ short: 25, long: 100 }) };

/** Every second id that is there. */
function some(ids: readonly string[]): ReadonlySet<string> {
  return new Set([...new Set(ids)].toSorted().filter((_id, at) => at % 2 === 0));
}

test('otlp: an excerpt holds the unchanged spans of a trace, with their resource and scope', () => {
  fc.assert(
    fc.property(traceRequests, (request) => {
      const body = traceRequest.encode(request.proto);
      const { spans } = readTraces(body, 'protobuf');
      const wanted = some(spans.map(({ traceId }) => traceId));
      const found = excerpts(body, 'traces', wanted);
      expect(new Set(found.keys())).toEqual(wanted);
      for (const [traceId, { bytes, items }] of found) {
        const own = spans.filter((one) => one.traceId === traceId);
        expect(readTraces(bytes, 'protobuf').spans.map(plainSpan)).toEqual(own.map(plainSpan));
        expect(items).toBe(own.length);
      }
    }),
    runs,
  );
});

test('otlp: an excerpt of log records likewise, and they are written as JSON', () => {
  fc.assert(
    fc.property(logsRequests, (request) => {
      const body = logsRequest.encode(request.proto);
      const { records } = readLogs(body, 'protobuf');
      const wanted = some(records.map(({ traceId }) => traceId));
      for (const [traceId, { bytes }] of excerpts(body, 'logs', wanted)) {
        expect(readLogs(bytes, 'protobuf').records.map(plainRecord)).toEqual(
          records.filter((one) => one.traceId === traceId).map(plainRecord),
        );
      }
      expect(readLogs(writeLogsJson(records), 'json').records.map(plainRecord)).toEqual(records.map(plainRecord));
    }),
    runs,
  );
});

test('otlp: an excerpt of a damaged body is made, or it is reported as malformed', () => {
  const body = writeTraces(
    [1, 2, 3].map((id) => span({ id, trace: id, attributes: { text: 'x'.repeat(id) } })),
    'protobuf',
  );
  const wanted = new Set(readTraces(body, 'protobuf').spans.map(({ traceId }) => traceId as string));
  fc.assert(
    fc.property(fc.nat(body.length - 1), fc.nat(255), fc.nat(body.length), (at, byte, length) => {
      const damaged = Buffer.from(body.subarray(0, length));
      if (at < damaged.length) damaged[at] = byte;
      try {
        for (const { bytes } of excerpts(damaged, 'traces', wanted).values()) expect(bytes.length).toBeLessThanOrEqual(damaged.length + 30);
      } catch (error) {
        expect(error).toBeInstanceOf(JuryError);
      }
    }),
    runs,
  );
});

test('otlp: a bundle gives back each span once, and passes over what it does not know', () => {
  const [one, two, three] = [1, 2, 3].map((id) => span({ id, attributes: { text: 'ä'.repeat(id) } })) as [
    ReturnType<typeof span>,
    ReturnType<typeof span>,
    ReturnType<typeof span>,
  ];
  const part = (encoding: 'protobuf' | 'json', spans: readonly ReturnType<typeof span>[]): BundlePart => ({
    signal: 'traces',
    encoding,
    bytes: writeTraces(spans, encoding),
  });
  const first = bundle([part('protobuf', [one, two]), part('json', [two])]);
  const later = Buffer.concat([Buffer.from([77, 2, 0, 0, 0, 1, 2]), bundle([part('json', [three])])]);
  expect(runSteps(unbundled([first, later])).spans.map(plainSpan)).toEqual([one, two, three].map(plainSpan));
  expect(runSteps(unbundled([first.subarray(0, first.length - 1)])).spans).toHaveLength(2);
  expect(runSteps(unbundled([])).spans).toEqual([]);
});

/** Reading, against bodies made by another protobuf library from the published messages. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLogs, readTraces } from '../../../src/otlp/read/read.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { logsRequest, traceRequest } from '../descriptors.ts';
import { plainRecord, plainSpan } from '../plain.ts';
import { logsRequests, traceRequests } from '../requests.ts';

const runs = { numRuns: propertyRuns({ short: 25, long: 100 }) };

describe('otlp', () => {
  test('otlp: reads from a protobuf body the spans that were encoded', () => {
    fc.assert(
      fc.property(traceRequests, (request) => {
        const { spans, rejections } = readTraces(traceRequest.encode(request.proto), 'protobuf');
        expect(spans.map(plainSpan)).toEqual(request.read);
        expect(rejections).toEqual([]);
      }),
      runs,
    );
  });

  test('otlp: reads from a JSON body the same spans', () => {
    fc.assert(
      fc.property(traceRequests, (request) => {
        const { spans, rejections } = readTraces(Buffer.from(JSON.stringify(request.json)), 'json');
        expect(spans.map(plainSpan)).toEqual(request.read);
        expect(rejections).toEqual([]);
      }),
      runs,
    );
  });

  test('otlp: reads from a protobuf body the log records that were encoded', () => {
    fc.assert(
      fc.property(logsRequests, (request) => {
        const { records, ignored, rejections } = readLogs(logsRequest.encode(request.proto), 'protobuf');
        expect(records.map(plainRecord)).toEqual(request.read);
        expect({ ignored, rejections }).toEqual({ ignored: 0, rejections: [] });
      }),
      runs,
    );
  });

  test('otlp: reads from a JSON body the same log records', () => {
    fc.assert(
      fc.property(logsRequests, (request) => {
        const { records, ignored, rejections } = readLogs(Buffer.from(JSON.stringify(request.json)), 'json');
        expect(records.map(plainRecord)).toEqual(request.read);
        expect({ ignored, rejections }).toEqual({ ignored: 0, rejections: [] });
      }),
      runs,
    );
  });

  test('otlp: spans with the same keys share their shape, and those in JSON too', () => {
    const spanWith = (id: string, keys: readonly string[]): object => ({
      traceId: '0'.repeat(31) + '1',
      spanId: '0'.repeat(15) + id,
      name: 'a',
      startTimeUnixNano: '1',
      endTimeUnixNano: '2',
      attributes: keys.map((key) => ({ key, value: { stringValue: key } })),
    });
    const list = [spanWith('1', ['a', 'b']), spanWith('2', ['a', 'b']), spanWith('3', ['b', 'a']), spanWith('4', ['a', 'b', 'a'])];
    const { spans } = readTraces(Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: list }] }] })), 'json');
    const [first, second, third, fourth] = spans.map((span) => span.keyShape?.());
    expect(first?.keys).toEqual(['a', 'b']);
    expect(second).toBe(first);
    expect(third?.keys).toEqual(['b', 'a']);
    expect(fourth).toBe(first);
    expect(spans.map((span) => span.attributeKeys())).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'b'],
    ]);
  });

  test('otlp: an attribute reads the same every time and maps have no prototype', () => {
    const body = traceRequest.encode({
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  traceId: Buffer.alloc(16, 1),
                  spanId: Buffer.alloc(8, 1),
                  attributes: [{ key: 'm', value: { kvlistValue: { values: [{ key: '__proto__', value: { intValue: 1 } }] } } }],
                },
              ],
            },
          ],
        },
      ],
    });
    const [span] = readTraces(body, 'protobuf').spans;
    const map = span?.attribute('m');
    expect(map).toEqual(span?.attribute('m'));
    expect(Object.getPrototypeOf(map)).toBeNull();
    expect(Object.keys(map ?? {})).toEqual(['__proto__']);
    expect(span?.attribute('constructor')).toBeUndefined();
  });

  test('otlp: the empty protobuf body and the empty JSON object hold no spans', () => {
    expect(readTraces(new Uint8Array(), 'protobuf')).toEqual({ spans: [], rejections: [] });
    expect(readTraces(Buffer.from('{}'), 'json')).toEqual({ spans: [], rejections: [] });
    expect(readLogs(new Uint8Array(), 'protobuf')).toEqual({ records: [], ignored: 0, rejections: [] });
  });
});

/** Writing: what we write, others read; what we read back is what was written. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noAttributes } from '../../../src/otlp/read/attribute-table.ts';
import { readTraces, type OtlpEncoding } from '../../../src/otlp/read/read.ts';
import { exportResponse, grpcCode, statusResponse } from '../../../src/otlp/write/responses.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import type { Span } from '../../../src/model/span.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { logsResponse, statusMessage, traceRequest, traceResponse } from '../descriptors.ts';
import { replaced } from '../../builders/replaced.ts';
import { plainSpan } from '../plain.ts';
import { traceRequests } from '../requests.ts';

const runs = { numRuns: propertyRuns({ short: 25, long: 100 }) };

const encodings: readonly OtlpEncoding[] = ['protobuf', 'json'];

describe('otlp writer', () => {
  for (const encoding of encodings) {
    test(`otlp: spans written as ${encoding} are read back equal`, () => {
      fc.assert(
        fc.property(traceRequests, (request) => {
          const { spans } = readTraces(traceRequest.encode(request.proto), 'protobuf');
          const again = readTraces(writeTraces(spans, encoding), encoding);
          // Equal resources and scopes come together, so the order may change.
          expect(inOrder(again.spans)).toEqual(inOrder(spans));
          expect(again.rejections).toEqual([]);
        }),
        runs,
      );
    });
  }

  test('otlp: another protobuf library reads what we write, down to the last field', () => {
    fc.assert(
      fc.property(traceRequests, (request) => {
        const { spans } = readTraces(traceRequest.encode(request.proto), 'protobuf');
        const decoded = traceRequest.decode(writeTraces(spans, 'protobuf'));
        const again = readTraces(traceRequest.encode(decoded), 'protobuf');
        expect(inOrder(again.spans)).toEqual(inOrder(spans));
      }),
      runs,
    );
  });

  test('otlp: spans of several requests come together under one resource and scope', () => {
    const body = (spanId: number): Buffer =>
      traceRequest.encode({
        resourceSpans: [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
            scopeSpans: [{ scope: { name: 'agent' }, spans: [{ traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, spanId) }] }],
          },
        ],
      });
    const spans = [1, 2, 3].flatMap((id) => readTraces(body(id), 'protobuf').spans);
    for (const encoding of encodings) {
      const again = readTraces(writeTraces(spans, encoding), encoding).spans;
      expect(new Set(again.map((span) => span.resource)).size).toBe(1);
      expect(new Set(again.map((span) => span.scope)).size).toBe(1);
      expect(again.map((span) => span.spanId)).toEqual(spans.map((span) => span.spanId));
    }
    expect(writeTraces(spans, 'json').includes('\n')).toBe(false);
  });

  test('otlp: an integer outside 64 bits keeps its digits', () => {
    const [read] = readTraces(
      traceRequest.encode({ resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 1) }] }] }] }),
      'protobuf',
    ).spans;
    const span = replaced(read as Span, { resource: noAttributes, attributeKeys: () => ['n'], attribute: () => 2n ** 70n });
    for (const encoding of encodings)
      expect(readTraces(writeTraces([span], encoding), encoding).spans[0]?.attribute('n')).toBe('1180591620717411303424');
  });
});

describe('otlp answers', () => {
  test('otlp: a whole success is empty, a partial one has count and reasons', () => {
    expect(exportResponse('traces', 'protobuf')).toHaveLength(0);
    expect(exportResponse('logs', 'json').toString()).toBe('{}');
    const partial = { rejected: 300, message: 'invalid_trace_id (300)' };
    expect(traceResponse.decode(exportResponse('traces', 'protobuf', partial))).toEqual({
      partialSuccess: { rejectedSpans: '300', errorMessage: partial.message },
    });
    expect(logsResponse.decode(exportResponse('logs', 'protobuf', partial))).toEqual({
      partialSuccess: { rejectedLogRecords: '300', errorMessage: partial.message },
    });
    expect(JSON.parse(exportResponse('traces', 'json', partial).toString())).toEqual({
      partialSuccess: { rejectedSpans: '300', errorMessage: partial.message },
    });
    expect(JSON.parse(exportResponse('logs', 'json', partial).toString())).toEqual({
      partialSuccess: { rejectedLogRecords: '300', errorMessage: partial.message },
    });
  });

  test('otlp: a status carries its code and message in both encodings', () => {
    expect(statusMessage.decode(statusResponse('protobuf', 3, 'größer'))).toEqual({ code: 3, message: 'größer' });
    expect(statusResponse('protobuf', 0, '')).toHaveLength(0);
    expect(traceResponse.decode(exportResponse('traces', 'protobuf', { rejected: 0, message: '' }))).toEqual({ partialSuccess: {} });
    expect(JSON.parse(statusResponse('json', 8, 'x').toString())).toEqual({ code: 8, message: 'x' });
  });

  const codes = [
    [200, 0],
    [400, 3],
    [401, 16],
    [403, 7],
    [404, 5],
    [405, 12],
    [408, 4],
    [413, 8],
    [415, 3],
    [429, 8],
    [431, 8],
    [500, 13],
    [501, 12],
    [502, 14],
    [503, 14],
    [504, 4],
    [599, 13],
  ] as const;
  for (const [status, code] of codes) test(`otlp: HTTP ${status} is gRPC code ${code}`, () => expect(grpcCode(status)).toBe(code));
});

function inOrder(spans: readonly Span[]): readonly object[] {
  return spans
    .map((span) => [JSON.stringify(plainSpan(span), textOf), plainSpan(span)] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, plain]) => plain);
}

function textOf(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}

import { JsonLogsSerializer, JsonTraceSerializer, ProtobufLogsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { expect, test } from 'vitest';
import { rejectedItems, retryDelayMs } from '../../../src/otlp/read/responses.ts';
import { exportResponse, retryStatus, statusResponse } from '../../../src/otlp/write/responses.ts';

const partial = { rejected: 300, message: 'missing_id (300); first missing_id: at 0' };

test.each(['traces', 'logs'] as const)('reads how many %s a receiver rejected, in both encodings, as the SDK does', (signal) => {
  const [json, protobuf] = [exportResponse(signal, 'json', partial), exportResponse(signal, 'protobuf', partial)];
  expect(rejectedItems(json, signal, 'json')).toBe(300);
  expect(rejectedItems(protobuf, signal, 'protobuf')).toBe(300);
  const [ofJson, ofProtobuf] =
    signal === 'traces'
      ? [
          JsonTraceSerializer.deserializeResponse(json).partialSuccess?.rejectedSpans,
          ProtobufTraceSerializer.deserializeResponse(protobuf).partialSuccess?.rejectedSpans,
        ]
      : [
          JsonLogsSerializer.deserializeResponse(json).partialSuccess?.rejectedLogRecords,
          ProtobufLogsSerializer.deserializeResponse(protobuf).partialSuccess?.rejectedLogRecords,
        ];
  expect([Number(ofJson), Number(ofProtobuf)]).toEqual([300, 300]);
});

test.each([
  ['an empty answer', 'json', ''],
  ['an answer without a partial success', 'json', '{}'],
  ['a partial success with only a message', 'json', '{"partialSuccess":{"errorMessage":"slow down"}}'],
  ['a page', 'json', '<html>'],
  ['another JSON value', 'json', '[1]'],
  ['a count that is not a number', 'json', '{"partialSuccess":{"rejectedSpans":"many"}}'],
  ['a negative count', 'json', '{"partialSuccess":{"rejectedSpans":"-1"}}'],
  ['an empty answer', 'protobuf', ''],
  ['bytes that are not a message', 'protobuf', '\xff\xff\xff'],
  ['a message that is cut off', 'protobuf', '\x0a\x05\x08'],
] as const)('counts nothing as rejected in %s (%s)', (_what, encoding, text) => {
  expect(rejectedItems(Buffer.from(text, 'latin1'), 'traces', encoding)).toBe(0);
});

test('reads rejected data points, as number and as text', () => {
  expect(rejectedItems(Buffer.from('{"partialSuccess":{"rejectedDataPoints":2}}'), 'metrics', 'json')).toBe(2);
  expect(rejectedItems(Buffer.from('{"partialSuccess":{"rejectedDataPoints":"2"}}'), 'metrics', 'json')).toBe(2);
  expect(rejectedItems(Buffer.from([0x0a, 0x02, 0x08, 0x02]), 'metrics', 'protobuf')).toBe(2);
});

test('reads the delay of a RetryInfo, and none from other statuses', () => {
  for (const ms of [7_000, 250, 1_001]) expect(retryDelayMs(retryStatus(14, 'later', ms / 1_000))).toBe(ms);
  expect(retryDelayMs(statusResponse('protobuf', 14, 'later'))).toBeUndefined();
  expect(retryDelayMs(Buffer.from([0x1a, 0x05, 0x0a]))).toBeUndefined();
});

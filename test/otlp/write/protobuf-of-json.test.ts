/** JSON that goes on as protobuf: the published messages read in both what was in either. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JuryError } from '../../../src/model/errors.ts';
import { protobufOfJson } from '../../../src/otlp/write/protobuf-of-json.ts';
import type { OtlpSignal } from '../../../src/otlp/write/responses.ts';
import { runSteps } from '../../../src/runtime/cooperative.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { logsRequest, traceRequest, type Message } from '../descriptors.ts';
import { logsRequests, traceRequests } from '../requests.ts';

const runs = { numRuns: propertyRuns({ short: 25, long: 100 }) };

const signals = [
  ['traces', traceRequests, traceRequest],
  ['logs', logsRequests, logsRequest],
] as const;
const asProtobuf = (json: unknown, signal: OtlpSignal): Buffer => runSteps(protobufOfJson(Buffer.from(JSON.stringify(json)), signal));

/** A request without any default value, as the published messages read it. */
const read = (message: Message, bytes: Buffer): unknown => message.decode(message.encode(message.decode(bytes)));

for (const [signal, requests, message] of signals) {
  test(`protobuf of JSON: ${signal} are what they are in protobuf`, () => {
    fc.assert(
      fc.property(requests, ({ proto, json }) => {
        expect(read(message, asProtobuf(json, signal))).toEqual(read(message, message.encode(proto)));
      }),
      runs,
    );
  });

  test(`protobuf of JSON: it is made of damaged ${signal}, or they are reported as malformed`, () => {
    fc.assert(
      fc.property(requests, fc.nat(), fc.nat(255), ({ json }, place, byte) => {
        const body = Buffer.from(JSON.stringify(json));
        body[place % body.length] = byte;
        try {
          message.decode(runSteps(protobufOfJson(body, signal)));
        } catch (error) {
          expect(error).toBeInstanceOf(JuryError);
        }
      }),
      runs,
    );
  });
}

const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const idBytes = { traceId: Buffer.from(ids.traceId, 'hex'), spanId: Buffer.from(ids.spanId, 'hex') };

const cases: readonly { readonly name: string; readonly span: object; readonly want: object }[] = [
  {
    name: 'the other spelling of names',
    span: { trace_id: ids.traceId, span_id: ids.spanId, start_time_unix_nano: '7', dropped_links_count: 2 },
    want: { ...idBytes, startTimeUnixNano: '7', droppedLinksCount: 2 },
  },
  {
    name: 'enumerations by name',
    span: { ...ids, kind: 'SPAN_KIND_CLIENT', status: { code: 'STATUS_CODE_ERROR' } },
    want: { ...idBytes, kind: 3, status: { code: 2 } },
  },
  {
    name: 'numbers as texts and as numbers',
    span: {
      ...ids,
      attributes: [
        { key: 'a', value: { intValue: '-9223372036854775808' } },
        { key: 'b', value: { intValue: 5 } },
        { key: 'c', value: { doubleValue: 'NaN' } },
      ],
    },
    want: {
      ...idBytes,
      attributes: [
        { key: 'a', value: { intValue: '-9223372036854775808' } },
        { key: 'b', value: { intValue: '5' } },
        { key: 'c', value: { doubleValue: Number.NaN } },
      ],
    },
  },
  {
    name: 'links and events with what was dropped of them',
    span: { ...ids, links: [{ ...ids, traceState: 'k=v', droppedAttributesCount: 4, flags: 257 }], droppedEventsCount: 1 },
    want: { ...idBytes, links: [{ ...idBytes, traceState: 'k=v', droppedAttributesCount: 4, flags: 257 }], droppedEventsCount: 1 },
  },
  {
    name: 'no field that is unknown, null or of a wrong type',
    span: { ...ids, name: 5, color: 'red', endTimeUnixNano: null, kind: {}, links: 'no', events: [7] },
    want: idBytes,
  },
];
for (const { name, span, want } of cases) {
  test(`protobuf of JSON: it keeps ${name}`, () => {
    const request = {
      resourceSpans: [
        { resource: { droppedAttributesCount: 3 }, schemaUrl: 'r', scopeSpans: [{ scope: { name: 's' }, schemaUrl: 'x', spans: [span] }] },
      ],
    };
    expect(traceRequest.decode(asProtobuf(request, 'traces'))).toEqual({
      resourceSpans: [
        { resource: { droppedAttributesCount: 3 }, schemaUrl: 'r', scopeSpans: [{ scope: { name: 's' }, schemaUrl: 'x', spans: [want] }] },
      ],
    });
  });
}

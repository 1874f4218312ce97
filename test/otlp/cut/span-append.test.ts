/** Fields added to spans in the received bytes: the published messages read the same spans with the additions, and all else is there unchanged. */
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, test } from 'vitest';
import { writeAddition } from '../../../src/otlp/write/outgoing-items.ts';
import { JuryError } from '../../../src/model/errors.ts';
import { pieces } from '../../../src/otlp/cut/trace-extract.ts';
import { protobufWriter } from '../../../src/otlp/write/protobuf-writer.ts';
import { spliced, type Addition, type Cut } from '../../../src/otlp/cut/span-append.ts';
import { anyCharacter } from '../../builders/any-character.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { traceRequest } from '../descriptors.ts';
import { traceRequests } from '../requests.ts';

const runs = { numRuns: propertyRuns({ short: 25, long: 100 }) };

interface Decoded {
  readonly resourceSpans?: readonly {
    readonly resource?: object;
    readonly scopeSpans?: readonly { readonly scope?: object; readonly spans?: readonly DecodedSpan[] }[];
  }[];
}

interface DecodedSpan {
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  readonly endTimeUnixNano?: string;
  readonly attributes?: readonly object[];
  readonly events?: readonly object[];
}

/** The additions of a verdict, as values and in the published messages. */
const added = fc.record({
  verdict: fc.string({ unit: anyCharacter, maxLength: 6 }),
  events: fc.array(
    fc.record({
      name: fc.string({ minLength: 1, maxLength: 5 }),
      score: fc.double({ noNaN: true }).filter((score) => !Number.isInteger(score)),
      passed: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
});
type Added = typeof added extends fc.Arbitrary<infer Value> ? Value : never;

function additionOf({ verdict, events }: Added): Addition {
  return (endUnixNano) => {
    const out = protobufWriter();
    writeAddition(out, {
      attributes: { verdict },
      events: events.map(({ name, score, passed }) => ({ name, timeUnixNano: endUnixNano, attributes: { score, passed } })),
    });
    return out.result();
  };
}

function withAdded(span: DecodedSpan, { verdict, events }: Added): DecodedSpan {
  const pair = (key: string, value: object): object => ({ key, value });
  const all = [
    ...(span.events ?? []),
    ...events.map(({ name, score, passed }) => ({
      ...(span.endTimeUnixNano === undefined ? {} : { timeUnixNano: span.endTimeUnixNano }),
      name,
      attributes: [pair('score', { doubleValue: score }), pair('passed', { boolValue: passed })],
    })),
  ];
  return {
    ...span,
    attributes: [...(span.attributes ?? []), pair('verdict', { stringValue: verdict.toWellFormed() })],
    ...(all.length === 0 ? {} : { events: all }),
  };
}

const decoded = (body: Buffer): Decoded => traceRequest.decode(body);
const spansIn = (request: Decoded): readonly DecodedSpan[] =>
  (request.resourceSpans ?? []).flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap(({ spans = [] }) => spans));
const idOf = (span: DecodedSpan): string => span.spanId.toString('hex');
const traceOf = (span: DecodedSpan): string => span.traceId.toString('hex');

/** The spans of a request as their bytes, cut out by a reader that is not ours. */
function rawSpans(body: Buffer): readonly Buffer[] {
  const inner = (bytes: Buffer, field: number): readonly Buffer[] => {
    const reader = protobuf.Reader.create(bytes);
    const found: Buffer[] = [];
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag >>> 3 === field) found.push(Buffer.from(reader.bytes()));
      else reader.skipType(tag & 7);
    }
    return found;
  };
  return inner(body, 1)
    .flatMap((block) => inner(block, 2))
    .flatMap((scope) => inner(scope, 2));
}

/** Every second trace; only every second span of every third of these; and additions to some of the spans. */
function cutsOf(
  spans: readonly DecodedSpan[],
  additions: readonly (Added | undefined)[],
): {
  readonly cuts: ReadonlyMap<string, Cut>;
  readonly addedTo: ReadonlyMap<string, Added>;
  readonly isWanted: (span: DecodedSpan) => boolean;
} {
  const addedTo = new Map(spans.flatMap((span, at) => (additions[at] === undefined ? [] : [[idOf(span), additions[at]] as const])));
  const traces = [...new Set(spans.map(traceOf))].filter((_, at) => at % 2 === 0);
  const only = (traceId: string, at: number): ReadonlySet<string> | undefined =>
    at % 3 === 0
      ? new Set(
          spans
            .filter((span) => traceOf(span) === traceId)
            .map(idOf)
            .filter((_, nth) => nth % 2 === 0),
        )
      : undefined;
  const cuts = new Map(
    traces.map((traceId, at) => [
      traceId,
      { only: only(traceId, at), additions: new Map([...addedTo].map(([id, one]) => [id, additionOf(one)])) },
    ]),
  );
  return { cuts, addedTo, isWanted: (span) => cuts.has(traceOf(span)) && cuts.get(traceOf(span))?.only?.has(idOf(span)) !== false };
}

test('splice: the published messages read the spans that are wanted, with what was added behind what was there', () => {
  fc.assert(
    fc.property(traceRequests, fc.array(fc.option(added, { nil: undefined }), { maxLength: 12 }), ({ proto }, additions) => {
      const body = traceRequest.encode(proto);
      const before = decoded(body);
      const { cuts, addedTo, isWanted } = cutsOf(spansIn(before), additions);
      const after = decoded(spliced(body, cuts));
      expect(spansIn(after)).toEqual(
        spansIn(before)
          .filter(isWanted)
          .map((span) => (addedTo.has(idOf(span)) ? withAdded(span, addedTo.get(idOf(span)) as Added) : span)),
      );
      // Each under the resource and the scope that it came with.
      const places = ({ resourceSpans = [] }: Decoded): readonly unknown[] =>
        resourceSpans.flatMap(({ scopeSpans = [], ...block }) =>
          scopeSpans.flatMap(({ spans = [], ...scope }) => spans.filter(isWanted).map((span) => [idOf(span), block, scope])),
        );
      expect(places(after)).toEqual(places(before));
    }),
    runs,
  );
});

test('splice: spans that nothing is added to are the very bytes, and the others begin with them', () => {
  fc.assert(
    fc.property(traceRequests, fc.array(fc.option(added, { nil: undefined }), { maxLength: 12 }), ({ proto }, additions) => {
      const body = traceRequest.encode(proto);
      const spans = spansIn(decoded(body));
      const { cuts, addedTo, isWanted } = cutsOf(spans, additions);
      const wanted = rawSpans(body).filter((_, at) => isWanted(spans[at] as DecodedSpan));
      const after = rawSpans(spliced(body, cuts));
      expect(after).toHaveLength(wanted.length);
      for (const [at, span] of spans.filter(isWanted).entries()) {
        const [was = Buffer.of(), is = Buffer.of()] = [wanted[at], after[at]];
        expect((addedTo.has(idOf(span)) ? is.subarray(0, was.length) : is).equals(was)).toBe(true);
      }
    }),
    runs,
  );
});

test('splice: where all is wanted unchanged, it is the very body; and its pieces are all of its spans', () => {
  fc.assert(
    fc.property(traceRequests, ({ proto }) => {
      const body = traceRequest.encode(proto);
      const spans = spansIn(decoded(body));
      expect(spliced(body, new Map(spans.map((span) => [traceOf(span), { only: undefined, additions: new Map() }])))).toBe(body);
      const cut = pieces(body, 'traces');
      expect(new Set(cut.keys())).toEqual(new Set(spans.map(traceOf)));
      for (const [traceId, found] of cut)
        expect(spansIn(decoded(Buffer.concat(found.pieces)))).toEqual(spans.filter((span) => traceOf(span) === traceId));
    }),
    runs,
  );
});

test('splice: a damaged body is spliced, or reported as malformed', () => {
  fc.assert(
    fc.property(traceRequests, fc.nat(), fc.nat(255), added, ({ proto }, place, byte, one) => {
      const body = traceRequest.encode(proto);
      const { cuts } = cutsOf(spansIn(decoded(body)), [one]);
      if (body.length === 0) return;
      body[place % body.length] = byte;
      try {
        expect(spliced(body, cuts)).toBeInstanceOf(Buffer);
      } catch (error) {
        expect(error).toBeInstanceOf(JuryError);
      }
    }),
    runs,
  );
});

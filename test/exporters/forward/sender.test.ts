/** Under any answers of the target: nothing is lost, nothing of a trace goes before earlier parts of it, and only refused spans are given up. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { outageLog } from '../../../src/exporters/delivery/outage-log.ts';
import { heldSpans, type PlainBody } from '../../../src/exporters/forward/held-spans.ts';
import { sender, type ForwardOutcome, type Destination } from '../../../src/exporters/forward/sender.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant } from '../../../src/model/ids.ts';
import type { Span } from '../../../src/model/span.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { settled } from '../../builders/manual-sleep.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { span } from '../../builders/spans.ts';

const runs = { numRuns: propertyRuns({ short: 25, long: 100 }) };

const lanes = 2;
const poison = 'poison';
const idText = ({ traceId, spanId }: Span): string => `${Number.parseInt(traceId, 16)} ${Number.parseInt(spanId, 16)}`;

interface Sent {
  readonly traces: readonly number[];
  readonly isPoison: boolean;
  /** False when the body is only in the journal. */
  readonly isHere: boolean;
}

/** Sends everything to a target with the given answers, and then accepts. */
async function sentThrough(
  requests: readonly Sent[],
  answers: readonly ('busy' | 'gone' | 'later')[],
): Promise<{ readonly came: readonly Span[]; readonly taken: readonly Span[]; readonly left: number }> {
  const [clock, telemetry] = [manualClock(), metricRegistry()];
  const held = heldSpans({ clock, telemetry, partitions: lanes, bodyBytesMax: 1e6 });
  const journal = new Map<number, PlainBody>();
  const taken: Span[] = [];
  let at = 0;
  const target: Destination = {
    isProtobufOnly: false,
    async send(_signal, _encoding, bytes): Promise<ForwardOutcome> {
      const answer = answers[at++];
      if (answer !== undefined)
        return { kind: 'failed', retryable: true, error: answer, rejected: 0, ...(answer === 'later' ? { retryAfterMs: 1 } : {}) };
      const { spans } = readTraces(bytes, 'protobuf');
      if (spans.some(({ name }) => name === poison)) return { kind: 'failed', retryable: false, error: 'status 400', rejected: 0 };
      taken.push(...spans);
      return { kind: 'sent', rejected: 0 };
    },
    stop: () => undefined,
  };
  const out = sender({
    clock,
    outages: outageLog({ name: () => 'forward', what: 'spans', telemetry, clock }),
    held,
    partitions: lanes,
    destination: () => target,
    read: async (position) => journal.get(position),
    telemetry,
    random: () => 0,
    sleep: async () => undefined,
  });
  const came: Span[] = [];
  let id = 0;
  for (const [position, { traces, isPoison, isHere }] of requests.entries()) {
    const spans = traces.map((trace, nth) =>
      span({ id: ++id, trace: trace + 1, bytes: position + 1, name: isPoison && nth === 0 ? poison : 'fine' }),
    );
    const body: PlainBody = { bytes: writeTraces(spans, 'protobuf'), encoding: 'protobuf' };
    journal.set(position, body);
    came.push(...spans);
    held.takeSpans({ position, tenant: noTenant, spans, body: isHere ? body : undefined, isWhole: true }, () => false);
    out.pump();
  }
  for (let turn = 0; turn < 2_000 && held.size() > 0; turn++) await settled();
  return { came, taken, left: held.size() };
}

const request: fc.Arbitrary<Sent> = fc.record({
  traces: fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }),
  isPoison: fc.boolean(),
  isHere: fc.boolean(),
});

test('sending: a target that fails in any way gets all in the end, in order within a trace, but for what it refuses', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { maxLength: 12 }),
      fc.array(fc.constantFrom('busy' as const, 'gone' as const, 'later' as const), { maxLength: 20 }),
      async (requests, answers) => {
        const { came, taken, left } = await sentThrough(requests, answers);
        expect(left).toBe(0);
        // The spans of one trace in one request go together, and are refused together.
        const refused = came.filter((one) =>
          came.some(({ name, traceId, wireBytes }) => name === poison && traceId === one.traceId && wireBytes === one.wireBytes),
        );
        expect(taken.map(idText).toSorted()).toEqual(
          came
            .filter((one) => !refused.includes(one))
            .map(idText)
            .toSorted(),
        );
        for (const own of Map.groupBy(taken, ({ traceId }) => traceId).values()) {
          const ids = own.map(({ spanId }) => Number.parseInt(spanId, 16));
          expect(ids).toEqual(ids.toSorted((a, b) => a - b));
        }
      },
    ),
    runs,
  );
});

/** Requests that can be sent again and again: each time with trace ids that were not there before, and at later times, as the runs of agents come. */
import { workload } from '../workload.ts';

export interface FreshBodies {
  /** The next request; no two have a trace id in common. */
  next(): { readonly body: Buffer; readonly spans: number };
  readonly bytesPerSpan: number;
}

/** `0a 10` trace id `12 08`: how a span begins. */
const idBytes = 16;
const headBytes = 2;
/** Nanoseconds since 1970 as a fixed64: the tags of a span's start and end and of an event's time, and the two highest bytes of every time in the workload. */
const timeTags: ReadonlySet<number> = new Set([0x39, 0x41, 0x09]);
const timeEnding = [0xfa, 0x18] as const;
const timeBytes = 8;
/** By which the times of one round lie behind those of the one before: as long as the runs of a round take to begin. */
const roundNanos = 10_000_000_000n;
/** Ids of calls begin with this many digits of their trace's. */
const callMark = 'call_';
const changedBytes = 6;
/** The mark in sessions and questions that would otherwise be the same each time. */
const mark = 'xxxxxxxxxxxx';

interface Template {
  readonly body: Buffer;
  /** The places of each span's trace id. */
  readonly ids: readonly number[];
  readonly times: readonly number[];
  readonly calls: readonly number[];
  readonly marks: readonly number[];
}

/** `sender` keeps what several senders send apart. */
export function freshBodies({
  seed,
  spans,
  sender,
}: {
  readonly seed: number;
  readonly spans: number;
  readonly sender: number;
}): FreshBodies {
  const made = workload({ seed, spans, whole: true, mark });
  const templates = made.bodies.map((body): Template => ({
    body,
    ids: idPlaces(body),
    times: timePlaces(body),
    calls: textPlaces(body, callMark)
      .map((at) => at + callMark.length)
      .filter((at) => /^[0-9a-f]+$/.test(body.toString('latin1', at, at + 2 * changedBytes))),
    marks: textPlaces(body, mark),
  }));
  const found = templates.reduce((sum, { ids }) => sum + ids.length, 0);
  if (found !== made.spans) throw new Error(`${found} trace ids were found in ${made.spans} spans`);
  if (templates.reduce((sum, { times }) => sum + times.length, 0) < 2 * made.spans)
    throw new Error('there are spans without a start and an end');
  let count = 0;
  return {
    bytesPerSpan: made.bytes / made.spans,
    next() {
      const template = templates[count % templates.length];
      if (template === undefined) throw new Error('there are no requests');
      const round = Math.floor(count++ / templates.length);
      return {
        body: changed(template, { change: round * 2 ** 16 + sender, nanos: BigInt(round) * roundNanos }),
        spans: template.ids.length,
      };
    },
  };
}

/** Every trace id, and all that is made of it, becomes another one; different ones stay different. */
function changed(
  { body: original, ids, times, calls, marks }: Template,
  { change, nanos }: { readonly change: number; readonly nanos: bigint },
): Buffer {
  const body = Buffer.from(original);
  for (const at of ids) body.writeUIntBE(differing(body.readUIntBE(at, changedBytes), change), at, changedBytes);
  for (const at of times) body.writeBigUInt64LE(body.readBigUInt64LE(at) + nanos, at);
  for (const at of calls)
    body.write(hex(differing(Number.parseInt(body.toString('latin1', at, at + 2 * changedBytes), 16), change)), at, 'latin1');
  for (const at of marks) body.write(hex(change), at, 'latin1');
  return body;
}

function differing(value: number, change: number): number {
  return (value + change) % 2 ** (8 * changedBytes);
}

function hex(value: number): string {
  return value.toString(16).padStart(2 * changedBytes, '0');
}

function textPlaces(body: Buffer, text: string): readonly number[] {
  const places: number[] = [];
  for (let at = body.indexOf(text); at !== -1; at = body.indexOf(text, at + text.length)) places.push(at);
  return places;
}

function timePlaces(body: Buffer): readonly number[] {
  const [high, highest] = timeEnding;
  const places: number[] = [];
  for (let at = 1; at + timeBytes <= body.length; at++) {
    if (body[at + timeBytes - 1] === highest && body[at + timeBytes - 2] === high && timeTags.has(body[at - 1] ?? 0)) places.push(at);
  }
  return places;
}

function idPlaces(body: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = 0; at + headBytes + idBytes + headBytes <= body.length; at++) {
    if (
      body[at] !== 0x0a ||
      body[at + 1] !== idBytes ||
      body[at + headBytes + idBytes] !== 0x12 ||
      body[at + headBytes + idBytes + 1] !== 8
    )
      continue;
    places.push(at + headBytes);
    at += headBytes + idBytes;
  }
  return places;
}

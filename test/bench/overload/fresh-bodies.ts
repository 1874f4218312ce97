/** Requests that can be sent again and again: each time with trace ids that were not there before. */
import { workload } from '../workload.ts';

export interface FreshBodies {
  /** The next request; no two have a trace id in common. */
  next(): { readonly body: Buffer; readonly spans: number };
  readonly bytesPerSpan: number;
}

/** `0a 10` trace id `12 08`: how a span begins. */
const idBytes = 16;
const headBytes = 2;
/** Ids of calls begin with so many digits of their trace's. */
const callMark = 'call_';
const changedBytes = 6;
/** Stands wherever sessions and questions would be the same each time. */
const mark = 'xxxxxxxxxxxx';

interface Template {
  readonly body: Buffer;
  /** Where the trace id of each span stands. */
  readonly ids: readonly number[];
  readonly calls: readonly number[];
  readonly marks: readonly number[];
}

/** `sender` keeps what several senders send apart. */
export function freshBodies({ seed, spans, sender }: { readonly seed: number; readonly spans: number; readonly sender: number }): FreshBodies {
  const made = workload({ seed, spans, whole: true, mark });
  const templates = made.bodies.map((body): Template => ({ body, ids: idPlaces(body), calls: textPlaces(body, callMark).map((at) => at + callMark.length).filter((at) => /^[0-9a-f]+$/.test(body.toString('latin1', at, at + 2 * changedBytes))), marks: textPlaces(body, mark) }));
  const found = templates.reduce((sum, { ids }) => sum + ids.length, 0);
  if (found !== made.spans) throw new Error(`${found} trace ids were found in ${made.spans} spans`);
  let count = 0;
  return {
    bytesPerSpan: made.bytes / made.spans,
    next() {
      const template = templates[count % templates.length];
      if (template === undefined) throw new Error('there are no requests');
      const change = Math.floor(count++ / templates.length) * 2 ** 16 + sender;
      return { body: changed(template, change), spans: template.ids.length };
    },
  };
}

/** Every trace id, and all that is made of it, becomes another one; different ones stay different. */
function changed({ body: original, ids, calls, marks }: Template, change: number): Buffer {
  const body = Buffer.from(original);
  for (const at of ids) body.writeUIntBE(differing(body.readUIntBE(at, changedBytes), change), at, changedBytes);
  for (const at of calls) body.write(hex(differing(Number.parseInt(body.toString('latin1', at, at + 2 * changedBytes), 16), change)), at, 'latin1');
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

function idPlaces(body: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = 0; at + headBytes + idBytes + headBytes <= body.length; at++) {
    if (body[at] !== 0x0a || body[at + 1] !== idBytes || body[at + headBytes + idBytes] !== 0x12 || body[at + headBytes + idBytes + 1] !== 8) continue;
    places.push(at + headBytes);
    at += headBytes + idBytes;
  }
  return places;
}

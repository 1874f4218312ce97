/** A request in parts, byte for byte: each owner gets the spans or log records of its traces, in their order, with their resources and scopes. */
import type { JsonObject } from '../../model/json.ts';
import { itemsInBody, type JsonItem } from '../read/json-body.ts';
import { defaultOtlpLimits } from '../read/limits.ts';
import type { OtlpEncoding } from '../read/read.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import { piecesBy, type OtlpSignal } from './trace-extract.ts';

/** Views of the body, and bytes in between. */
export type RequestPart = readonly Buffer[];

/** Gives the owner of a trace. `undefined` when the item has no trace id, or one that no reader accepts. */
type OwnerOf<Owner> = (traceId: string | undefined) => Owner;

/**
 * Splits a request by owner. A request of one owner stays unchanged, and one without items goes to the owner of `undefined`. Throws OTLP_MALFORMED. A
 * JSON list with something else between its objects is not divided: its request goes to the owner of the first trace.
 */
export function* splitRequest<Owner>(
  body: Buffer,
  { signal, encoding }: { readonly signal: OtlpSignal; readonly encoding: OtlpEncoding },
  ownerOf: OwnerOf<Owner>,
): Steps<ReadonlyMap<Owner, RequestPart>> {
  const parts = encoding === 'json' ? yield* splitJson(body, signal, ownerOf) : splitProtobuf(body, signal, ownerOf);
  if (parts.size > 1) return parts;
  const [owner = ownerOf(undefined)] = parts.keys();
  return new Map([[owner, [body]]]);
}

function splitProtobuf<Owner>(body: Buffer, signal: OtlpSignal, ownerOf: OwnerOf<Owner>): ReadonlyMap<Owner, RequestPart> {
  return new Map([...piecesBy(body, signal, ownerOf)].map(([owner, { pieces }]) => [owner, pieces]));
}

const comma = Buffer.from(',');

/** Items of other owners leave the text; all else stays, so that each part names the source of its items. */
function* splitJson<Owner>(body: Buffer, signal: OtlpSignal, ownerOf: OwnerOf<Owner>): Steps<ReadonlyMap<Owner, RequestPart>> {
  const { spansPerRequest, recordsPerRequest } = defaultOtlpLimits;
  const itemsMax = signal === 'traces' ? spansPerRequest : recordsPerRequest;
  const { runs, areWholeLists } = yield* itemsInBody(body, itemsMax, defaultOtlpLimits);
  const owned: (readonly { readonly item: JsonItem; readonly owner: Owner }[])[] = [];
  for (const { items } of runs) {
    owned.push(items.map((item) => ({ item, owner: ownerOf(traceIdOf(item.value())) })));
    yield;
  }
  const owners = new Set(owned.flatMap((items) => items.map(({ owner }) => owner)));
  if (!areWholeLists) return new Map([...owners].slice(0, 1).map((owner) => [owner, [body]]));
  return new Map([...owners].map((owner) => [owner, partOf(owner)]));

  function partOf(owner: Owner): RequestPart {
    const pieces: Buffer[] = [];
    let from = 0;
    for (const [at, { start, end }] of runs.entries()) {
      pieces.push(body.subarray(from, start));
      const own = (owned[at] ?? []).filter((one) => one.owner === owner);
      for (const [place, { item }] of own.entries()) pieces.push(...(place > 0 ? [comma] : []), body.subarray(item.start, item.end));
      from = end;
    }
    pieces.push(body.subarray(from));
    return pieces;
  }
}

function traceIdOf(item: JsonObject | undefined): string | undefined {
  const id = item?.['traceId'] ?? item?.['trace_id'];
  return typeof id === 'string' ? id.toLowerCase() : undefined;
}

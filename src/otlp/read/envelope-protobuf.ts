/**
 * The common structure of trace and log requests.
 *
 *     request        = resource block = 1, repeated
 *     resource block = resource = 1, scope block = 2, repeated, schema url = 3
 *     scope block    = scope = 1, item = 2, repeated, schema url = 3
 *     resource       = attribute = 1, repeated, dropped count = 2, entity = 3
 *     scope          = name = 1, version = 2, attribute = 3, repeated, dropped count = 4
 *
 * An item is a span or a log record. The resource may come after its scopes, so each block is passed over twice: once for
 * its head, once for its members. When a block has two resources, the last one counts. Field 1000 (instrumentation library
 * spans, deprecated) is skipped like any unknown field.
 */
import { JuryError } from '../../model/errors.ts';
import type { Resource, Scope } from '../../model/span.ts';
import { ProtobufAttributes, scanAttribute } from './any-value-protobuf.ts';
import { type Scanned, note, reject, takeBlock, takeFault, type Fault, type Scan, isPauseDue, newPace } from './decode-state.ts';
import { closeTable, emptied, type AttributeRanges, noAttributes } from './attribute-table.ts';
import { cursorAt, enter, leave, readTag, readText, skip, type Cursor } from './protobuf.ts';
import type { Steps } from '../../runtime/cooperative.ts';

/** Reads one item; the cursor has entered it. `undefined` when it is not wanted, or has a fault, which is in `scan.fault`. */
type ReadItem<Item> = (cursor: Cursor, scan: Scan, resource: Resource, scope: Scope) => Item | undefined;

interface ItemKind<Item> {
  readonly itemsMax: number;
  readonly tooMany: Fault;
  readonly read: ReadItem<Item>;
}

export function* readEnvelope<Item>(scan: Scan, kind: ItemKind<Item>): Steps<Item[]> {
  const { table } = scan.scanned;
  const cursor = cursorAt(table.body, 0, table.body.bytes.length);
  const items: Item[] = [];
  const pace = newPace();
  for (let outer = entered(cursor, 1, scan); outer !== none; outer = entered(cursor, 1, scan)) {
    takeBlock(scan);
    scan.place.resource++;
    scan.place.scope = -1;
    const resource = head(cursor, scan, readResource) ?? noAttributes;
    const resourceFault = takeFault(scan);
    for (let block = entered(cursor, 2, scan); block !== none; block = entered(cursor, 2, scan)) {
      takeBlock(scan);
      scan.place.scope++;
      scan.place.item = -1;
      const scope = head(cursor, scan, readScope) ?? noScope;
      const fault = resourceFault ?? takeFault(scan);
      scan.fault = undefined;
      for (let inScope = entered(cursor, 2, scan); inScope !== none; inScope = entered(cursor, 2, scan)) {
        const bytes = cursor.end - cursor.at;
        const item = readItem(cursor, scan, kind, fault, resource, scope);
        if (item !== undefined) items.push(item);
        leave(cursor, inScope);
        if (isPauseDue(pace, bytes)) yield;
      }
      leave(cursor, block);
      if (isPauseDue(pace, 0)) yield;
    }
    leave(cursor, outer);
    if (isPauseDue(pace, 0)) yield;
  }
  closeTable(table);
  return items;
}

const noScope: Scope = { name: '', version: '', ...noAttributes };

const none = -1;

/** Goes on to the next message of one field, in the message that the cursor has entered, and enters it. Gives the former end for `leave`, or `none`. */
function entered(cursor: Cursor, field: number, scan: Scan): number {
  cursor.fieldsLeft = scan.limits.valuesPerSpan;
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag >>> 3 === field) return enter(cursor, tag);
    skip(cursor, tag);
  }
  return none;
}

/** Reads field 1 of the message that the cursor has entered, and goes back to its start. */
function head<Head>(cursor: Cursor, scan: Scan, read: (cursor: Cursor, scan: Scan) => Head): Head | undefined {
  const start = cursor.at;
  let found: Head | undefined;
  cursor.fieldsLeft = scan.limits.valuesPerSpan;
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag >>> 3 === 1) {
      const outerEnd = enter(cursor, tag);
      found = read(cursor, scan);
      leave(cursor, outerEnd);
    } else skip(cursor, tag);
  }
  cursor.at = start;
  return found;
}

function readItem<Item>(
  cursor: Cursor,
  scan: Scan,
  kind: ItemKind<Item>,
  blockFault: Fault | undefined,
  resource: Resource,
  scope: Scope,
): Item | undefined {
  scan.place.item++;
  if (++scan.seen > kind.itemsMax) {
    reject(scan, kind.tooMany);
    return undefined;
  }
  const item = readWhole(cursor, scan, kind, resource, scope);
  const fault = takeFault(scan) ?? (item === undefined ? undefined : blockFault);
  if (fault === undefined) return item;
  reject(scan, fault);
  return undefined;
}

/** A damaged item does not affect the next one, as its length gives the place of its end. */
function readWhole<Item>(cursor: Cursor, scan: Scan, kind: ItemKind<Item>, resource: Resource, scope: Scope): Item | undefined {
  const { at, end } = cursor;
  const { bytesPerSpan, valuesPerSpan } = scan.limits;
  if (end - at > bytesPerSpan) {
    note(scan, 'too_large', `more than ${bytesPerSpan} bytes`);
    return undefined;
  }
  cursor.fieldsLeft = valuesPerSpan;
  try {
    return kind.read(cursor, scan, resource, scope);
  } catch (error) {
    if (!(error instanceof JuryError)) throw error;
    cursor.at = end;
    cursor.end = end;
    scan.fault =
      cursor.fieldsLeft < 0
        ? { reason: 'too_many_items', detail: `more than ${valuesPerSpan} fields` }
        : { reason: 'malformed', detail: error.why };
    return undefined;
  }
}

function readResource(cursor: Cursor, scan: Scan): Resource {
  const ranges = emptied(scan.ranges);
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag >>> 3 === 1) scanAttribute(cursor, tag, ranges, scan);
    else skip(cursor, tag);
  }
  return ranges.length === 0 ? noAttributes : new ProtobufAttributes(scan.scanned, ranges);
}

function readScope(cursor: Cursor, scan: Scan): Scope {
  const ranges = emptied(scan.ranges);
  let name = '';
  let version = '';
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    const field = tag >>> 3;
    if (field === 1) name = readText(cursor, tag);
    else if (field === 2) version = readText(cursor, tag);
    else if (field === 3) scanAttribute(cursor, tag, ranges, scan);
    else skip(cursor, tag);
  }
  return new ProtobufScope(name, version, scan.scanned, ranges);
}

class ProtobufScope extends ProtobufAttributes implements Scope {
  readonly name: string;
  readonly version: string;

  constructor(name: string, version: string, scanned: Scanned, ranges: AttributeRanges) {
    super(scanned, ranges);
    this.name = name;
    this.version = version;
  }
}

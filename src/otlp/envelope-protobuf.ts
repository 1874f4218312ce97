/**
 * What trace and log requests have in common.
 *
 *     request        = resource block = 1, repeated
 *     resource block = resource = 1, scope block = 2, repeated, schema url = 3
 *     scope block    = scope = 1, item = 2, repeated, schema url = 3
 *     resource       = attribute = 1, repeated, dropped count = 2, entity = 3
 *     scope          = name = 1, version = 2, attribute = 3, repeated, dropped count = 4
 *
 * An item is a span or a log record. The resource may stand behind its scopes, so each block is passed over twice: once for
 * its head, once for its members. Of two resources in one block the last one counts. Field 1000 (instrumentation library
 * spans, deprecated) is skipped like any unknown field.
 */
import type { Resource, Scope } from '../model/span.ts';
import { attributesAt, scanAttribute, type AttributeRanges } from './any-value-protobuf.ts';
import { noAttributes } from './attributes.ts';
import { cursorOver, enter, leave, readTag, readText, skip, type Cursor } from './protobuf.ts';
import { reject, takeBlock, takeFault, type Fault, type Scan } from './scan.ts';

/** Reads one item; the cursor has entered it. Undefined: it is not wanted, or it has a fault, which `scan.fault` tells. */
export type ReadItem<Item> = (cursor: Cursor, scan: Scan, resource: Resource, scope: Scope) => Item | undefined;

export interface ItemKind<Item> {
  readonly itemsMax: number;
  readonly tooMany: Fault;
  readonly read: ReadItem<Item>;
}

export function readEnvelope<Item>(body: Buffer, scan: Scan, kind: ItemKind<Item>): Item[] {
  const cursor = cursorOver(body);
  const items: Item[] = [];
  members(cursor, 1, () => {
    takeBlock(scan);
    scan.place.resource++;
    scan.place.scope = -1;
    const resource = head(cursor, scan, readResource) ?? noAttributes;
    const resourceFault = takeFault(scan);
    members(cursor, 2, () => {
      takeBlock(scan);
      scan.place.scope++;
      scan.place.item = -1;
      const scope = head(cursor, scan, readScope) ?? noScope;
      const fault = resourceFault ?? takeFault(scan);
      scan.fault = undefined;
      members(cursor, 2, () => {
        const item = readItem(cursor, scan, kind, fault, resource, scope);
        if (item !== undefined) items.push(item);
      });
    });
  });
  return items;
}

const noScope: Scope = { name: '', version: '', ...noAttributes };

/** Walks the fields of the message that the cursor has entered and calls `each` inside every message of one field. */
function members(cursor: Cursor, field: number, each: () => void): void {
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag >>> 3 === field) {
      const outerEnd = enter(cursor, tag);
      each();
      leave(cursor, outerEnd);
    } else skip(cursor, tag);
  }
}

/** Reads field 1 of the message that the cursor has entered, and goes back to its start. */
function head<Head>(cursor: Cursor, scan: Scan, read: (cursor: Cursor, scan: Scan) => Head): Head | undefined {
  const start = cursor.at;
  let found: Head | undefined;
  members(cursor, 1, () => {
    found = read(cursor, scan);
  });
  cursor.at = start;
  return found;
}

function readItem<Item>(cursor: Cursor, scan: Scan, kind: ItemKind<Item>, blockFault: Fault | undefined, resource: Resource, scope: Scope): Item | undefined {
  scan.place.item++;
  if (++scan.seen > kind.itemsMax) {
    reject(scan, kind.tooMany);
    return undefined;
  }
  const item = kind.read(cursor, scan, resource, scope);
  const fault = takeFault(scan) ?? (item === undefined ? undefined : blockFault);
  if (fault === undefined) return item;
  reject(scan, fault);
  return undefined;
}

function readResource(cursor: Cursor, scan: Scan): Resource {
  const ranges: AttributeRanges = [];
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag >>> 3 === 1) scanAttribute(cursor, tag, ranges, scan);
    else skip(cursor, tag);
  }
  return attributesAt(cursor, ranges);
}

function readScope(cursor: Cursor, scan: Scan): Scope {
  const ranges: AttributeRanges = [];
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
  return { name, version, ...attributesAt(cursor, ranges) };
}

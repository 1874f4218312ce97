/** The common structure of JSON trace and log requests: resource blocks, in them scope blocks, in them spans or records. */
import type { JsonObject } from '../../model/json.ts';
import type { Resource, Scope } from '../../model/span.ts';
import { attributesOf } from './any-value-json.ts';
import { noAttributes } from './attribute-table.ts';
import { parseBody, type ParsedItem } from './json-body.ts';
import { blocks, list, object, text } from './json-fields.ts';
import { reject, takeBlock, takeFault, type Fault, type Scan, isPauseDue, newPace, stepBytes } from './decode-state.ts';
import type { Steps } from '../../runtime/cooperative.ts';

interface JsonItemKind<Item> {
  /** Both spellings of each list. */
  readonly resourceBlocks: readonly [string, string];
  readonly scopeBlocks: readonly [string, string];
  readonly items: readonly string[];
  readonly itemsMax: number;
  readonly tooMany: Fault;
  /** `undefined` when it is not wanted, or has a fault, which is in `scan.fault`. */
  readonly read: (item: JsonObject, scan: Scan, resource: Resource, scope: Scope) => Item | undefined;
}

export function* readJsonEnvelope<Item>(body: Buffer, scan: Scan, kind: JsonItemKind<Item>): Steps<Item[]> {
  const items: Item[] = [];
  const pace = newPace();
  const { envelope, itemsOf, item: itemAt } = yield* parseBody(body, kind.itemsMax, scan.limits);
  for (const resourceBlock of blocks(envelope, ...kind.resourceBlocks)) {
    takeBlock(scan);
    scan.place.resource++;
    scan.place.scope = -1;
    const resource = readResource(scan, resourceBlock);
    const resourceFault = takeFault(scan);
    for (const scopeBlock of blocks(resourceBlock, ...kind.scopeBlocks)) {
      takeBlock(scan);
      scan.place.scope++;
      scan.place.item = -1;
      const scope = readScope(scan, scopeBlock);
      const fault = resourceFault ?? takeFault(scan);
      scan.fault = undefined;
      for (const number of itemsOf(list(scopeBlock, ...kind.items))) {
        scan.place.item++;
        const parsed = itemAtHand(scan, kind, () => (number === undefined ? noObject : itemAt(number)));
        // To parse a large one takes as long as to read it.
        if (parsed.bytes > stepBytes) yield;
        const item = 'value' in parsed ? readItem(parsed.value, scan, kind, fault, resource, scope) : undefined;
        if ('fault' in parsed) reject(scan, parsed.fault);
        if (item !== undefined) items.push(item);
        if (isPauseDue(pace, parsed.bytes)) yield;
      }
    }
  }
  return items;
}

const noObject: ParsedItem = { bytes: 0, fault: { reason: 'invalid_field', detail: 'it is not an object' } };

function itemAtHand<Item>(scan: Scan, { itemsMax, tooMany }: JsonItemKind<Item>, parsed: () => ParsedItem): ParsedItem {
  return ++scan.seen > itemsMax ? { bytes: 0, fault: tooMany } : parsed();
}

function readItem<Item>(
  item: JsonObject,
  scan: Scan,
  kind: JsonItemKind<Item>,
  blockFault: Fault | undefined,
  resource: Resource,
  scope: Scope,
): Item | undefined {
  scan.bytes = 0;
  const read = kind.read(item, scan, resource, scope);
  const fault = takeFault(scan) ?? (read === undefined ? undefined : blockFault);
  if (fault === undefined) return read;
  reject(scan, fault);
  return undefined;
}

function readResource(scan: Scan, block: JsonObject): Resource {
  const resource = object(scan, block, 'resource');
  return resource === undefined ? noAttributes : attributesOf(scan, resource);
}

function readScope(scan: Scan, block: JsonObject): Scope {
  const scope = object(scan, block, 'scope');
  if (scope === undefined) return { name: '', version: '', ...noAttributes };
  return { name: text(scan, scope, 'name'), version: text(scan, scope, 'version'), ...attributesOf(scan, scope) };
}

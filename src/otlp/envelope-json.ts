/** What JSON trace and log requests have in common: resource blocks, in them scope blocks, in them spans or records. */
import type { JsonObject } from '../model/json.ts';
import type { Resource, Scope } from '../model/span.ts';
import { attributesOf } from './any-value-json.ts';
import { noAttributes } from './attributes.ts';
import { parseBody } from './json-body.ts';
import { blocks, object, text } from './json-fields.ts';
import { reject, takeBlock, takeFault, type Fault, type Scan } from './scan.ts';

export interface JsonItemKind<Item> {
  /** Both spellings of each list. */
  readonly resourceBlocks: readonly [string, string];
  readonly scopeBlocks: readonly [string, string];
  readonly items: readonly [string, string?];
  readonly itemsMax: number;
  readonly tooMany: Fault;
  /** Undefined: it is not wanted, or it has a fault, which `scan.fault` tells. */
  readonly read: (item: JsonObject, scan: Scan, resource: Resource, scope: Scope) => Item | undefined;
}

export function readJsonEnvelope<Item>(body: Buffer, scan: Scan, kind: JsonItemKind<Item>): Item[] {
  const items: Item[] = [];
  for (const resourceBlock of blocks(parseBody(body, scan.limits), ...kind.resourceBlocks)) {
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
      for (const item of blocks(scopeBlock, ...kind.items.filter((name) => name !== undefined))) {
        const read = readItem(item, scan, kind, fault, resource, scope);
        if (read !== undefined) items.push(read);
      }
    }
  }
  return items;
}

function readItem<Item>(item: JsonObject, scan: Scan, kind: JsonItemKind<Item>, blockFault: Fault | undefined, resource: Resource, scope: Scope): Item | undefined {
  scan.place.item++;
  if (++scan.seen > kind.itemsMax) {
    reject(scan, kind.tooMany);
    return undefined;
  }
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

/** Which collectors read a span. Mostly the span's keys and its scope decide, so it is found out once for all spans that share them. */
import { recognises, type Collector } from '../../collectors/collector.ts';
import type { Span } from '../model/span.ts';

export interface Readers {
  /** In the table's order. */
  readonly collectors: readonly Collector[];
  readonly ids: readonly string[];
  /** Attributes that they read. */
  readonly read: readonly string[];
  /** Of these, the ones that are an item of a list each. */
  readonly items: readonly string[];
}

/** Of so many scopes it is remembered who reads spans with the same keys. */
const scopesMax = 32;

export function readersOf(collectors: readonly Collector[], span: Span): Readers {
  const shape = span.written?.().shape;
  if (shape === undefined) return found(collectors, span);
  const known = shape.keep(collectors, () => ({ byScope: new Map<string, Readers>(), byName: collectors.filter(({ recognisedBy }) => recognisedBy.namePrefixes !== undefined) }));
  const remembered = known.byScope.get(span.scope.name);
  const isNamed = known.byName.some(({ recognisedBy }) => recognisedBy.namePrefixes?.some((prefix) => span.name.startsWith(prefix)));
  if (isNamed) return found(collectors, span);
  if (remembered !== undefined) return remembered;
  const readers = found(collectors, span);
  if (known.byScope.size < scopesMax) known.byScope.set(span.scope.name, readers);
  return readers;
}

function found(collectors: readonly Collector[], span: Span): Readers {
  const own = collectors.filter((collector) => recognises(collector, span));
  const prefixes = own.flatMap(({ wants }) => wants.prefixes);
  const keys = new Set(own.flatMap(({ wants }) => wants.keys));
  const items = span.attributeKeys().filter((key) => prefixes.some((prefix) => key.startsWith(prefix)));
  return { collectors: own, ids: own.map(({ id }) => id), read: [...items, ...span.attributeKeys().filter((key) => keys.has(key))], items };
}

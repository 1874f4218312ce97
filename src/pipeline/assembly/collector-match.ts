/** Which collectors read a span. Mostly the span's keys and its scope decide, so it is found out once for all spans that share them. */
import { recognises, type Collector, type Flattened } from '../../../collectors/collector.ts';
import { flattened, outlineOf } from '../../../collectors/parsing/flattened.ts';
import type { KeyShape, Span } from '../../model/span.ts';

export interface Readers {
  /** In the table's order. */
  readonly collectors: readonly Collector[];
  readonly ids: readonly string[];
  /** Attributes that they read. */
  readonly read: readonly string[];
  /** Lists that they read. */
  readonly lists: readonly Flattened[];
  /** Attributes under the prefixes of these lists that are no part of an item. */
  readonly others: readonly string[];
}

/** Of so many scopes it is remembered who reads spans with the same keys. */
const scopesMax = 32;

export function readersOf(collectors: readonly Collector[], span: Span): Readers {
  const known = span.keyShape?.().keep(collectors, rememberedOf);
  if (known === undefined || startsWithAny(span.name, known.namePrefixes)) return found(collectors, span, known?.lists);
  const remembered = known.byScope.get(span.scope.name);
  if (remembered !== undefined) return remembered;
  const readers = found(collectors, span, known.lists);
  if (known.byScope.size < scopesMax) known.byScope.set(span.scope.name, readers);
  return readers;
}

interface Remembered {
  readonly byScope: Map<string, Readers>;
  /** A span whose name begins so is recognised by it. */
  readonly namePrefixes: readonly string[];
  /** All that collectors read. The same objects for every span of the shape: what its keys say of a list is remembered by these. */
  readonly lists: readonly Flattened[];
}

function rememberedOf(_shape: KeyShape, collectors: readonly Collector[]): Remembered {
  return {
    byScope: new Map(),
    namePrefixes: collectors.flatMap(({ recognisedBy }) => recognisedBy.namePrefixes ?? []),
    lists: collectors.flatMap(({ wants }) => wants.prefixes).map(flattened),
  };
}

function startsWithAny(text: string, prefixes: readonly string[]): boolean {
  for (const prefix of prefixes) if (text.startsWith(prefix)) return true;
  return false;
}

function found(collectors: readonly Collector[], span: Span, known: readonly Flattened[] = []): Readers {
  const own = collectors.filter((collector) => recognises(collector, span));
  const prefixes = own.flatMap(({ wants }) => wants.prefixes);
  const keys = new Set(own.flatMap(({ wants }) => wants.keys));
  const items = span.attributeKeys().filter((key) => startsWithAny(key, prefixes));
  const lists = prefixes.map((prefix) => known.find((list) => list.prefix === prefix) ?? flattened(prefix));
  const inLists = new Set(lists.flatMap((list) => outlineOf(span, list).keys.flat()));
  return {
    collectors: own,
    ids: own.map(({ id }) => id),
    read: [...items, ...span.attributeKeys().filter((key) => keys.has(key))],
    lists,
    others: items.filter((key) => !inLists.has(key)),
  };
}

/** Spans put back under their resource and scope, as a request has them. */
import type { Resource, Scope, Span } from '../model/span.ts';

export interface ResourceGroup {
  readonly resource: Resource;
  readonly scopes: readonly ScopeGroup[];
}

export interface ScopeGroup {
  readonly scope: Scope;
  readonly spans: readonly Span[];
}

/** Resources and scopes of equal content, as the two key functions tell it, are one group; order is that of the first span of each. */
export function regroup(spans: readonly Span[], resourceKey: (resource: Resource) => string, scopeKey: (scope: Scope) => string): readonly ResourceGroup[] {
  const resourceKeys = remembered(resourceKey);
  const scopeKeys = remembered(scopeKey);
  const groups = new Map<string, { resource: Resource; scopes: Map<string, { scope: Scope; spans: Span[] }> }>();
  for (const span of spans) {
    const group = found(groups, resourceKeys(span.resource), () => ({ resource: span.resource, scopes: new Map<string, { scope: Scope; spans: Span[] }>() }));
    found(group.scopes, scopeKeys(span.scope), () => ({ scope: span.scope, spans: [] })).spans.push(span);
  }
  return [...groups.values()].map(({ resource, scopes }) => ({ resource, scopes: [...scopes.values()] }));
}

/** The spans of one request share their resource and scope objects, so most keys are made once. */
function remembered<Value extends object>(key: (value: Value) => string): (value: Value) => string {
  const known = new Map<Value, string>();
  return (value) => found(known, value, () => key(value));
}

function found<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Spans put back under their resource and scope, as a request has them. */
import type { Resource, Scope, Span } from '../../model/span.ts';

export interface ResourceGroup {
  readonly resource: Resource;
  readonly scopes: readonly ScopeGroup[];
}

export interface ScopeGroup {
  readonly scope: Scope;
  readonly spans: readonly Span[];
}

/** Neighbours whose resources and scopes have equal content, as the two key functions tell it, are one group: the order of the spans stays, for it tells which of them began first. */
export function regroup(
  spans: readonly Span[],
  resourceKey: (resource: Resource) => string,
  scopeKey: (scope: Scope) => string,
): readonly ResourceGroup[] {
  const resourceKeys = remembered(resourceKey);
  const scopeKeys = remembered(scopeKey);
  const groups: {
    readonly key: string;
    readonly resource: Resource;
    readonly scopes: { readonly key: string; readonly scope: Scope; readonly spans: Span[] }[];
  }[] = [];
  for (const span of spans) {
    const [resourceIs, scopeIs] = [resourceKeys(span.resource), scopeKeys(span.scope)];
    let group = groups.at(-1);
    if (group?.key !== resourceIs) groups.push((group = { key: resourceIs, resource: span.resource, scopes: [] }));
    const last = group.scopes.at(-1);
    if (last?.key === scopeIs) last.spans.push(span);
    else group.scopes.push({ key: scopeIs, scope: span.scope, spans: [span] });
  }
  return groups;
}

/** The spans of one request share their resource and scope objects, so most keys are made once. */
function remembered<Value extends object>(key: (value: Value) => string): (value: Value) => string {
  const known = new Map<Value, string>();
  return (value) => {
    const text = known.get(value) ?? key(value);
    known.set(value, text);
    return text;
  };
}

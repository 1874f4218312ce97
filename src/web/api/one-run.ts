/** Shared by routes about one run: its place in the address, and its stored spans. */
import { collectors as builtIn } from '../../../collectors/index.ts';
import type { Collector } from '../../../collectors/collector.ts';
import type { RunKey } from '../../model/agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import type { Store, StoredRun } from '../../model/store/store.ts';
import type { ApiDeps, Parameters } from './route.ts';

export const spanId = { type: 'string', pattern: '^[0-9a-f]{16}$', description: 'Span id, lower-case hex.' } as const;

export function runKeyOf({ trace, span, tenant: of = '' }: Parameters): RunKey {
  return { tenant: of as Tenant, traceId: trace as TraceId, spanId: span as SpanId };
}

export function storedRun(store: Store, query: Parameters): Promise<StoredRun | undefined> {
  return store.run(runKeyOf(query));
}

/** Collectors in the order in which they read a span: those of the configuration first. */
export function collectorsOf({ dialects }: Pick<ApiDeps, 'dialects'>): readonly Collector[] {
  const own = dialects?.() ?? [];
  return own.length === 0 ? builtIn : [...own, ...builtIn];
}

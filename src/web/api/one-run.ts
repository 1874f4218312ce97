/** What routes about one run share: its place in the address, and its stored spans. */
import { collectors as builtIn } from '../../../collectors/index.ts';
import type { Collector } from '../../../collectors/collector.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import type { KeptSpans, Store, StoredRun } from '../../model/store/store.ts';
import type { ApiDeps, Parameters } from './route.ts';

export const spanId = { type: 'string', pattern: '^[0-9a-f]{16}$', description: 'Span id, lower-case hex.' } as const;

export function storedRun(store: Store, { trace, span, tenant: of = '' }: Parameters): Promise<StoredRun | undefined> {
  return store.run({ tenant: of as Tenant, traceId: trace as TraceId, spanId: span as SpanId });
}

export interface RunWithSpans {
  readonly run: StoredRun;
  /** `undefined` when the store has none. */
  readonly kept: KeptSpans | undefined;
}

export async function runWithSpans({ store, spans }: ApiDeps, query: Parameters): Promise<RunWithSpans | undefined> {
  const run = await storedRun(store, query);
  return run === undefined ? undefined : { run, kept: await spans(run) };
}

/** Collectors in the order in which they read a span: those of the configuration first. */
export function collectorsOf({ dialects }: Pick<ApiDeps, 'dialects'>): readonly Collector[] {
  const own = dialects?.() ?? [];
  return own.length === 0 ? builtIn : [...own, ...builtIn];
}

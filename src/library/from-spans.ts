/** Agent traces out of the spans that an instrumented agent recorded in this process, for example with an in-memory exporter. */
import { collectors } from '../../collectors/index.ts';
import type { AgentTrace } from '../model/agent-trace.ts';
import { noTenant } from '../model/ids.ts';
import type { Span } from '../model/span.ts';
import { assemble } from '../pipeline/assembly/assemble.ts';
import { spanOf, type SdkSpan } from './readable-span.ts';

/** All runs in order of start time, an agent before its sub-agents. Empty: no agent, model or tool span is among them. */
export function fromSpans(spans: readonly SdkSpan[]): readonly AgentTrace[] {
  const read = spans.map(spanOf).filter((span) => span !== undefined);
  return [...Map.groupBy(read, ({ traceId }) => traceId).values()]
    .flatMap((own) =>
      assemble({ collectors, tenant: noTenant, held: onceEach(own).map((span) => ({ span, arrivedMs: 0 })), records: new Map() }),
    )
    .toSorted((a, b) => (a.startUnixNano < b.startUnixNano ? -1 : a.startUnixNano > b.startUnixNano ? 1 : 0))
    .map(({ trace }) => trace);
}

function onceEach(spans: readonly Span[]): readonly Span[] {
  return [...new Map(spans.map((span) => [span.spanId, span])).values()];
}

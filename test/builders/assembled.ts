/** The runs that are made of some spans, all of them there at once. */
import { collectors } from '../../collectors/index.ts';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { noTenant, type SpanId } from '../../src/model/ids.ts';
import type { LogRecord, Span } from '../../src/model/span.ts';
import { assemble, type Draft } from '../../src/pipeline/assembly/assemble.ts';

export function assembled(spans: readonly Span[], records: readonly LogRecord[] = []): readonly Draft[] {
  const bySpan = new Map<SpanId, LogRecord[]>();
  for (const record of records) if (record.spanId !== undefined) bySpan.set(record.spanId, [...(bySpan.get(record.spanId) ?? []), record]);
  return assemble({ collectors, tenant: noTenant, held: spans.map((span) => ({ span, arrivedMs: 0 })), records: bySpan });
}

/** The agent trace of spans that hold one run. */
export function onlyTrace(spans: readonly Span[], records: readonly LogRecord[] = []): AgentTrace {
  const [draft, ...more] = assembled(spans, records);
  if (draft === undefined || more.length > 0) throw new Error(`${draft === undefined ? 0 : more.length + 1} runs instead of one`);
  return draft.trace;
}

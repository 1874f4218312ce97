/** The facts of a trace's spans that the gathering needs when they arrive. */
import type { Collector, SpanFacts } from '../../../collectors/collector.ts';
import { repeats, sharedValues } from '../../../collectors/parsing/repeats.ts';
import type { Span } from '../../model/span.ts';
import type { SpanId } from '../../model/ids.ts';
import { spanReadingOf, type Reading, type SpanReading, readersOf } from '../assembly/span-facts.ts';
import type { Trace } from './trace-table.ts';
import { isRoot } from '../assembly/span-tree.ts';

export interface RoleDetection {
  /**
   * A reading for one scan. Its findings are kept only when the trace is asked to keep them: most traces are scanned once, and objects that an old
   * object refers to outlive their use.
   */
  reading(trace: Trace): Reading;
  /** Undefined: the span cannot be read. */
  facts(trace: Trace, span: Span): SpanFacts | undefined;
  /** True also for what cannot be read: it is dropped when the trace is looked at. */
  isAgents(trace: Trace, span: Span): boolean;
  /** True for a span that a run can hang on: an agent's, or one without a parent in its process. */
  canCarryRun(trace: Trace, span: Span): boolean;
}

export function roleDetection(collectors: () => readonly Collector[]): RoleDetection {
  const shared = sharedValues();

  function reading(trace: Trace): Reading {
    const { readingCache = new Map<SpanId, SpanReading>(), repeats: told = repeats(shared) } = trace.reading ?? {};
    return { collectors: collectors(), records: trace.records.bySpan, readingCache, repeats: told };
  }

  function facts(trace: Trace, span: Span): SpanFacts | undefined {
    try {
      trace.reading ??= reading(trace);
      return spanReadingOf(reading(trace), span).facts;
    } catch {
      return undefined;
    }
  }

  function isAgents(trace: Trace, span: Span): boolean {
    const known = isAgentsBySign(collectors(), trace, span);
    if (known !== undefined) return known;
    const told = facts(trace, span);
    return told === undefined || told.role === 'agent' || told.role === 'workflow';
  }

  return { reading, facts, isAgents, canCarryRun: (trace, span) => isRoot(span) || isAgents(trace, span) };
}

/** The answer of the first collector that gives a role, where it need not read the span for that. */
function isAgentsBySign(collectors: readonly Collector[], trace: Trace, span: Span): boolean | undefined {
  if (trace.reading?.readingCache?.has(span.spanId) === true || trace.records.has(span.spanId)) return undefined;
  for (const collector of readersOf(collectors, span).collectors) {
    if (collector.isAgents === undefined) return undefined;
    const known = collector.isAgents(span);
    if (known !== undefined) return known;
  }
  return false;
}

/** Which task a run worked on, by the place that the configuration names: runs with the same text there are runs of the same task. */
import { hash } from 'node:crypto';
import type { Run } from '../../model/agent-trace.ts';
import type { SpanId, Tenant } from '../../model/ids.ts';
import { jsonText, member, type JsonValue } from '../../model/json.ts';
import type { AttributeValue, Span } from '../../model/span.ts';
import { trimOldest } from '../../runtime/lru.ts';

/** `attributes.KEY`: an attribute; everything behind the first dot is its key. `input`: what the agent was asked. */
export type TaskPath = { readonly kind: 'attribute'; readonly key: string } | { readonly kind: 'input' };

export const defaultTaskKey: TaskPath = { kind: 'attribute', key: 'task' };

export const TASK_PATH = '^(?:input|attributes\\..{1,900})$';

/** Undefined: it is no path. */
export function taskPath(text: string): TaskPath | undefined {
  if (!new RegExp(TASK_PATH, 's').test(text)) return undefined;
  return text === 'input' ? { kind: 'input' } : { kind: 'attribute', key: text.slice(text.indexOf('.') + 1) };
}

export interface TaskKeys {
  /** Looks at spans as they come: a run no longer has them. */
  spans(tenant: Tenant, spans: readonly Span[]): void;
  /** The agent's own span counts before the other spans of its trace, and these before the resource. Undefined: none says it. */
  of(run: Run): string | undefined;
}

export interface TaskKeyOptions {
  /** Traces whose spans name a task; the oldest are forgotten. */
  readonly tracesMax?: number;
  /** What may leave of a text: the name of a task becomes a label. */
  readonly redacted?: (text: string) => string;
}

const tracesMaxDefault = 50_000;
/** Spans of one trace that name another task than the first of them. */
const otherSpansMax = 1_000;
const taskCharsMax = 100;

interface Told {
  /** What the first span said that came. */
  readonly first: string;
  /** Spans that said something else. */
  readonly others: Map<SpanId, string>;
}

export function taskKeys(path: TaskPath, { tracesMax = tracesMaxDefault, redacted = (text) => text }: TaskKeyOptions = {}): TaskKeys {
  const traces = new Map<string, Told>();

  function tell(tenant: Tenant, { traceId, spanId }: Span, task: string): void {
    const place = `${traceId} ${tenant}`;
    const told = traces.get(place);
    if (told !== undefined) {
      if (told.first !== task && told.others.size < otherSpansMax) told.others.set(spanId, task);
      return;
    }
    traces.set(place, { first: task, others: new Map() });
    trimOldest(traces, tracesMax);
  }

  return {
    spans(tenant, spans) {
      if (path.kind === 'input') return;
      for (const span of spans) {
        const task = taskText(span.attribute(path.key), redacted);
        if (task !== undefined) tell(tenant, span, task);
      }
    },
    of(run) {
      if (path.kind === 'input')
        return run.trace.input === undefined || run.trace.input.trim() === ''
          ? undefined
          : `input ${hashOf(redacted(run.trace.input.trim()))}`;
      const told = traces.get(`${run.traceId} ${run.tenant}`);
      return told?.others.get(run.spanId) ?? told?.first ?? taskText(member(run.resourceAttributes, path.key), redacted);
    },
  };
}

/** Short enough for a label, and still another one for another task. */
function taskText(value: AttributeValue | JsonValue | undefined, redacted: (text: string) => string): string | undefined {
  if (value === undefined || value === null || value instanceof Uint8Array) return undefined;
  // Before it is cut: what is cut short is no longer recognised.
  const text = redacted(typeof value === 'string' ? value : jsonText(value as JsonValue, { sortKeys: true })).trim();
  if (text === '') return undefined;
  return text.length <= taskCharsMax ? text : `${text.slice(0, taskCharsMax - 15).toWellFormed()}… ${hashOf(text)}`;
}

/** Tells texts apart without repeating them: what an agent was asked has no place in a label. */
function hashOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 12);
}

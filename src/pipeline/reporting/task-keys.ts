/** The task of a run, from the configured place. Runs with the same text have the same task. */
import { hash } from 'node:crypto';
import type { Run } from '../../model/agent-trace.ts';
import type { SpanId, Tenant } from '../../model/ids.ts';
import { jsonText, member, type JsonValue } from '../../model/json.ts';
import type { AttributeValue, Span } from '../../model/span.ts';
import { sharedLru } from '../../runtime/lru.ts';

/** `attributes.KEY`: an attribute; the key is everything after the first dot. `input`: the input of the run. */
export type TaskPath = { readonly kind: 'attribute'; readonly key: string } | { readonly kind: 'input' };

export const defaultTaskKey: TaskPath = { kind: 'attribute', key: 'task' };

export const TASK_PATH = '^(?:input|attributes\\..{1,900})$';

/** `undefined` when the text is not a path. */
export function taskPath(text: string): TaskPath | undefined {
  if (!new RegExp(TASK_PATH, 's').test(text)) return undefined;
  return text === 'input' ? { kind: 'input' } : { kind: 'attribute', key: text.slice(text.indexOf('.') + 1) };
}

export interface TaskKeys {
  /** Reads spans on arrival, as a run no longer has them. */
  spans(tenant: Tenant, spans: readonly Span[]): void;
  /** The task of a run: from the agent's span, else another span of its trace, else the resource. `undefined` without one. */
  of(run: Run): string | undefined;
}

export interface TaskKeyOptions {
  /** Limit of traces with a task; the oldest of the tenant with the most go first. */
  readonly tracesMax?: number;
  /** Redacts a text, as the task becomes a label. */
  readonly redacted?: (text: string) => string;
}

export const tracesMaxDefault = 50_000;
/** Limit of spans per trace with a different task from the first one. */
const otherSpansMax = 1_000;
const taskCharsMax = 100;

interface TraceTasks {
  /** Task of the first span. */
  readonly first: string;
  /** Spans with other tasks. */
  readonly others: Map<SpanId, string>;
}

export function taskKeys(path: TaskPath, { tracesMax = tracesMaxDefault, redacted = (text) => text }: TaskKeyOptions = {}): TaskKeys {
  const traces = sharedLru<TraceTasks>(tracesMax);

  function add(tenant: Tenant, { traceId, spanId }: Span, task: string): void {
    const known = traces.get(tenant, traceId);
    if (known !== undefined) {
      if (known.first !== task && known.others.size < otherSpansMax) known.others.set(spanId, task);
      return;
    }
    traces.set(tenant, traceId, { first: task, others: new Map() });
  }

  return {
    spans(tenant, spans) {
      if (path.kind === 'input') return;
      for (const span of spans) {
        const task = taskText(span.attribute(path.key), redacted);
        if (task !== undefined) add(tenant, span, task);
      }
    },
    of(run) {
      if (path.kind === 'input')
        return run.trace.input === undefined || run.trace.input.trim() === ''
          ? undefined
          : `input ${hashOf(redacted(run.trace.input.trim()))}`;
      const tasks = traces.get(run.tenant, run.traceId);
      return tasks?.others.get(run.spanId) ?? tasks?.first ?? taskText(member(run.resourceAttributes, path.key), redacted);
    },
  };
}

/** A label of limited length that still differs for different tasks. */
function taskText(value: AttributeValue | JsonValue | undefined, redacted: (text: string) => string): string | undefined {
  if (value === undefined || value === null || value instanceof Uint8Array) return undefined;
  // Redacts before the cut, as a rule may not match a shortened text.
  const text = redacted(typeof value === 'string' ? value : jsonText(value as JsonValue, { sortKeys: true })).trim();
  if (text === '') return undefined;
  return text.length <= taskCharsMax ? text : `${text.slice(0, taskCharsMax - 15).toWellFormed()}… ${hashOf(text)}`;
}

/** Identifies a text without repeating it, as inputs must not become labels. */
function hashOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 12);
}

/**
 * Frameworks that send a span for every event: `tool.dynamic.findOrder.start-1`, and beside it `….success-1`. Such spans are joined into one
 * call or request, as other frameworks send it.
 */
import { isJsonObject, member } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import type { SpanFacts, ToolFacts } from '../collector.ts';

export interface SpanEventName {
  /** The subject of the event, with the path to it. */
  readonly of: string;
  /** The last word of that path: the tool's name as the framework writes it. */
  readonly subject: string;
  readonly phase: NonNullable<SpanFacts['event']>['phase'];
}

const EVENT = /^(.{1,200})\.(start|finish|success|error|update|partialUpdate|retry)-\d{1,6}$/;

const phases: { readonly [word: string]: SpanEventName['phase'] } = { start: 'begin', success: 'end', error: 'end' };

export function eventNameOf(span: Span): SpanEventName | undefined {
  const [, of, word] = EVENT.exec(span.name) ?? [];
  if (of === undefined || word === undefined) return undefined;
  return { of, subject: of.slice(of.lastIndexOf('.') + 1), phase: phases[word] ?? 'between' };
}

/** The tool call that an event describes. The event names the tool in the framework's spelling and frames the result. */
export function toolOfEvent(span: Span, { subject, phase }: SpanEventName, tool: ToolFacts): ToolFacts {
  const { result, failed, ...rest } = tool;
  const inner = isJsonObject(result) && Object.keys(result).length === 1 ? (member(result, 'result') ?? result) : result;
  const error = span.status.code === 'error' && phase === 'end' ? { message: span.status.message } : undefined;
  return {
    ...rest,
    name: subject,
    nameIsGuess: true,
    ...(inner === undefined ? {} : { result: inner }),
    ...((failed ?? error) === undefined ? {} : { failed: failed ?? error }),
  } as ToolFacts;
}

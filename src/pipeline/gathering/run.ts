/** A draft that closes becomes a run: its place in the stream, its resource and the hash of its content. */
import type { AgentTrace, Completeness, Run, RunKey } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { TraceId } from '../../model/ids.ts';
import { parseJson, type JsonObject, type JsonValue } from '../../model/json.ts';
import { textAttribute, type Attributed, type AttributeValue, type Resource } from '../../model/span.ts';
import type { Draft } from '../assembly/assemble.ts';
import { fingerprint, type Printable } from '../assembly/fingerprint.ts';

/** Hash of everything that a verdict can depend on: a revision with the same hash says nothing new. `expected` is what `expectedOf` finds. */
export function contentHash({ trace, parent }: Draft, expected: JsonValue | undefined): string {
  const content: object = { trace, parent, expected };
  return fingerprint(content as Printable);
}

export function runOf(
  draft: Draft,
  closed: { readonly completeness: Completeness; readonly revision: number; readonly contentHash: string },
  expected: JsonValue | undefined,
): Run {
  const resource = draft.span.resource;
  const service = textAttribute(resource, wire.serviceName);
  const serviceVersion = textAttribute(resource, wire.serviceVersion);
  return {
    ...draft.key,
    ...(draft.spanTraceId === draft.key.traceId ? {} : { spanTraceId: draft.spanTraceId }),
    trace: draft.trace,
    dialects: draft.dialects,
    ...(service === undefined ? {} : { service }),
    ...(serviceVersion === undefined ? {} : { serviceVersion }),
    resourceAttributes: resourceAttributes(resource),
    traceState: draft.span.traceState,
    ...(draft.parent === undefined ? {} : { parent: draft.parent }),
    startUnixNano: draft.startUnixNano,
    endUnixNano: draft.endUnixNano,
    ...closed,
    ...(expected === undefined ? {} : { expected }),
  };
}

/** The last revision of a run that turned out to be part of another one: what it said is in that one now. */
export function partOf(
  whole: Draft,
  part: Pick<RunKey, 'traceId' | 'spanId'> & { readonly spanTraceId: TraceId; readonly revision: number; readonly contentHash: string },
): Run {
  const { agent, sessionId, status } = whole.trace;
  const trace: AgentTrace = {
    ...(agent === undefined ? {} : { agent }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...nothing,
    status,
  };
  const { spanTraceId, revision, contentHash: hash, ...place } = part;
  const run = runOf(
    { ...whole, key: { ...whole.key, ...place }, spanTraceId, parent: undefined, trace },
    { completeness: 'complete', revision, contentHash: hash },
    undefined,
  );
  return { ...run, partOf: whole.key };
}

const nothing = {
  toolCalls: [],
  toolDefinitions: [],
  modelCalls: [],
  documents: [],
  reasoningSteps: [],
  subAgents: [],
  toolCallsCarried: false,
} as const;

/** What the agent's span, its frames or its resource say is expected of the run. */
export function expectedOf({ spans, span: { resource } }: Draft): JsonValue | undefined {
  const told = toldIn(spans) ?? resource.attribute(wire.expected) ?? undefined;
  if (told === undefined) return undefined;
  return typeof told === 'string' ? (parseJson(told) ?? told) : (told as JsonValue);
}

function toldIn(spans: readonly Attributed[]): AttributeValue | undefined {
  for (const span of spans) {
    const value = span.attribute(wire.expected) ?? undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

function resourceAttributes(resource: Resource): JsonObject {
  const found = Object.create(null) as { [key: string]: JsonValue };
  for (const key of resource.attributeKeys()) {
    const value = resource.attribute(key);
    if (value !== undefined) found[key] = value instanceof Uint8Array ? Buffer.from(value).toString('base64') : (value as JsonValue);
  }
  return found;
}

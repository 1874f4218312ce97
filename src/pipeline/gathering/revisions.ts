/** Closes a run under its key as the next revision, if its content is new. */
import { noParts, type Completeness, type Run, type AgentTrace, type RunKey } from '../../model/agent-trace.ts';
import type { SpanId, TraceId } from '../../model/ids.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Draft } from '../assembly/assemble.ts';
import type { Lasting } from './run-identity.ts';
import { spansPerStep } from '../assembly/span-tree.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import type { Trace } from './trace-table.ts';
import { wire } from '../../model/attributes.ts';
import { parseJson, type JsonObject, type JsonValue } from '../../model/json.ts';
import { textAttribute, type Attributed, type AttributeValue, type Resource } from '../../model/span.ts';
import { fingerprinting } from '../assembly/fingerprint.ts';

/** The cost of closing a run beside its spans, in spans: it is scored and handed on. */
const spansPerRun = 20;
/** Hashing the content of a larger run takes milliseconds, and so does each rule that scores it: each is a separate piece. */
const bytesPerStep = 256 * 1024;

interface ClosingTo {
  /** Takes what closes. */
  readonly ready: Run[];
  readonly telemetry: Telemetry;
  readonly beforeClose?: ((run: Run) => Steps<void>) | undefined;
  readonly contentHash: ContentHash;
  /** The attribute that holds the version of an agent. */
  readonly versionKey: () => string;
}

/** Closes the drafts that `closes` names, a few at a time. */
export function* closing(
  { ready, telemetry, beforeClose, contentHash, versionKey }: ClosingTo,
  trace: Trace,
  { drafts, takenBack }: Lasting,
  closes: (draft: Draft) => Completeness | undefined,
): Steps<void> {
  let weight = 0;
  for (const draft of drafts) {
    if (weight >= spansPerStep) {
      yield;
      weight = 0;
    }
    weight += spansPerRun + draft.spans.length;
    const completeness = closes(draft);
    if (completeness === undefined) continue;
    const expected = expectedOf(draft);
    const hash = contentHash(draft, expected);
    const isLarge = bytesOf(draft) > bytesPerStep;
    if (isLarge) yield;
    const revision = nextRevision(trace, draft.key.spanId, hash);
    // It has already closed with this content.
    if (revision === undefined) continue;
    for (const limit of draft.limits ?? []) telemetry.add('tracejury.runs.beyond_limit', 1, { 'tracejury.limit': limit });
    const run = runOf(draft, { completeness, revision, contentHash: hash }, { expected, versionKey: versionKey() });
    if (isLarge && beforeClose !== undefined) yield* beforeClose(run);
    // After the last yield: a look that is given up has closed nothing.
    remember(trace, draft, run);
    ready.push(run);
  }
  ready.push(...takenBackRuns(trace, takenBack, { telemetry, versionKey: versionKey() }));
}

function bytesOf({ spans }: Draft): number {
  let bytes = 0;
  for (const { wireBytes } of spans) bytes += wireBytes;
  return bytes;
}

/** Runs that turned out to be part of another one, once that has closed. */
function takenBackRuns(trace: Trace, takenBack: Lasting['takenBack'], to: TakingBack): readonly Run[] {
  return [...takenBack].flatMap(([spanId, whole]) => takenBackRun(trace, spanId, whole, to) ?? []);
}

interface TakingBack {
  readonly telemetry: Telemetry;
  readonly versionKey: string;
}

function takenBackRun(trace: Trace, spanId: SpanId, whole: Draft, { telemetry, versionKey }: TakingBack): Run | undefined {
  const closed = trace.closed?.get(spanId);
  if (closed === undefined || trace.closed?.has(whole.key.spanId) !== true) return undefined;
  const hash = `part of ${whole.key.traceId}/${whole.key.spanId}`;
  const key = { ...whole.key, traceId: closed.traceId, spanId };
  const revision = nextRevision(trace, spanId, hash);
  if (revision === undefined) return undefined;
  remember(trace, { key, spanTraceId: closed.spanTraceId }, { revision, contentHash: hash });
  telemetry.add('tracejury.runs.joined', 1);
  const part = { traceId: closed.traceId, spanId, spanTraceId: closed.spanTraceId, revision, contentHash: hash };
  return partOf(whole, part, versionKey);
}

/** Undefined: the run has already closed with this content. */
function nextRevision(trace: Trace, spanId: SpanId, hash: string): number | undefined {
  const before = trace.closed?.get(spanId);
  return before?.contentHash === hash ? undefined : (before?.revision ?? 0) + 1;
}

function remember(
  trace: Trace,
  { key: { traceId, spanId }, spanTraceId }: Pick<Draft, 'key' | 'spanTraceId'>,
  { revision, contentHash: hash }: Pick<Run, 'revision' | 'contentHash'>,
): void {
  (trace.closed ??= new Map()).set(spanId, { traceId, spanTraceId, revision, contentHash: hash });
}

/** Hash of everything that a verdict can depend on: a revision with the same hash has nothing new. `expected` is the result of `expectedOf`. */
export type ContentHash = (draft: Pick<Draft, 'trace' | 'parent'>, expected: JsonValue | undefined) => string;

/** Runs of one agent share the list of their offered tools, which is longer than all else that most of them have: it is hashed once. */
export function contentHashing(): ContentHash {
  const hashOf = fingerprinting() as (content: object) => string;
  const hashes = new WeakMap<AgentTrace['toolDefinitions'], string>();
  return ({ trace: { toolDefinitions, ...told }, parent }, expected) => {
    const definitions = hashes.get(toolDefinitions) ?? hashOf(toolDefinitions);
    hashes.set(toolDefinitions, definitions);
    return hashOf({ told, definitions, parent, expected });
  };
}

/** A draft that closes becomes a run: its place in the stream, its resource and the hash of its content. */
function runOf(
  draft: Draft,
  closed: { readonly completeness: Completeness; readonly revision: number; readonly contentHash: string },
  { expected, versionKey }: { readonly expected: JsonValue | undefined; readonly versionKey: string },
): Run {
  const resource = draft.span.resource;
  const service = textAttribute(resource, wire.serviceName);
  const serviceVersion = versionOf(draft, versionKey);
  return {
    ...draft.key,
    ...(draft.spanTraceId === draft.key.traceId ? {} : { spanTraceId: draft.spanTraceId }),
    trace: draft.trace,
    dialects: draft.dialects,
    ...(draft.configuredDialect === undefined ? {} : { configuredDialect: draft.configuredDialect }),
    ...(draft.evidence === undefined ? {} : { evidence: draft.evidence }),
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

/** From the agent's span or its frames, else from the resource. */
function versionOf({ spans, span: { resource } }: Draft, key: string): string | undefined {
  for (const from of [...(key === wire.serviceVersion ? [] : spans), resource]) {
    const value = from.attribute(key);
    const text = typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'bigint' ? String(value) : '';
    if (text !== '') return text;
  }
  return undefined;
}

/** The last revision of a run that turned out to be part of another one: what it said is in that one now. */
function partOf(
  whole: Draft,
  part: Pick<RunKey, 'traceId' | 'spanId'> & { readonly spanTraceId: TraceId; readonly revision: number; readonly contentHash: string },
  versionKey: string,
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
    { expected: undefined, versionKey },
  );
  return { ...run, partOf: whole.key };
}

const nothing = {
  ...noParts,
  toolCallsCarried: false,
} as const;

/** The expectation of the run that the agent's span, its frames or its resource carry. */
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

/** Spans out of protobuf bodies. Structure is checked here, once, all the way down; attribute values are decoded later. */
import { parseSpanId, parseTraceId, type SpanId, type TraceId } from '../../model/ids.ts';
import type { Resource, Scope, Span, SpanEvent, SpanKind, SpanLink, SpanStatus, WrittenBytes } from '../../model/span.ts';
import { scanAttribute, ProtobufAttributes } from './any-value-protobuf.ts';
import { emptied, type AttributeRanges } from './attribute-table.ts';
import { readEnvelope } from './envelope-protobuf.ts';
import { optionalSpanId, requiredIds } from './span-ids.ts';
import {
  enter,
  leave,
  readFixed32,
  readFixed64,
  readHex,
  readHexAgain,
  readTag,
  readText,
  readUint32,
  skip,
  type Cursor,
} from './protobuf.ts';
import { note, takeItem, type Scan, type Scanned } from './decode-state.ts';
import type { Steps } from '../../runtime/cooperative.ts';

export function readTracesProtobuf(scan: Scan): Steps<readonly Span[]> {
  const itemsMax = scan.limits.spansPerRequest;
  return readEnvelope(scan, {
    itemsMax,
    tooMany: { reason: 'too_many_spans', detail: `more than ${itemsMax} spans in one request` },
    read: readSpan,
  });
}

/**
 * Span = trace id = 1, span id = 2, trace state = 3, parent span id = 4, flags (fixed32) = 16, name = 5, kind = 6, start (fixed64) = 7,
 * end (fixed64) = 8, attribute = 9, event = 11, link = 13, status = 15, dropped counts = 10, 12, 14. The end may lie before the start: kept.
 */
function readSpan(cursor: Cursor, scan: Scan, resource: Resource, scope: Scope): Span | undefined {
  const start = cursor.at;
  const draft = emptyDraft(scan);
  while (cursor.at < cursor.end) readSpanField(cursor, readTag(cursor), draft, scan);
  if (draft.eventsSeen > scan.limits.eventsPerSpan) note(scan, 'too_many_events', `${draft.eventsSeen} events`);
  if (draft.linksSeen > scan.limits.linksPerSpan) note(scan, 'too_many_links', `${draft.linksSeen} links`);
  const ids = requiredIds(scan, draft.traceIdHex, draft.spanIdHex);
  const parentSpanId = optionalSpanId(scan, draft.parentHex, 'invalid_parent_span_id');
  if (ids === undefined || scan.fault !== undefined) return undefined;
  const { traceId, spanId } = ids;
  const { traceState, flags, name, kind, startUnixNano, endUnixNano, status, events, links } = draft;
  const fields = {
    resource,
    scope,
    traceId,
    spanId,
    parentSpanId,
    traceState,
    flags,
    name,
    kind,
    startUnixNano,
    endUnixNano,
    status,
    events,
    links,
    wireBytes: cursor.end - start,
    at: start,
  };
  return new ProtobufSpan(fields, draft.droppedAttributes, scan.scanned, draft.ranges);
}

interface SpanDraft {
  readonly ranges: AttributeRanges;
  events: SpanEvent[];
  links: SpanLink[];
  eventsSeen: number;
  linksSeen: number;
  traceIdHex: string;
  spanIdHex: string;
  parentHex: string;
  traceState: string;
  flags: number;
  droppedAttributes: number;
  name: string;
  kind: SpanKind;
  startUnixNano: bigint;
  endUnixNano: bigint;
  status: SpanStatus;
}

/** Most spans have none. */
const noEvents: SpanEvent[] = [];
const noLinks: SpanLink[] = [];

const unset: SpanStatus = { code: 'unset', message: '' };
const okStatus: SpanStatus = { code: 'ok', message: '' };

function emptyDraft(scan: Scan): SpanDraft {
  return {
    ranges: emptied(scan.ranges),
    events: noEvents,
    links: noLinks,
    eventsSeen: 0,
    linksSeen: 0,
    traceIdHex: '',
    spanIdHex: '',
    parentHex: '',
    traceState: '',
    flags: 0,
    droppedAttributes: 0,
    name: '',
    kind: 0,
    startUnixNano: 0n,
    endUnixNano: 0n,
    status: unset,
  };
}

function readSpanField(cursor: Cursor, tag: number, draft: SpanDraft, scan: Scan): void {
  switch (tag >>> 3) {
    case 1:
      // Spans of a trace mostly come together.
      draft.traceIdHex = readHexAgain(cursor, tag, scan.traceId);
      return;
    case 2:
      draft.spanIdHex = readHex(cursor, tag);
      return;
    case 3:
      draft.traceState = readText(cursor, tag);
      return;
    case 4:
      draft.parentHex = readHex(cursor, tag);
      return;
    case 5:
      draft.name = readText(cursor, tag);
      return;
    case 6:
      draft.kind = spanKind(readUint32(cursor, tag));
      return;
    case 7:
      draft.startUnixNano = readFixed64(cursor, tag);
      return;
    case 8:
      draft.endUnixNano = readFixed64(cursor, tag);
      return;
    case 9:
      scanAttribute(cursor, tag, draft.ranges, scan);
      return;
    case 10:
      draft.droppedAttributes = readUint32(cursor, tag);
      return;
    case 11:
      if (++draft.eventsSeen > scan.limits.eventsPerSpan) skip(cursor, tag);
      else readEvent(cursor, tag, draft.events === noEvents ? (draft.events = []) : draft.events, scan);
      return;
    case 13:
      if (++draft.linksSeen > scan.limits.linksPerSpan) skip(cursor, tag);
      else readLink(cursor, tag, draft.links === noLinks ? (draft.links = []) : draft.links, scan);
      return;
    case 15:
      draft.status = readStatus(cursor, tag);
      return;
    case 16:
      draft.flags = readFixed32(cursor, tag);
      return;
    default:
      skip(cursor, tag);
  }
}

function spanKind(kind: number): SpanKind {
  return kind === 1 || kind === 2 || kind === 3 || kind === 4 || kind === 5 ? kind : 0;
}

/** Status = message = 2, code = 3. Field 1, the deprecated code, is skipped. */
function readStatus(cursor: Cursor, tag: number): SpanStatus {
  let code = 0;
  let message = '';
  const outerEnd = enter(cursor, tag);
  while (cursor.at < cursor.end) {
    const inner = readTag(cursor);
    if (inner >>> 3 === 2) message = readText(cursor, inner);
    else if (inner >>> 3 === 3) code = readUint32(cursor, inner);
    else skip(cursor, inner);
  }
  leave(cursor, outerEnd);
  if (message === '' && code !== 2) return code === 1 ? okStatus : unset;
  return { code: code === 2 ? 'error' : code === 1 ? 'ok' : 'unset', message };
}

/** Event = time (fixed64) = 1, name = 2, attribute = 3, dropped count = 4. */
function readEvent(cursor: Cursor, tag: number, events: SpanEvent[], scan: Scan): void {
  const ranges = emptied(scan.innerRanges);
  let timeUnixNano = 0n;
  let name = '';
  const outerEnd = enter(cursor, tag);
  const wanted = takeItem(scan);
  while (wanted && cursor.at < cursor.end) {
    const inner = readTag(cursor);
    const field = inner >>> 3;
    if (field === 1) timeUnixNano = readFixed64(cursor, inner);
    else if (field === 2) name = readText(cursor, inner);
    else if (field === 3) scanAttribute(cursor, inner, ranges, scan);
    else skip(cursor, inner);
  }
  leave(cursor, outerEnd);
  events.push(new ProtobufEvent(name, timeUnixNano, scan.scanned, ranges));
}

/** Link = trace id = 1, span id = 2, trace state = 3, attribute = 4, dropped count = 5, flags = 6. A link to no valid span is left out. */
function readLink(cursor: Cursor, tag: number, links: SpanLink[], scan: Scan): void {
  const ranges = emptied(scan.innerRanges);
  let traceIdHex = '';
  let spanIdHex = '';
  const outerEnd = enter(cursor, tag);
  const wanted = takeItem(scan);
  while (wanted && cursor.at < cursor.end) {
    const inner = readTag(cursor);
    const field = inner >>> 3;
    if (field === 1) traceIdHex = readHex(cursor, inner);
    else if (field === 2) spanIdHex = readHex(cursor, inner);
    else if (field === 4) scanAttribute(cursor, inner, ranges, scan);
    else skip(cursor, inner);
  }
  leave(cursor, outerEnd);
  const traceId = parseTraceId(traceIdHex);
  const spanId = parseSpanId(spanIdHex);
  if (traceId !== undefined && spanId !== undefined) links.push(new ProtobufLink(traceId, spanId, scan.scanned, ranges));
}

/** Everything of a span but its attributes. */
interface SpanFields extends Omit<Span, 'attribute' | 'attributeKeys' | 'written' | 'droppedAttributes' | 'asWritten'> {
  /** Start of the span in the body. */
  readonly at: number;
}

class ProtobufSpan extends ProtobufAttributes implements Span {
  readonly resource: Resource;
  readonly scope: Scope;
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  readonly parentSpanId: SpanId | undefined;
  readonly traceState: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly status: SpanStatus;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
  declare readonly droppedAttributes?: number;
  readonly wireBytes: number;
  readonly #at: number;

  constructor(fields: SpanFields, droppedAttributes: number, scanned: Scanned, ranges: AttributeRanges) {
    super(scanned, ranges);
    this.resource = fields.resource;
    this.scope = fields.scope;
    this.traceId = fields.traceId;
    this.spanId = fields.spanId;
    this.parentSpanId = fields.parentSpanId;
    this.traceState = fields.traceState;
    this.flags = fields.flags;
    this.name = fields.name;
    this.kind = fields.kind;
    this.startUnixNano = fields.startUnixNano;
    this.endUnixNano = fields.endUnixNano;
    this.status = fields.status;
    this.events = fields.events;
    this.links = fields.links;
    if (droppedAttributes > 0) this.droppedAttributes = droppedAttributes;
    this.wireBytes = fields.wireBytes;
    this.#at = fields.at;
  }

  asWritten(): WrittenBytes {
    return this.writtenBetween(this.#at, this.#at + this.wireBytes);
  }
}

class ProtobufEvent extends ProtobufAttributes implements SpanEvent {
  readonly name: string;
  readonly timeUnixNano: bigint;

  constructor(name: string, timeUnixNano: bigint, scanned: Scanned, ranges: AttributeRanges) {
    super(scanned, ranges);
    this.name = name;
    this.timeUnixNano = timeUnixNano;
  }
}

class ProtobufLink extends ProtobufAttributes implements SpanLink {
  readonly traceId: TraceId;
  readonly spanId: SpanId;

  constructor(traceId: TraceId, spanId: SpanId, scanned: Scanned, ranges: AttributeRanges) {
    super(scanned, ranges);
    this.traceId = traceId;
    this.spanId = spanId;
  }
}

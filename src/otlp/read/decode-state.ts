/** The state of a walk over one request: the rest of its limits, the first fault of the current span, and the rejections. */
import type { KeyShapes } from './key-shapes.ts';
import { attributeRanges, type AttributeRanges, type AttributeTable } from './attribute-table.ts';
import type { OtlpLimits } from './limits.ts';
import { malformed, type KnownHex } from './protobuf.ts';

/** State that all items of one request share. */
export interface Scanned {
  readonly table: AttributeTable;
  readonly shapes: KeyShapes;
}

/** Why a span or a log record was rejected by itself. Machine readable: it is a metric label and part of the answer. */
export type RejectionReason =
  | 'invalid_trace_id'
  | 'invalid_span_id'
  | 'invalid_parent_span_id'
  | 'invalid_time'
  | 'invalid_field'
  | 'malformed'
  | 'too_large'
  | 'attribute_key_too_long'
  | 'nesting_too_deep'
  | 'too_many_attributes'
  | 'too_many_events'
  | 'too_many_links'
  | 'too_many_items'
  | 'too_many_spans'
  | 'too_many_records';

export interface Rejection {
  readonly reason: string;
  readonly count: number;
  /** The place of the first one in the request, and its fault. */
  readonly example: string;
}

export interface Fault {
  readonly reason: RejectionReason;
  readonly detail: string;
}

export interface Scan {
  readonly limits: OtlpLimits;
  readonly scanned: Scanned;
  /** Ranges of the current item, and of an event or a link in it: reused for the next one. */
  readonly ranges: AttributeRanges;
  readonly innerRanges: AttributeRanges;
  /** Trace id of the span that was read last. */
  readonly traceId: KnownHex;
  itemsLeft: number;
  blocksLeft: number;
  /** Spans or records seen, rejected ones included. */
  seen: number;
  /** Where the item at hand stands: resource block, scope block in it, item in that, each from 0. */
  readonly place: { resource: number; scope: number; item: number };
  /** The first fault of the item at hand. */
  fault: Fault | undefined;
  /** Text and number bytes of the item at hand; only the JSON reader counts them. */
  bytes: number;
  readonly rejected: Map<RejectionReason, { count: number; readonly example: string }>;
}

export function scanWithin(limits: OtlpLimits, scanned: Scanned): Scan {
  return {
    limits,
    scanned,
    ranges: attributeRanges(),
    innerRanges: attributeRanges(),
    traceId: { at: -1, hex: '' },
    itemsLeft: limits.itemsPerRequest,
    blocksLeft: limits.blocksPerRequest,
    seen: 0,
    place: { resource: -1, scope: -1, item: -1 },
    fault: undefined,
    bytes: 0,
    rejected: new Map(),
  };
}

export function note(scan: Scan, reason: RejectionReason, detail: string): void {
  scan.fault ??= { reason, detail };
}

/** Counts one attribute, event, link or nested value. False when the request has too many. */
export function takeItem(scan: Scan): boolean {
  if (scan.itemsLeft > 0) {
    scan.itemsLeft--;
    return true;
  }
  note(scan, 'too_many_items', `more than ${scan.limits.itemsPerRequest} attributes, events, links and values in one request`);
  return false;
}

/** Counts one resource or scope block. */
export function takeBlock(scan: Scan): void {
  if (scan.blocksLeft-- <= 0) throw malformed(`There are more than ${scan.limits.blocksPerRequest} resource and scope blocks.`);
}

/** Takes the fault away, so that the next item starts clean. */
export function takeFault(scan: Scan): Fault | undefined {
  const fault = scan.fault;
  scan.fault = undefined;
  return fault;
}

/** Rejects the item at hand. */
export function reject(scan: Scan, fault: Fault): void {
  const row = scan.rejected.get(fault.reason);
  if (row !== undefined) row.count++;
  else {
    const { resource, scope, item } = scan.place;
    scan.rejected.set(fault.reason, { count: 1, example: `item ${item} of scope ${scope} of resource ${resource}: ${fault.detail}` });
  }
}

export function rejections(scan: Scan): readonly Rejection[] {
  return [...scan.rejected].map(([reason, { count, example }]) => ({ reason, count, example }));
}

/** The work since the last pause. */
interface Pace {
  bytes: number;
  items: number;
}

export function newPace(): Pace {
  return { bytes: 0, items: 0 };
}

/** Counts an item of this many bytes. True when a pause is due. */
export function isPauseDue(pace: Pace, bytes: number): boolean {
  pace.bytes += bytes;
  pace.items++;
  if (pace.bytes < stepBytes && pace.items < stepItems) return false;
  pace.bytes = 0;
  pace.items = 0;
  return true;
}

/**
 * The size of a step: some milliseconds of protobuf with only the smallest values, or of JSON. The default batches of exporters fit when well filled:
 * each pause is a turn that the sender waits.
 */
export const stepBytes = 384 * 1024;
const stepItems = 500;

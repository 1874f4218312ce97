/** Log records out of protobuf bodies. As with spans, structure is checked in the walk and values are decoded later. */
import type { SpanId, TraceId } from '../../model/ids.ts';
import type { AttributeValue, LogRecord, Resource, Scope } from '../../model/span.ts';
import { anyValueAt, ProtobufAttributes, scanAnyValue, scanAttribute } from './any-value-protobuf.ts';
import type { Scanned, Scan } from './decode-state.ts';
import { emptied, type AttributeRanges } from './attribute-table.ts';
import { readEnvelope } from './envelope-protobuf.ts';
import { eventNameIn, optionalSpanId, recordTraceId } from './span-ids.ts';
import { enter, leave, readFixed64, readHex, readTag, readText, skip, type Cursor } from './protobuf.ts';
import type { Steps } from '../../runtime/cooperative.ts';

/** Records without a trace id are left out and counted in `ignored`. */
export function* readLogsProtobuf(scan: Scan): Steps<{ readonly records: readonly LogRecord[]; readonly ignored: number }> {
  const itemsMax = scan.limits.recordsPerRequest;
  let ignored = 0;
  const read = (cursor: Cursor, inScan: Scan, resource: Resource, scope: Scope): LogRecord | undefined => {
    const record = readLogRecord(cursor, inScan, resource, scope);
    if (record === 'ignored') ignored++;
    return record === 'ignored' ? undefined : record;
  };
  const records = yield* readEnvelope(scan, {
    itemsMax,
    tooMany: { reason: 'too_many_records', detail: `more than ${itemsMax} records in one request` },
    read,
  });
  return { records, ignored };
}

/**
 * LogRecord = time (fixed64) = 1, severity number = 2, severity text = 3, body: AnyValue = 5, attribute = 6, dropped count = 7,
 * flags = 8, trace id = 9, span id = 10, observed time (fixed64) = 11, event name = 12.
 */
function readLogRecord(cursor: Cursor, scan: Scan, resource: Resource, scope: Scope): LogRecord | 'ignored' | undefined {
  const start = cursor.at;
  const draft: RecordDraft = {
    ranges: emptied(scan.ranges),
    traceIdHex: '',
    spanIdHex: '',
    time: 0n,
    observedTime: 0n,
    name: '',
    bodyStart: -1,
    bodyEnd: -1,
  };
  while (cursor.at < cursor.end) readRecordField(cursor, readTag(cursor), draft, scan);
  const traceId = recordTraceId(scan, draft.traceIdHex);
  if (traceId === 'none') {
    scan.fault = undefined;
    return 'ignored';
  }
  const spanId = optionalSpanId(scan, draft.spanIdHex, 'invalid_span_id');
  if (traceId === undefined || scan.fault !== undefined) return undefined;
  return new ProtobufRecord({ resource, scope, traceId, spanId }, draft, scan.scanned, cursor.end - start);
}

class ProtobufRecord extends ProtobufAttributes implements LogRecord {
  readonly resource: Resource;
  readonly scope: Scope;
  readonly traceId: TraceId;
  readonly spanId: SpanId | undefined;
  readonly timeUnixNano: bigint;
  readonly wireBytes: number;
  readonly #name: string;
  readonly #readBody: () => AttributeValue | undefined;
  #body: AttributeValue | undefined;

  constructor(
    { resource, scope, traceId, spanId }: Pick<LogRecord, 'resource' | 'scope' | 'traceId' | 'spanId'>,
    draft: RecordDraft,
    scanned: Scanned,
    wireBytes: number,
  ) {
    super(scanned, draft.ranges);
    const { name, time, observedTime, bodyStart, bodyEnd } = draft;
    this.resource = resource;
    this.scope = scope;
    this.traceId = traceId;
    this.spanId = spanId;
    this.timeUnixNano = time === 0n ? observedTime : time;
    this.wireBytes = wireBytes;
    this.#name = name;
    this.#readBody = () => (bodyStart < 0 ? undefined : anyValueAt(scanned.table.body, bodyStart, bodyEnd));
  }

  get eventName(): string {
    return this.#name === '' ? eventNameIn(this.attribute('event.name')) : this.#name;
  }

  body(): AttributeValue | undefined {
    return (this.#body ??= this.#readBody());
  }
}

interface RecordDraft {
  readonly ranges: AttributeRanges;
  traceIdHex: string;
  spanIdHex: string;
  time: bigint;
  observedTime: bigint;
  name: string;
  /** Below 0: the record has no body. */
  bodyStart: number;
  bodyEnd: number;
}

function readRecordField(cursor: Cursor, tag: number, draft: RecordDraft, scan: Scan): void {
  switch (tag >>> 3) {
    case 1:
      draft.time = readFixed64(cursor, tag);
      return;
    case 5: {
      const outerEnd = enter(cursor, tag);
      draft.bodyStart = cursor.at;
      draft.bodyEnd = cursor.end;
      scanAnyValue(cursor, 1, scan);
      leave(cursor, outerEnd);
      return;
    }
    case 6:
      scanAttribute(cursor, tag, draft.ranges, scan);
      return;
    case 9:
      draft.traceIdHex = readHex(cursor, tag);
      return;
    case 10:
      draft.spanIdHex = readHex(cursor, tag);
      return;
    case 11:
      draft.observedTime = readFixed64(cursor, tag);
      return;
    case 12:
      draft.name = readText(cursor, tag);
      return;
    default:
      skip(cursor, tag);
  }
}

/** The log records of one trace. Those that were sent twice count once. */
import { hash } from 'node:crypto';
import { jsonText, type JsonValue } from '../../model/json.ts';
import type { SpanId } from '../../model/ids.ts';
import type { AttributeValue, LogRecord } from '../../model/span.ts';

/** Most traces have none, and there are many of these: what holds records is made for the first one. */
export class HeldRecords {
  #bySpan: Map<SpanId, LogRecord[]> | undefined;
  #keys: Set<string> | undefined;

  get size(): number {
    return this.#keys?.size ?? 0;
  }

  has(spanId: SpanId): boolean {
    return this.#bySpan?.has(spanId) === true;
  }

  /** In the order in which they came. */
  get bySpan(): ReadonlyMap<SpanId, readonly LogRecord[]> {
    return this.#bySpan ?? new Map();
  }

  /** One that belongs to this span. False: it is there already. */
  add(spanId: SpanId, record: LogRecord): boolean {
    const key = recordKey(record);
    if (this.#keys?.has(key) === true) return false;
    (this.#keys ??= new Set()).add(key);
    this.#bySpan ??= new Map();
    const known = this.#bySpan.get(spanId);
    if (known === undefined) this.#bySpan.set(spanId, [record]);
    else known.push(record);
    return true;
  }

  /** Takes over those of another trace; of a span that both have records of, its own stay. */
  join(other: HeldRecords): void {
    for (const [spanId, records] of other.bySpan) if (!this.has(spanId)) (this.#bySpan ??= new Map()).set(spanId, [...records]);
    for (const key of other.#keys ?? []) (this.#keys ??= new Set()).add(key);
  }

  /** All of them; none is held any more. */
  take(): readonly LogRecord[] {
    const all = [...this.bySpan.values()].flat();
    this.#bySpan = undefined;
    this.#keys = undefined;
    return all;
  }
}

/** Equal for two sendings of one record: span, time, event and content are the same. A hash, for contents are long. */
function recordKey(record: LogRecord): string {
  const attributes = record.attributeKeys().map((key) => `${key}=${textOf(record.attribute(key))}`);
  const content = `${record.spanId} ${record.timeUnixNano} ${record.eventName} ${textOf(record.body())} ${attributes.join(' ')}`;
  return hash('sha256', content, 'base64');
}

function textOf(value: AttributeValue | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : jsonText((value ?? null) as JsonValue);
}

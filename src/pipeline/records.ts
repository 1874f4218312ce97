/** Log records that were sent twice count once. */
import { hash } from 'node:crypto';
import { jsonText, type JsonValue } from '../model/json.ts';
import type { AttributeValue, LogRecord } from '../model/span.ts';

/** Equal for two sendings of one record: span, time, event and content are the same. A hash, for contents are long. */
export function recordKey(record: LogRecord): string {
  const attributes = record.attributeKeys().map((key) => `${key}=${textOf(record.attribute(key))}`);
  const content = `${record.spanId} ${record.timeUnixNano} ${record.eventName} ${textOf(record.body())} ${attributes.join(' ')}`;
  return hash('sha256', content, 'base64');
}

function textOf(value: AttributeValue | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : jsonText((value ?? null) as JsonValue);
}

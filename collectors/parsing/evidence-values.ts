/** Values under the keys that may hold a field, the most telling first. */
import { idAttribute, textAttribute, type Attributed, type AttributeValue, type Span } from '../../src/model/span.ts';
import { keyEvidenceOf, type KeyEvidence, type ScalarField } from './key-evidence.ts';
import { isPlaceholder, unquotedText } from './parsing.ts';
import { TEMPLATE } from './span-names.ts';

/** The value of an event of the span under such a key. */
export function inEvents(span: Span, fields: readonly ScalarField[]): AttributeValue | undefined {
  for (const event of span.events) {
    if (event.name === 'exception' || event.name.startsWith('gen_ai.')) continue;
    const found = first(event, keyEvidenceOf(event), fields);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function textOf(value: AttributeValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function firstText(span: Span, { keys }: KeyEvidence, field: ScalarField): string | undefined {
  for (const key of keys[field] ?? []) {
    const value = unquotedText(textAttribute(span, key));
    if (value !== undefined && !NOTHING.test(value) && !isPlaceholder(value) && !TEMPLATE.test(value)) return value;
  }
  return undefined;
}

/** As `firstText`, or an integer as its text. OpenTelemetry's `thread.id` is a thread of the process. */
export function firstId(span: Span, evidence: KeyEvidence, field: ScalarField): string | undefined {
  const written = firstText(span, evidence, field);
  if (written !== undefined) return written;
  for (const key of evidence.keys[field] ?? []) {
    const value = key === 'thread.id' || typeof span.attribute(key) === 'string' ? undefined : idAttribute(span, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The texts that languages write for a missing value. */
export const NOTHING = /^(?:|""|null|none|nil|undefined|unnamed|nan)$/i;

/** The first value under a key of `fields`; an earlier field comes first. */
export function first(
  span: Attributed,
  { keys }: KeyEvidence,
  fields: readonly ScalarField[],
  accepts: (value: AttributeValue) => boolean = () => true,
): AttributeValue | undefined {
  for (const field of fields)
    for (const key of keys[field] ?? []) {
      const value = span.attribute(key);
      if (value !== undefined && !(typeof value === 'string' && NOTHING.test(value)) && !isPlaceholder(value) && accepts(value))
        return value;
    }
  return undefined;
}

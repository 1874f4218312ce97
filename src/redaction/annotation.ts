/** Removes what the rules match from annotations. */
import { createHash } from 'node:crypto';
import type { Annotation } from '../model/store/annotation-store.ts';
import type { Redaction } from './redaction.ts';

type Texts = Pick<Redaction, 'text'>;

/** The agreement of judges compares these labels, so `redact` leaves them. */
const ownLabels: ReadonlySet<string> = new Set(['pass', 'fail']);

export function redactedAnnotation(annotation: Annotation, redaction: Texts | undefined): Annotation {
  if (redaction === undefined) return annotation;
  const { by, label, explanation, name, toolCall } = annotation;
  return {
    ...annotation,
    name: redaction.text(name),
    // As the ids of calls in runs, so that it still finds its call.
    ...(toolCall === undefined ? {} : { toolCall: redaction.text(toolCall) }),
    by: redactedPerson(by, redaction),
    label: label === undefined || ownLabels.has(label) ? label : redaction.text(label),
    explanation: redaction.text(explanation),
  };
}

/** A redacted name becomes a hash, so that two people remain two. */
export function redactedPerson(name: string, redaction: Texts | undefined): string {
  return redaction === undefined || redaction.text(name) === name
    ? name
    : `redacted-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
}

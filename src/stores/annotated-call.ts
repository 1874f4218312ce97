/** What an evaluator says of the single tool call that an annotation is about. */
import type { AnnotatedRun } from '../model/store/annotation-store.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../model/json.ts';

/** `parts` as verdicts are stored; a call is known by its span or by the model's id of it. Undefined verdict: the evaluator says nothing of it. */
export function onCall(
  verdict: AnnotatedRun['verdict'],
  parts: JsonValue | undefined,
  toolCall: string,
): Pick<AnnotatedRun, 'verdict' | 'part'> {
  const found = isJsonArray(parts ?? null)
    ? (parts as readonly JsonValue[]).filter(isJsonObject).find((part) => part['span_id'] === toolCall || part['call_id'] === toolCall)
    : undefined;
  const [index, passed] = [found?.['index'], found?.['passed']];
  if (verdict === undefined || typeof index !== 'number' || typeof passed !== 'boolean') return { verdict: undefined };
  const word = passed ? 'pass' : 'fail';
  return { verdict: { ...verdict, word, label: word }, part: index };
}

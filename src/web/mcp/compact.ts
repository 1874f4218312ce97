/** Answers of the API with fewer bytes: without members that are null or empty, and with short estimates. Content of traces stays unchanged. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../../model/json.ts';

/** Members whose values are content of traces and examples: null means something there. */
const contents: ReadonlySet<string> = new Set([
  'arguments',
  'result',
  'input',
  'final_response',
  'details',
  'expect',
  'metadata',
  'tools',
  'input_schema',
]);
const digits = 4;

export function compact(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(compact);
  if (!isJsonObject(value)) return value;
  return (
    estimateOf(value) ??
    Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) => {
        if (contents.has(name)) return inner === null ? [] : [[name, inner] as const];
        const written = compact(inner);
        return isEmpty(written) ? [] : [[name, written] as const];
      }),
    )
  );
}

function isEmpty(value: JsonValue): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

function estimateOf(value: JsonObject): JsonObject | undefined {
  const isEstimate = Object.hasOwn(value, 'low') && Object.hasOwn(value, 'high') && Object.hasOwn(value, 'point');
  if (!isEstimate) return undefined;
  const reason = member(value, 'not_estimable') ?? null;
  if (isJsonObject(reason)) return { not_estimable: member(reason, 'reason') ?? null };
  const figures = ['point', 'low', 'high', 'n'].map((name) => [name, member(value, name) ?? null] as const);
  return Object.fromEntries(
    figures.flatMap(([name, figure]) => (typeof figure === 'number' ? [[name, Number(figure.toPrecision(digits))] as const] : [])),
  );
}

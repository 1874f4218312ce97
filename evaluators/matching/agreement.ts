/**
 * How far the arguments of a call agree with those expected: 1 for equal ones, else the agreement of each key, an object's by its own keys,
 * over the number of keys on both sides. Lists agree whole or not at all.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { quotient, rational, sum, type Rational } from './rational.ts';
import { selectedArguments, type ArgumentRule } from './arguments.ts';
import { canonicalText, type TextTolerance } from './equality.ts';

/** A value with its canonical text, members included, so that one call can be compared with many. */
export interface PreparedValue {
  readonly text: string;
  readonly members?: ReadonlyMap<string, PreparedValue>;
}

/** Where two objects disagree; paths are written with dots. */
export interface Disagreement {
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  readonly unequal: readonly string[];
}

export const agreed: Disagreement = { missing: [], extra: [], unequal: [] };

export function preparedValue(value: JsonValue, tolerance?: TextTolerance): PreparedValue {
  const text = canonicalText(value, tolerance);
  return isJsonObject(value)
    ? { text, members: new Map(Object.keys(value).map((key) => [key, preparedValue(value[key] ?? null, tolerance)])) }
    : { text };
}

/** Arguments as a rule sees them. */
export function preparedSelection(value: JsonObject, rule: ArgumentRule): PreparedValue {
  return preparedValue(selectedArguments(value, rule), rule);
}

/** As a double, to choose a pairing by. */
export function agreementWeight(expected: PreparedValue, actual: PreparedValue): number {
  if (expected.text === actual.text) return 1;
  const [one, other] = [expected.members, actual.members];
  if (one === undefined || other === undefined) return 0;
  let [agreeing, keys] = [0, other.size];
  for (const [key, value] of one) {
    const sent = other.get(key);
    if (sent === undefined) keys++;
    else agreeing += agreementWeight(value, sent);
  }
  return agreeing / keys;
}

/** Exactly, to score by. */
export function agreement(expected: PreparedValue, actual: PreparedValue): Rational {
  if (expected.text === actual.text) return rational(1);
  const [one, other] = [expected.members, actual.members];
  if (one === undefined || other === undefined) return rational(0);
  const shared = [...one].flatMap(([key, value]) => {
    const sent = other.get(key);
    return sent === undefined ? [] : [agreement(value, sent)];
  });
  return quotient(sum(shared), rational(one.size + other.size - shared.length));
}

/** Every key on which they disagree; inside objects that both sides have, the keys of these. */
export function disagreement(expected: PreparedValue, actual: PreparedValue, path = ''): Disagreement {
  const [one, other] = [expected.members, actual.members];
  if (expected.text === actual.text) return agreed;
  if (one === undefined || other === undefined) return { ...agreed, unequal: [path] };
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const inner = [...one].flatMap(([key, value]) => {
    const sent = other.get(key);
    return sent === undefined ? [] : [disagreement(value, sent, at(key))];
  });
  return {
    missing: [...[...one.keys()].filter((key) => !other.has(key)).map(at), ...inner.flatMap(({ missing }) => missing)],
    extra: [...[...other.keys()].filter((key) => !one.has(key)).map(at), ...inner.flatMap(({ extra }) => extra)],
    unequal: inner.flatMap(({ unequal }) => unequal),
  };
}

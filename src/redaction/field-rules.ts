/** Changes to whole records: each field says what becomes of it, and a field that nobody has thought of does not compile. */
import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.ts';
import type { Search } from './search.ts';

export type Change<Value> = (value: Value, search: Search) => Value;

export const text: Change<string> = (value, search) => search.text(value);
export const json: Change<JsonValue> = (value, search) => search.json(value);
export const jsonObject: Change<JsonObject> = (value, search) => {
  const changed = search.json(value);
  return isJsonObject(changed) ? changed : {};
};

/** For what no person has written: ids of traces and spans, times, counts, words of ours. */
export function kept<Value>(value: Value): Value {
  return value;
}

export function nullable<Value>(change: Change<Value>): Change<Value | null> {
  return (value, search) => (value === null ? null : change(value, search));
}

export function list<Value>(change: Change<Value>): Change<readonly Value[]> {
  return (values, search) => {
    const changed = values.map((value) => change(value, search));
    return changed.every((value, at) => value === values[at]) ? values : changed;
  };
}

export type Changes<Value> = { readonly [Field in keyof Value]-?: Change<Exclude<Value[Field], undefined>> };

/** The same record when nothing in it changes. What no field is declared for is left out. */
export function members<Value extends object>(changes: Changes<Value>): Change<Value> {
  const byName = new Map(Object.entries<unknown>(changes)) as ReadonlyMap<string, Change<unknown>>;
  return (value, search) => {
    const before = Object.entries<unknown>(value as { readonly [name: string]: unknown });
    const after = before.flatMap(([name, item]) => {
      const change = byName.get(name);
      return change === undefined ? [] : [[name, item === undefined ? undefined : change(item, search)] as const];
    });
    const unchanged = after.length === before.length && after.every(([, item], at) => item === before[at]?.[1]);
    return unchanged ? value : (Object.fromEntries(after) as Value);
  };
}

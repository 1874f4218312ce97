/** Reads entries of `dialects`, and finds faults that the schema cannot express. */
import { dialectFields, dialectRoles, type DialectField, type DialectSettings } from '../../../collectors/configured/dialect.ts';
import { parseCondition, parseExpression, type Parsed } from '../../../collectors/configured/expression.ts';
import { collectors } from '../../../collectors/index.ts';
import { isJsonArray, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { asObject, type Finding, objectAt, finding } from '../diagnostic.ts';

export function dialectSettings(list: readonly JsonValue[]): readonly DialectSettings[] {
  return list.map(asObject).map((entry) => {
    const match = objectAt(entry, 'match');
    const [scope, keys, prefixes] = [member(match, 'scope'), texts(match, 'keys'), texts(match, 'key_prefixes')];
    return {
      name: String(member(entry, 'name')),
      match: {
        ...(typeof scope === 'string' ? { scope } : {}),
        ...(keys === undefined ? {} : { keys }),
        ...(prefixes === undefined ? {} : { keyPrefixes: prefixes }),
      },
      span: parsed(objectAt(entry, 'span'), dialectRoles, parseCondition),
      read: parsed(objectAt(entry, 'read'), Object.keys(dialectFields) as DialectField[], parseExpression),
    };
  });
}

export function dialectFindings(list: readonly JsonValue[]): readonly Finding[] {
  return list
    .map(asObject)
    .flatMap((entry, at): readonly Finding[] => [
      ...nameFindings(member(entry, 'name'), at),
      ...emptyFindings(entry, at),
      ...faults(objectAt(entry, 'span'), ['dialects', at, 'span'], parseCondition),
      ...faults(objectAt(entry, 'read'), ['dialects', at, 'read'], parseExpression),
    ]);
}

function nameFindings(name: JsonValue | undefined, at: number): readonly Finding[] {
  return collectors.some(({ id }) => id === name)
    ? [finding(['dialects', at, 'name'], 'value', `${JSON.stringify(name)} is a built-in dialect`, 'Choose another name.')]
    : [];
}

function emptyFindings(entry: JsonObject, at: number): readonly Finding[] {
  return ['span', 'read'].some((key) => Object.keys(objectAt(entry, key)).length > 0)
    ? []
    : [finding(['dialects', at], 'value', 'reads nothing', 'Add conditions under span, paths under read, or both.')];
}

function faults(written: JsonObject, path: readonly (string | number)[], parse: (text: string) => Parsed<unknown>): readonly Finding[] {
  return Object.entries(written).flatMap(([name, text]): readonly Finding[] => {
    const result = typeof text === 'string' ? parse(text) : undefined;
    return result?.kind === 'faulty' ? [finding([...path, name], 'value', result.problem, result.todo)] : [];
  });
}

function parsed<Name extends string, Result>(
  written: JsonObject,
  names: readonly Name[],
  parse: (text: string) => Parsed<Result>,
): { readonly [name in Name]?: Result } {
  const found: { [name in Name]?: Result } = {};
  for (const name of names) {
    const text = member(written, name);
    const result = typeof text === 'string' ? parse(text) : undefined;
    if (result?.kind === 'parsed') found[name] = result.result;
  }
  return found;
}

function texts(from: JsonObject, key: string): readonly string[] | undefined {
  const list = member(from, key);
  return isJsonArray(list) ? list.filter((item) => typeof item === 'string') : undefined;
}

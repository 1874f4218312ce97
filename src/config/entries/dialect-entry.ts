/** Reads entries of `dialects`, and finds faults that the schema cannot express. */
import { dialectFields, dialectRoles, type DialectField, type DialectSettings } from '../../../collectors/configured/dialect.ts';
import { parseCondition, parseExpression, type Parsed } from '../../../collectors/configured/expression.ts';
import { collectors } from '../../../collectors/index.ts';
import { type Finding, finding, type Path } from '../diagnostic.ts';
import type { JsonValue } from '../../model/json.ts';
import type { Draft } from '../field.ts';
import type { Written } from '../sections/index.ts';
import { dialects } from '../sections/runs.ts';

/** Texts by their names. */
interface Texts {
  readonly [name: string]: string | undefined;
}

export function dialectSettings(list: readonly JsonValue[]): readonly DialectSettings[] {
  return dialects.read(list).map(({ name, match, span = {}, read = {} }) => ({
    name,
    match,
    span: parsed(span, dialectRoles, parseCondition),
    read: parsed(read, Object.keys(dialectFields) as DialectField[], parseExpression),
  }));
}

export function dialectFindings(list: Draft<Written['dialects']>): readonly Finding[] {
  return list.flatMap(({ name, span = {}, read = {} }, at): readonly Finding[] => [
    ...(collectors.some(({ id }) => id === name)
      ? [finding(['dialects', at, 'name'], 'value', `${JSON.stringify(name)} is a built-in dialect`, 'Choose another name.')]
      : []),
    ...(Object.keys({ ...span, ...read }).length === 0
      ? [finding(['dialects', at], 'value', 'reads nothing', 'Add conditions under span, paths under read, or both.')]
      : []),
    ...faults(span, ['dialects', at, 'span'], parseCondition),
    ...faults(read, ['dialects', at, 'read'], parseExpression),
  ]);
}

function faults(written: Texts, path: Path, parse: (text: string) => Parsed<unknown>): readonly Finding[] {
  return Object.entries(written).flatMap(([name, text]): readonly Finding[] => {
    const result = text === undefined ? undefined : parse(text);
    return result?.kind === 'faulty' ? [finding([...path, name], 'value', result.problem, result.todo)] : [];
  });
}

function parsed<Name extends string, Result>(
  written: Texts,
  names: readonly Name[],
  parse: (text: string) => Parsed<Result>,
): { readonly [name in Name]?: Result } {
  const found: { [name in Name]?: Result } = {};
  for (const name of names) {
    const text = written[name];
    const result = text === undefined ? undefined : parse(text);
    if (result?.kind === 'parsed') found[name] = result.result;
  }
  return found;
}

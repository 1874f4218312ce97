/**
 * Options as code gives them (camelCase, with functions), as files hold them (snake_case, data alone), and as they may leave the process (without secrets).
 * The schema decides: it lists the names that are translated, and marks secrets with `x-secret`. Names that are data (tools, arguments) stay.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';

/** References are followed this deep; a schema may refer to itself. */
const depthMax = 32;

/** The complete options, under the names of the file. */
export function snakeMembers(schema: JsonObject, value: JsonValue): JsonValue {
  return translated(schema, [schema], value, 0);
}

function translated(root: JsonObject, schemas: readonly JsonObject[], value: JsonValue, depth: number): JsonValue {
  if (depth > depthMax) return value;
  const all = schemas.flatMap((schema) => branches(root, schema, 0));
  if (isJsonArray(value)) return value.map((item) => translated(root, below(all, 'items'), item, depth + 1));
  if (!isJsonObject(value)) return value;
  // Without a prototype: `__proto__` is a legal name in foreign data.
  const written = Object.create(null) as { [key: string]: JsonValue };
  for (const [name, item] of Object.entries(value)) {
    const listed = below(below(all, 'properties'), snake(name));
    written[listed.length > 0 ? snake(name) : name] = translated(
      root,
      listed.length > 0 ? listed : below(all, 'additionalProperties'),
      item,
      depth + 1,
    );
  }
  return written;
}

/** A schema with everything that it is put together from. */
function branches(root: JsonObject, schema: JsonObject, depth: number): readonly JsonObject[] {
  if (depth > depthMax) return [];
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => {
    const list = member(schema, keyword);
    return isJsonArray(list) ? list.filter(isJsonObject) : [];
  });
  const reference = member(schema, '$ref');
  const target = typeof reference === 'string' ? referenced(root, reference) : undefined;
  return [schema, ...[...parts, ...(target === undefined ? [] : [target])].flatMap((part) => branches(root, part, depth + 1))];
}

function referenced(root: JsonObject, reference: string): JsonObject | undefined {
  let at: JsonValue | undefined = root;
  for (const part of reference.split('/').slice(1)) at = isJsonObject(at) ? member(at, part) : undefined;
  return reference.startsWith('#') && isJsonObject(at) ? at : undefined;
}

function below(schemas: readonly JsonObject[], name: string): readonly JsonObject[] {
  return schemas.map((schema) => member(schema, name)).filter((value) => isJsonObject(value));
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export interface GivenFunction {
  /** Names as the code has them. */
  readonly path: readonly string[];
  readonly given: (...given: never[]) => unknown;
}

/** Separates the options from the functions at these paths. A function elsewhere stays among the options, and the schema refuses it. */
export function partedOptions(
  options: object,
  paths: readonly string[],
): { readonly data: object; readonly functions: readonly GivenFunction[] } {
  const functions: GivenFunction[] = [];
  return {
    data: parted(
      options,
      [],
      paths.map((path) => path.split('.')),
      functions,
    ),
    functions,
  };
}

function parted(options: object, path: readonly string[], paths: readonly (readonly string[])[], functions: GivenFunction[]): object {
  const entries = Object.entries(options).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    const own = [...path, name];
    const open = paths.filter((one) => own.every((step, at) => one[at] === '*' || one[at] === step));
    if (isFunction(value) && open.some(({ length }) => length === own.length)) {
      functions.push({ path: own, given: value });
      return [];
    }
    return [
      [
        name,
        typeof value === 'object' && value !== null && !Array.isArray(value) && open.length > 0
          ? parted(value, own, paths, functions)
          : value,
      ],
    ];
  });
  return Object.fromEntries(entries);
}

export function withFunctions(options: unknown, functions: readonly GivenFunction[]): unknown {
  return functions.reduce((all, { path, given }) => placed(all, path, given), options);
}

function placed(options: unknown, [name, ...rest]: readonly string[], given: GivenFunction['given']): unknown {
  if (name === undefined) return given;
  const members = new Map<string, unknown>(typeof options === 'object' && options !== null ? Object.entries(options) : []);
  return Object.fromEntries([...members, [name, placed(members.get(name), rest, given)]]);
}

function isFunction(value: unknown): value is GivenFunction['given'] {
  return typeof value === 'function';
}

/** Options that may leave the process: secrets are left out; of URLs the user and the query. */
export function withoutSecrets(schema: JsonObject, value: JsonValue): JsonValue {
  if (member(schema, 'x-secret') === 'url' && typeof value === 'string')
    return value.replace(/(:\/\/)[^/\s"'@]*@/, '$1').replace(/\?.*$/, '');
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      const below = schemaOf(schema, name);
      return below !== undefined && member(below, 'x-secret') === true
        ? []
        : [[name, below === undefined ? item : withoutSecrets(below, item)] as const];
    }),
  );
}

function schemaOf(schema: JsonObject, name: string): JsonObject | undefined {
  const properties = member(schema, 'properties');
  const own = isJsonObject(properties) ? member(properties, name) : undefined;
  const found = own ?? member(schema, 'additionalProperties');
  return isJsonObject(found) ? found : undefined;
}

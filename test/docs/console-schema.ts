/** `src/console/api/schema.ts`: the types of the API for the console, from the OpenAPI document. A changed route is then a type error in a page. */
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { routes } from '../../src/web/api/routes.ts';
import { openApiDocument } from '../../src/web/api/serve-api.ts';

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean; readonly schema: JsonObject }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly 200: { readonly content: Content } };
}

interface Content {
  readonly [type: string]: { readonly schema: JsonObject };
}

interface Document {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: { readonly [name: string]: JsonObject } };
}

export function consoleSchema(): string {
  return schemaTypes(openApiDocument(routes));
}

export function schemaTypes(document: JsonObject): string {
  const { paths, components } = document as unknown as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const gets = operations.filter(({ method }) => method === 'get').map(({ path, operation }) => [path, operationType(operation)] as const);
  const sends = operations
    .filter(({ method }) => method !== 'get')
    .map(({ path, method, operation }) => [`${method.toUpperCase()} ${path}`, operationType(operation)] as const);
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [name, typeOf(schema)] as const);
  return `/** Types of the API. Written by npm run docs from the OpenAPI document. */

/** Named schemas of the API. */
export ${interfaceText('Schemas', schemas)}

/** Reads, by path. */
export ${interfaceText('Gets', gets)}

/** Changes, by method and path. */
export ${interfaceText('Sends', sends)}
`;
}

function interfaceText(name: string, members: readonly (readonly [name: string, type: string])[]): string {
  return `interface ${name} {\n${members.map(([key, type]) => `  readonly ${JSON.stringify(key)}: ${type};\n`).join('')}}`;
}

function operationType({ parameters, requestBody, responses }: Operation): string {
  const of = (place: string): JsonObject | undefined => {
    const own = parameters.filter((one) => one.in === place);
    return own.length === 0
      ? undefined
      : {
          type: 'object',
          required: own.filter(({ required }) => required).map(({ name }) => name),
          properties: Object.fromEntries(own.map(({ name, schema }) => [name, schema])),
        };
  };
  const [path, query, body] = [of('path'), of('query'), requestBody?.content['application/json']?.schema];
  const answer = responses[200].content['application/json']?.schema ?? { type: 'string' };
  return objectType([
    ...(path === undefined ? [] : [['path', typeOf(path)] as const]),
    ...(query === undefined ? [] : [['query', typeOf(query)] as const]),
    ...(body === undefined ? [] : [['body', typeOf(body)] as const]),
    ['answer', typeOf(answer)],
  ]);
}

function objectType(members: readonly (readonly [name: string, type: string])[]): string {
  return `{ ${members.map(([name, type]) => `readonly ${name}: ${type}`).join('; ')} }`;
}

/** The type of a JSON Schema, as far as the document uses it. An unknown form is `unknown`, which a page cannot read by mistake. */
export function typeOf(schema: JsonValue): string {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'unknown';
  const { $ref: reference, enum: values, const: value, anyOf, oneOf, allOf, type } = schema as JsonObject;
  if (typeof reference === 'string') return `Schemas[${JSON.stringify(reference.slice(reference.lastIndexOf('/') + 1))}]`;
  if (Array.isArray(values)) return union(values.map((one) => JSON.stringify(one)));
  if (value !== undefined) return JSON.stringify(value);
  const parts = anyOf ?? oneOf;
  if (Array.isArray(parts)) return union(parts.map((part: JsonValue) => typeOf(part)));
  if (Array.isArray(allOf)) return allOf.map((part: JsonValue) => `(${typeOf(part)})`).join(' & ');
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...(schema as JsonObject), type: one })));
  switch (type) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'null':
      return type;
    case 'integer':
      return 'number';
    case 'array':
      return `ReadonlyArray<${typeOf((schema as JsonObject)['items'] ?? null)}>`;
    case 'object':
      return recordType(schema as JsonObject);
    default:
      return (schema as JsonObject)['properties'] === undefined ? 'unknown' : recordType(schema as JsonObject);
  }
}

function recordType({ properties, required = [], additionalProperties }: JsonObject): string {
  const members = Object.entries((properties ?? {}) as JsonObject).map(
    ([name, schema]) =>
      `readonly ${JSON.stringify(name)}${(required as readonly JsonValue[]).includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  if (members.length === 0) {
    const values = typeof additionalProperties === 'object' && additionalProperties !== null ? typeOf(additionalProperties) : 'unknown';
    return `{ readonly [key: string]: ${values} }`;
  }
  return `{ ${members.join('; ')} }`;
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

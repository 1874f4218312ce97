/** Requests of tools to the API, with schemas and parameters of its routes. */
import { isJsonObject, type JsonObject, type JsonValue, plainText } from '../../model/json.ts';
import type { Route } from '../api/route.ts';
import { present } from '../../model/present.ts';

export interface ApiRequest {
  readonly method: Route['method'];
  /** Path and query below `/api/v1`. */
  readonly path: string;
  readonly body?: JsonObject;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: JsonValue;
}

/** Asks the API with the rights of the caller. */
export type AskApi = (request: ApiRequest) => Promise<ApiAnswer>;

/** An answer of the API that is not 2xx. */
export class ApiFault extends Error {
  readonly status: number;
  readonly body: JsonValue;

  constructor({ status, body }: ApiAnswer) {
    super(`the API answered ${status}`);
    this.name = 'ApiFault';
    this.status = status;
    this.body = body;
  }
}

/** A route as a tool offers it. */
export interface Offered {
  readonly route: Route;
  /** Parameters of the route by the argument of the tool, where they differ. */
  readonly names: { readonly [argument: string]: string };
}

/** Finds a route of the API for a tool. */
export type Offer = (method: Route['method'], path: string, names?: Offered['names']) => Offered;

export function offerOf(routes: readonly Route[]): Offer {
  return (method, path, names = {}) => {
    const route = routes.find((one) => one.method === method && one.path === path);
    if (route === undefined) throw new Error(`the API has no route ${method} ${path}`);
    return { route, names };
  };
}

/** The schema of the arguments: parameters of the route, without those in `without`. */
export function argumentsOf({ route, names }: Offered, { without = [] }: { readonly without?: readonly string[] } = {}): InputSchema {
  const argument = new Map(Object.entries(names).map(([own, parameter]) => [parameter, own]));
  const named = (properties: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(properties)
        .filter(([name]) => !without.includes(name))
        .map(([name, schema]) => [argument.get(name) ?? name, typed(schema)]),
    );
  const inPath = named(route.path_parameters);
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(inPath),
    properties: { ...inPath, ...named(route.query_parameters) },
  };
}

/** Some clients take no `enum` without a type. */
function typed(schema: JsonValue): JsonValue {
  return isJsonObject(schema) && Object.hasOwn(schema, 'enum') ? { type: 'string', ...schema } : schema;
}

export interface InputSchema {
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly required: readonly string[];
  readonly properties: JsonObject;
  readonly [keyword: string]: JsonValue;
}

/** Gives the answer of the route; throws an ApiFault when it refuses. `given`: checked arguments. */
export async function asked(
  ask: AskApi,
  { route, names }: Offered,
  given: JsonObject,
  body?: JsonObject,
): Promise<{ readonly [member: string]: JsonValue }> {
  const parameters = new Map(
    Object.entries(given).map(([name, value]) => [Object.hasOwn(names, name) ? (names[name] ?? name) : name, value]),
  );
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathStep(plainText(parameters.get(name) ?? '')));
  const query = new URLSearchParams();
  for (const name of Object.keys(route.query_parameters)) {
    const value = parameters.get(name);
    if (value !== undefined) query.set(name, plainText(value));
  }
  const answer = await ask(present({ method: route.method, path: query.size === 0 ? path : `${path}?${query.toString()}`, body }));
  if (answer.status >= 300) throw new ApiFault(answer);
  return answer.body as JsonObject;
}

/** Dots only would be a step of the path. */
function pathStep(text: string): string {
  if (!/^\.*$/.test(text)) return encodeURIComponent(text);
  throw new ApiFault({ status: 404, body: { error: { code: 'not_found', message: `${JSON.stringify(text)} names nothing.` } } });
}

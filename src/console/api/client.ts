/** The typed client of the API. Paths, parameters, bodies and answers have the types of the OpenAPI document. */
import type { Gets, Schemas, Sends } from './schema.ts';

export type { Gets, Schemas, Sends };

/** Path of the API. */
export const apiPrefix = '/api/v1';
/** The header that a change needs when a cookie signs the request. */
const antiForgeryHeader = 'x-anti-forgery';

type PathOf<T> = T extends { readonly path: infer P } ? { readonly path: P } : unknown;
type BodyOf<T> = T extends { readonly body: infer B } ? { readonly body: B } : unknown;
type QueryOf<T> = T extends { readonly query: infer Q } ? { readonly query?: { readonly [K in keyof Q]?: Q[K] | undefined } } : unknown;

export type GetPath = keyof Gets;
export type SendPath = keyof Sends;
/** Parameters of a read: `path` where the path has some, `query` where the route takes some. */
export type GetOptions<P extends GetPath> = PathOf<Gets[P]> & QueryOf<Gets[P]>;
export type GetAnswer<P extends GetPath> = Gets[P]['answer'];
export type SendOptions<P extends SendPath> = PathOf<Sends[P]> & QueryOf<Sends[P]> & BodyOf<Sends[P]>;
export type SendAnswer<P extends SendPath> = Sends[P]['answer'];

/** A request that failed. `message` names the fault, `todo` the remedy. */
export class ApiFailure extends Error {
  /** HTTP status; 0 when there is no answer. */
  readonly status: number;
  readonly code: string;
  readonly todo: string;

  constructor({
    status,
    code,
    message,
    todo,
  }: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly todo: string;
  }) {
    super(message);
    this.name = 'ApiFailure';
    this.status = status;
    this.code = code;
    this.todo = todo;
  }
}

export interface ApiClient {
  /** Throws `ApiFailure`, or the reason of `signal`. */
  get<P extends GetPath>(path: P, options: GetOptions<P>, signal?: AbortSignal): Promise<GetAnswer<P>>;
  /** Throws `ApiFailure`, or the reason of `signal`. An answer of several outcomes (207, 422 with a list) is an answer. */
  send<P extends SendPath>(path: P, options: SendOptions<P>, signal?: AbortSignal): Promise<SendAnswer<P>>;
}

export interface ApiClientParts {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** The anti-forgery value of the session; `undefined` without a session. */
  readonly antiForgery: () => string | undefined;
  /** Called when the API wants a sign-in. */
  readonly onSignedOut: () => void;
}

export function apiClient({ fetch, antiForgery, onSignedOut }: ApiClientParts): ApiClient {
  async function request(url: string, init: RequestInit): Promise<unknown> {
    const answer = await fetch(url, { credentials: 'same-origin', ...init }).catch((error: unknown) => {
      if (init.signal?.aborted === true) throw error;
      throw new ApiFailure({
        status: 0,
        code: 'no_answer',
        message: 'The service does not answer.',
        todo: 'Check that it runs, then try again.',
      });
    });
    const value = await valueOf(answer);
    if (answer.ok || !isError(value)) {
      if (answer.ok || typeof value === 'object') return value;
      throw new ApiFailure({
        status: answer.status,
        code: 'no_api',
        message: `The answer has the status ${answer.status}.`,
        todo: 'Check the proxy in front of the service.',
      });
    }
    if (answer.status === 401) onSignedOut();
    throw new ApiFailure({ status: answer.status, ...value.error });
  }

  return {
    get: async (path, options, signal) =>
      (await request(addressOf(path, options as Parts), { method: 'GET', ...signalOf(signal) })) as GetAnswer<typeof path>,
    async send(path, options, signal) {
      const [method = '', template = ''] = path.split(' ');
      const { body } = options as Parts;
      const forgery = antiForgery();
      return (await request(addressOf(template, options as Parts), {
        method,
        headers: {
          ...(forgery === undefined ? {} : { [antiForgeryHeader]: forgery }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...signalOf(signal),
      })) as SendAnswer<typeof path>;
    },
  };
}

interface Parts {
  readonly path?: { readonly [name: string]: string | number };
  readonly query?: { readonly [name: string]: string | number | undefined };
  readonly body?: unknown;
}

/** The address of a route of the API with its parameters; empty ones are left out. Every value is escaped. */
export function addressOf(template: string, { path = {}, query = {} }: Parts): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name] ?? '')));
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const text = new URLSearchParams(given).toString();
  return `${apiPrefix}${filled}${text === '' ? '' : `?${text}`}`;
}

async function valueOf(answer: Response): Promise<unknown> {
  const text = await answer.text();
  if (!(answer.headers.get('content-type') ?? '').includes('json')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function isError(value: unknown): value is { readonly error: { readonly code: string; readonly message: string; readonly todo: string } } {
  return typeof value === 'object' && value !== null && 'error' in value && typeof value.error === 'object' && value.error !== null;
}

function signalOf(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/** The API for a command: that of a service, or the same routes over the store of a configuration. */
import { httpClient } from '../http/http-client.ts';
import { isJsonObject, type JsonObject, jsonText, member, objectsAt, parseJson } from '../model/json.ts';
import { present } from '../model/present.ts';
import { queryOfConditions } from '../model/store/run-filter.ts';
import type { RunFilter } from '../model/store/store.ts';
import { annotationQueues } from '../queues/annotation-queues.ts';
import { configuredRedaction } from '../config/entries/redaction.ts';
import { judgesInForce } from '../service/judge-pool.ts';
import { clock, sleep } from '../service/node-runtime.ts';
import { thresholdsOf } from '../service/queue-rules.ts';
import { versionUpkeep } from '../service/version-upkeep.ts';
import { noTelemetry } from '../telemetry/telemetry.ts';
import { runRowJson } from '../web/api/run-json.ts';
import { issueDifferenceRoutes } from '../web/api/issue-differences.ts';
import { issueRoutes } from '../web/api/issues.ts';
import { queueRoutes } from '../web/api/queues.ts';
import { type Parameters, Refusal } from '../web/api/route.ts';
import { addressOption, type CommandInput, type CommandProgram, textOption, UsageError } from './command.ts';
import { tenantOption } from './common-options.ts';
import { type OpenedStore, withStore } from './open-store.ts';

interface ServiceRequest {
  readonly method: 'get' | 'post' | 'patch';
  /** Steps of the path. */
  readonly path: readonly string[];
  readonly query?: { readonly [name: string]: string };
  readonly body?: JsonObject;
}

export type ServiceAnswer =
  | { readonly kind: 'ok'; readonly body: JsonObject }
  /** `status` of the API. */
  | { readonly kind: 'refused'; readonly status: number; readonly message: string; readonly todo: string };

export interface ServiceApi {
  send(request: ServiceRequest): Promise<ServiceAnswer>;
  /** The newest runs, as rows of the API. */
  runs(filter: RunFilter, limit: number): Promise<readonly JsonObject[]>;
}

const timeoutMs = 30_000;
const answerBytesMax = 64 * 1024 * 1024;
export const instead = 'Ask the service: --url http://127.0.0.1:4380.';

/** Over `--url`, else over the store of `--config`. */
export async function withServiceApi<Result>(input: CommandInput, use: (api: ServiceApi) => Promise<Result>): Promise<Result> {
  const url = addressOption(input, 'url', 'the address of the console');
  if (url === undefined) return await withStore(input, { instead }, (opened) => use(storedApi(opened)));
  const http = httpClient();
  const token = input.env['TRACEJURY_TOKEN'];
  try {
    return await use(servedApi({ http, url, token }));
  } finally {
    http.stop();
  }
}

interface Served {
  readonly http: ReturnType<typeof httpClient>;
  readonly url: string;
  readonly token: string | undefined;
}

function servedApi({ http, url, token }: Served): ServiceApi {
  async function asked(method: string, path: string, body?: JsonObject): Promise<ServiceAnswer> {
    const answer = await http.send({
      method: method.toUpperCase(),
      url: `${url}/api/v1${path}`,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: Buffer.from(jsonText(body)) }),
      timeoutMs,
      answerBytesMax,
    });
    if (answer.kind === 'unanswered')
      throw new UsageError(`${url} does not answer (${answer.reason === 'failed' ? answer.code : answer.reason}).`);
    const value = parseJson(answer.body.toString('utf8')) ?? null;
    if (!isJsonObject(value) || answer.isCut) throw new UsageError(`${url} answers with ${answer.status}, but not as a tracejury service.`);
    return answer.status < 300 ? { kind: 'ok', body: value } : refusalOf(answer.status, value);
  }

  return {
    send: ({ method, path, query = {}, body }) =>
      asked(method, `${path.map((step) => `/${encodeURIComponent(step)}`).join('')}${queryText(query)}`, body),
    async runs(filter, limit) {
      const query = { ...runQuery(filter), limit: String(limit) };
      const answer = await asked('get', `/runs${queryText(query)}`);
      if (answer.kind === 'refused') throw new UsageError(`${answer.message} ${answer.todo}`);
      return objectsAt(answer.body, 'runs');
    },
  };
}

/** The parameters of `GET /runs`. */
function runQuery(filter: RunFilter): { readonly [name: string]: string } {
  return { ...queryOfConditions(filter), ...present({ from: timeOf(filter.from), to: timeOf(filter.to) }) };
}

function timeOf(micros: number | undefined): string | undefined {
  return micros === undefined ? undefined : new Date(micros / 1_000).toISOString();
}

function queryText(query: { readonly [name: string]: string }): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}

function refusalOf(status: number, value: JsonObject): ServiceAnswer {
  const error = member(value, 'error');
  const [message, todo] = ['message', 'todo'].map((key) => (isJsonObject(error) ? member(error, key) : undefined));
  return { kind: 'refused', status, message: String(message ?? `The service answers with ${status}.`), todo: String(todo ?? '') };
}

/** Routes that need nothing but a store. */
const storedRoutes = [...queueRoutes, ...issueRoutes, ...issueDifferenceRoutes];

/** The routes of the API, without a service. */
function storedApi({ store, config }: OpenedStore): ServiceApi {
  const redaction = configuredRedaction(config.redact, noTelemetry);
  const queues = annotationQueues({
    store,
    settings: () => config.queues,
    thresholds: () => thresholdsOf(config),
    redaction: () => redaction,
    telemetry: noTelemetry,
    clock,
  });
  const upkeep = versionUpkeep({
    store,
    keepMs: () => config.store.keep.runsMs,
    clock,
    sleep,
    onFault(error) {
      throw error;
    },
  });
  const deps = {
    queues,
    store,
    judges: () => judgesInForce(config),
    clock,
    redactedText: (text: string) => redaction?.text(text) ?? text,
    refreshVersions: upkeep.refresh,
  };
  return {
    async send({ method, path, query = {}, body }) {
      const route = storedRoutes.find((one) => one.method === method && matches(one.path, path));
      if (route === undefined) throw new Error(`no route for ${path.join('/')}`);
      try {
        const parameters: Parameters = { ...query, ...parametersOf(route.path, path) };
        const answer = await route.handle(deps, numbered(parameters), body ?? null, { name: undefined });
        return isJsonObject(answer ?? null)
          ? { kind: 'ok', body: answer as JsonObject }
          : { kind: 'refused', status: 404, ...(route.missing ?? { message: '', todo: '' }) };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return { kind: 'refused', status: error.status, message: error.message, todo: error.todo };
      }
    },
    runs: async (filter, limit) => (await store.runs({ ...filter, limit })).runs.map(runRowJson),
  };
}

function matches(template: string, steps: readonly string[]): boolean {
  const parts = template.slice(1).split('/');
  return parts.length === steps.length && parts.every((part, at) => part.startsWith('{') || part === steps[at]);
}

function parametersOf(template: string, steps: readonly string[]): Parameters {
  return Object.fromEntries(
    template
      .slice(1)
      .split('/')
      .flatMap((part, at) => (part.startsWith('{') ? [[part.slice(1, -1), steps[at] ?? '']] : [])),
  );
}

/** The options that choose a service or a store. */
export const serviceOptions = (what: string) =>
  ({
    tenant: tenantOption(`names the tenant of ${what}`),
    url: { type: 'string', value: 'URL', summary: 'asks the console of a running service, with the token in TRACEJURY_TOKEN' },
  }) as const satisfies CommandProgram['options'];

export function tenantQuery(input: CommandInput): { readonly tenant?: string } {
  const of = textOption(input, 'tenant');
  return of === undefined ? {} : { tenant: of };
}

/** The person at the command line; `undefined` for a service that knows them by a token. */
export function personOf(input: CommandInput, option: string): string | undefined {
  const named = textOption(input, option);
  if (named !== undefined) return named;
  const hasToken = textOption(input, 'url') !== undefined && input.env['TRACEJURY_TOKEN'] !== undefined;
  return hasToken ? undefined : (input.env['USER'] ?? input.env['USERNAME'] ?? 'command line');
}

/** Reads numbers from parameters like the listener. */
function numbered(parameters: Parameters): Parameters {
  const { limit } = parameters;
  return limit === undefined ? parameters : { ...parameters, limit: Number(limit) };
}

/** Reports a refusal: a wrong request throws a UsageError. */
export function refusedCode(input: CommandInput, refusal: Extract<ServiceAnswer, { readonly kind: 'refused' }>): 1 {
  const { status, message, todo } = refusal;
  if (status !== 409) throw new UsageError(`${message} ${todo}`);
  input.complain(`${message} ${todo}`);
  return 1;
}

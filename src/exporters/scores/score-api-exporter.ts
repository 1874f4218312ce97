/** Makes an exporter of a score API backend: connection, headers and batching. */
import { setTimeout as timer } from 'node:timers/promises';
import type { Sleep } from '../../model/clock.ts';
import { chunks } from '../../model/chunks.ts';
import { JuryError } from '../../model/errors.ts';
import { jsonText } from '../../model/json.ts';
import { exportOutcome, refusalNamed, unexpectedFailure } from '../delivery/export-outcome.ts';
import type { Exporter, ExportOutcome, PlannedRequest } from '../exporter.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import { httpClient } from '../delivery/http-client.ts';
import type {
  ScoreApiAccount,
  ScoreApiBackend,
  ScoreApiCall,
  ScoreApiOutcome,
  ScoreApiRequest,
  ScoreApiSettings,
} from './score-api-backend.ts';
import { scoreApiScores, type ScoreApiScore } from './score-api-score.ts';
import type { ExporterDeps, ExporterSettings } from '../settings.ts';
import { microBatcher } from '../delivery/micro-batcher.ts';

type MakeExporter = (settings: ExporterSettings, parts?: Pick<ExporterDeps, 'sleep'>) => Exporter;

const sleepFor: Sleep = async (ms) => await timer(ms);
const requestsMax = 4;

export function scoreApiExporter(backend: ScoreApiBackend): MakeExporter {
  return (settings, { sleep } = { sleep: sleepFor }) => {
    const own = scoreApiSettings(backend, settings);
    const requestOf = requestsOf(backend, own, settings);
    const { call, stop } = caller(requestOf, settings);
    const account: ScoreApiAccount = { ...own, known: new Map() };
    const { itemsPerRequest: itemsMax, gatherMs } = backend;
    const sendTogether = microBatcher<readonly ScoreApiScore[]>({
      itemsMax,
      requestsMax,
      ...(gatherMs === undefined ? {} : { gather: () => sleep(gatherMs) }),
      send: async (lists) => outcomesOf(await written(backend, lists.flat(), call, account), lists),
    });
    return {
      id: backend.id,
      itemsAtOnce: itemsMax * requestsMax,
      async send(item) {
        try {
          const scores = scoreApiScores(item);
          return scores.length === 0 ? { kind: 'sent' } : await sendTogether(scores);
        } catch (error) {
          return unexpectedFailure(error);
        }
      },
      probe: async () => refusalNamed(exportOutcome(await call(backend.probe)), credentialsOf(backend)),
      plan: (items) => planned({ backend, items, own, requestOf }),
      async stop() {
        stop();
      },
    };
  };
}

function scoreApiSettings(backend: ScoreApiBackend, { endpoint = backend.endpoint.preset, keys = {} }: ExporterSettings): ScoreApiSettings {
  if (endpoint === undefined) throw new JuryError('CONFIG_INVALID', `The exporter ${backend.id} has no endpoint.`);
  return { endpoint: endpoint.replace(/\/+$/, ''), keys };
}

function requestsOf(
  backend: ScoreApiBackend,
  own: ScoreApiSettings,
  settings: ExporterSettings,
): (request: ScoreApiRequest) => PlannedRequest {
  const headers = { 'user-agent': 'tracejury', ...backend.headers(own), ...settings.headers, accept: 'application/json' };
  return ({ method, path: whole, body }) => {
    const [path = '', query] = whole.split('?');
    return {
      method,
      url: `${own.endpoint}${path}`,
      ...(query === undefined ? {} : { query }),
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body }),
    };
  };
}

function caller(
  requestOf: (request: ScoreApiRequest) => PlannedRequest,
  { tls, timeoutMs }: ExporterSettings,
): { readonly call: ScoreApiCall; stop(): void } {
  const client = httpClient({ tls, timeoutMs });
  return {
    call: (request) => {
      const { method, url: address, query, headers, body } = requestOf(request);
      const { answerBytesMax } = request;
      const url = query === undefined ? address : `${address}?${query}`;
      return client.send(
        { ...(answerBytesMax === undefined ? {} : { answerBytesMax }), method, url, headers },
        Buffer.from(body === undefined ? '' : jsonText(body)),
      );
    },
    stop: client.stop,
  };
}

/** When the outcome names the failed scores, runs without one of them are sent. */
function outcomesOf(
  { only, ...outcome }: ScoreApiOutcome,
  lists: readonly (readonly ScoreApiScore[])[],
): ExportOutcome | readonly ExportOutcome[] {
  return only === undefined ? outcome : lists.map((scores) => (scores.some(({ id }) => only.has(id)) ? outcome : { kind: 'sent' }));
}

async function written(
  backend: ScoreApiBackend,
  scores: readonly ScoreApiScore[],
  call: ScoreApiCall,
  account: ScoreApiAccount,
): Promise<ScoreApiOutcome> {
  try {
    const outcome = await backend.write(scores, call, account);
    if (outcome.kind === 'failed') account.known.clear();
    return refusalNamed(outcome, credentialsOf(backend));
  } catch (error) {
    return unexpectedFailure(error);
  }
}

const credentials = ['public_key', 'user', 'api_key'] as const;

function credentialsOf({ keys }: ScoreApiBackend): readonly string[] {
  return credentials.filter((name) => keys[name] !== undefined);
}

interface Planning {
  readonly backend: ScoreApiBackend;
  readonly items: readonly ExportItem[];
  readonly own: ScoreApiSettings;
  readonly requestOf: (request: ScoreApiRequest) => PlannedRequest;
}

async function planned({ backend, items, own, requestOf }: Planning): Promise<readonly PlannedRequest[]> {
  const requests: PlannedRequest[] = [];
  const call: ScoreApiCall = async (request) => {
    requests.push(requestOf(request));
    return { kind: 'answered', status: 200, body: Buffer.from(jsonText(backend.supposed?.(request) ?? {})) };
  };
  const account: ScoreApiAccount = { ...own, known: new Map() };
  for (const some of chunks(
    items.map(scoreApiScores).filter((scores) => scores.length > 0),
    backend.itemsPerRequest,
  ))
    await backend.write(some.flat(), call, account);
  return requests;
}

/** Exporters for backends with scores of their own: connections, headers and what goes together are the same for all of them. */
import http from 'node:http';
import https from 'node:https';
import { JuryError } from '../model/errors.ts';
import { jsonText } from '../model/json.ts';
import type { Exporter, ExportOutcome } from './exporter.ts';
import type { NativeBackend, NativeCall, NativeSettings } from './native-backend.ts';
import { nativeScores, type NativeScore } from './native-score.ts';
import { post } from './post.ts';
import type { ExporterSettings } from './settings.ts';
import { together } from './together.ts';

type MakeExporter = (settings: ExporterSettings) => Exporter;

const timeoutMsDefault = 10_000;
const requestsMax = 4;

export function nativeExporter(backend: NativeBackend): MakeExporter {
  return (settings) => {
    const own = nativeSettings(backend, settings);
    const { call, stop } = caller(backend, own, settings);
    const { itemsPerRequest: itemsMax } = backend;
    const sendTogether = together<readonly NativeScore[]>({ itemsMax, requestsMax, send: (lists) => written(backend, lists.flat(), call, own) });
    return {
      id: backend.id,
      itemsAtOnce: itemsMax * requestsMax,
      async send(item) {
        try {
          const scores = nativeScores(item);
          return scores.length === 0 ? { kind: 'sent' } : await sendTogether(scores);
        } catch (error) {
          return unwritable(error);
        }
      },
      async stop() {
        stop();
      },
    };
  };
}

function nativeSettings(backend: NativeBackend, { endpoint = backend.endpoint.preset, keys = {} }: ExporterSettings): NativeSettings {
  if (endpoint === undefined) throw new JuryError('CONFIG_INVALID', `The exporter ${backend.id} has no endpoint.`);
  return { endpoint: endpoint.replace(/\/+$/, ''), keys };
}

function caller(backend: NativeBackend, own: NativeSettings, settings: ExporterSettings): { readonly call: NativeCall; stop(): void } {
  const isTls = own.endpoint.startsWith('https:');
  const agent = isTls ? new https.Agent({ keepAlive: true, ...settings.tls }) : new http.Agent({ keepAlive: true });
  const common = { timeoutMs: settings.timeoutMs ?? timeoutMsDefault, request: isTls ? https.request : http.request, agent };
  const headers = { 'user-agent': 'tracejury', ...backend.headers(own), ...settings.headers };
  return {
    call: ({ method, path, body, answerBytesMax }) => post({ ...common, ...(answerBytesMax === undefined ? {} : { answerBytesMax }), method, url: `${own.endpoint}${path}`, headers: { ...headers, accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) } }, Buffer.from(body === undefined ? '' : jsonText(body))),
    stop: () => agent.destroy(),
  };
}

async function written(backend: NativeBackend, scores: readonly NativeScore[], call: NativeCall, own: NativeSettings): Promise<ExportOutcome> {
  try {
    return await backend.write(scores, call, own);
  } catch (error) {
    return unwritable(error);
  }
}

function unwritable(error: unknown): ExportOutcome {
  return { kind: 'failed', retryable: false, error: error instanceof Error ? error.name : 'unknown' };
}

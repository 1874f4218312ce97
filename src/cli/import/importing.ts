/** Reads the spans of a backend page by page and sends each page to the service before it asks for the next one. */
import { type HttpClient, type HttpHeaders } from '../../http/http-client.ts';
import type { Sleep } from '../../model/clock.ts';
import { type JsonObject, jsonText, parseJson, objectsAt } from '../../model/json.ts';
import { recentMap } from '../../model/recent-map.ts';
import { backoffMs } from '../../runtime/retry.ts';
import { failureText, type OtlpBody, postAll, type PostOptions } from '../post-otlp.ts';
import { type Ask, ImportFault, type ImportBackend, type Query, type Wanted } from './backends/backend.ts';

export interface Importing {
  readonly backend: ImportBackend;
  readonly ask: Ask;
  readonly wanted: Wanted;
  /** Undefined: from the beginning. */
  readonly cursor: string | undefined;
  readonly service: PostOptions;
  /** Most spans a second. */
  readonly rate: number;
  readonly sleep: Sleep;
  readonly nowMs: () => number;
  /** Called when the service has acknowledged a page. `next`: the cursor of the next one. */
  readonly onPage: (spans: number, next: string | undefined) => void;
}

/** Spans of one request, and its bytes. A block is never divided. */
const blocksOfRequest = 200;
const bytesOfRequest = 1024 * 1024;
/** Traces that are known to be sent; one that is forgotten is sent again. */
const tracesKnownMax = 100_000;
/** More pages than these are a backend that gives the same cursor for ever. */
const pagesMax = 1_000_000;
/** A service that has taken a page may be away for a minute. */
const restartRestMs = 1_000;
const restartRestsMax = 60;

/** Resolves when the service has all spans of the period. Rejects with an ImportFault; `onPage` has had what was acknowledged before. */
export async function imported({ backend, ask, wanted, rate, sleep, nowMs, onPage, service, ...from }: Importing): Promise<void> {
  let { cursor } = from;
  const known = recentMap<string, true>(tracesKnownMax);
  const traces = {
    has: known.has,
    add(trace: string) {
      known.set(trace, true);
    },
  };
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await backend.page(ask, wanted, cursor, traces);
    const startMs = nowMs();
    await sent(page.blocks, service, { sleep, restsMax: pages === 0 ? 0 : restartRestsMax });
    const spans = page.blocks.reduce((sum, one) => sum + spansIn(one), 0);
    if (page.next === cursor && cursor !== undefined) throw new ImportFault(`${backend.title} gives the same page again.`);
    onPage(spans, page.next);
    if (page.next === undefined) return;
    cursor = page.next;
    const leftMs = (spans / rate) * 1_000 - (nowMs() - startMs);
    if (leftMs > 0) await sleep(leftMs);
  }
  throw new ImportFault(`${backend.title} has more than ${pagesMax} pages. Import a shorter period.`);
}

/** A service that starts again keeps what it has, and takes a page once more as spans that it knows. */
async function sent(
  blocks: readonly JsonObject[],
  service: PostOptions,
  { sleep, restsMax }: { readonly sleep: Sleep; readonly restsMax: number },
): Promise<void> {
  for (let rests = 0; ; rests++) {
    const end = await postAll(requests(blocks), service);
    if (end.kind === 'sent') return;
    if (end.kind === 'refused') throw new ImportFault(`The service refuses the spans: ${end.why}`);
    if (rests === restsMax)
      throw new ImportFault(
        end.isListening ? `The service does not answer (${end.why}).` : `Nothing listens at ${service.url}. Start the service first.`,
      );
    await sleep(restartRestMs);
  }
}

function* requests(blocks: readonly JsonObject[]): Generator<OtlpBody> {
  let [texts, bytes]: [string[], number] = [[], 0];
  const body = (): OtlpBody => ({ contentType: 'application/json', body: Buffer.from(`{"resourceSpans":[${texts.join(',')}]}`) });
  for (const block of blocks) {
    const text = jsonText(block);
    if (texts.length > 0 && (texts.length >= blocksOfRequest || bytes + text.length > bytesOfRequest)) {
      yield body();
      [texts, bytes] = [[], 0];
    }
    texts.push(text);
    bytes += text.length;
  }
  if (texts.length > 0) yield body();
}

function spansIn(block: JsonObject): number {
  return objectsAt(block, 'scopeSpans').reduce((sum, scope) => sum + objectsAt(scope, 'spans').length, 0);
}

const askTimeoutMs = 60_000;
const answerBytesMax = 256 * 1024 * 1024;
const attemptsMax = 6;
const firstRestMs = 500;
const saidCharsMax = 200;

interface Asked {
  readonly http: HttpClient;
  readonly title: string;
  /** Without a slash at the end. */
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly sleep: Sleep;
}

/** Asks a backend over HTTP. An answer of 429 or 5xx, or none, is asked for again within bounds. */
export function askBackend({ http, title, url, headers, sleep }: Asked): Ask {
  return async (path, { query = {}, body } = {}) => {
    for (let attempt = 1; ; attempt++) {
      const answer = await http.send({
        method: body === undefined ? 'GET' : 'POST',
        url: `${url}${path}${queryText(query)}`,
        headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: Buffer.from(jsonText(body)) }),
        timeoutMs: askTimeoutMs,
        answerBytesMax,
      });
      const fault = faultOf(answer, title, path);
      if (fault === undefined && answer.kind === 'answered') {
        const parsed = parseJson(answer.body.toString());
        if (parsed === undefined) throw new ImportFault(`${title} answers ${path} with something that is not JSON.`);
        return parsed;
      }
      const mayPass = answer.kind === 'unanswered' || answer.status === 429 || answer.status >= 500;
      if (!mayPass || attempt === attemptsMax) throw new ImportFault(fault ?? `${title} does not answer.`);
      await sleep(backoffMs(attempt, { firstRestMs }));
    }
  };
}

function faultOf(answer: Awaited<ReturnType<HttpClient['send']>>, title: string, path: string): string | undefined {
  if (answer.kind === 'unanswered') return `${title} cannot be reached (${failureText(answer)}). Check --url.`;
  const { status, body, isCut } = answer;
  if (isCut) return `${title} answers ${path} with more than ${answerBytesMax / 1024 / 1024} MiB. Import a shorter period.`;
  if (status >= 200 && status < 300) return undefined;
  if (status === 401 || status === 403)
    return `${title} answers ${status}. Give its key in TRACEJURY_IMPORT_HEADERS, such as authorization=Bearer%20KEY.`;
  const said = body.toString().slice(0, saidCharsMax).replaceAll(/\s+/g, ' ').trim();
  return `${title} answers ${path} with ${status}${said === '' ? '' : `: ${said}`}`;
}

function queryText(query: Query): string {
  const text = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) text.set(key, String(value));
  return text.size === 0 ? '' : `?${text.toString()}`;
}

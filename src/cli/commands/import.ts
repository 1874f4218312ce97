/** `tracejury import`: sends the spans that a tracing backend already has through the service. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { environmentHeaders, environmentPairs } from '../../config/entries/address.ts';
import { httpClient } from '../../http/http-client.ts';
import { timeText } from '../../model/timestamp.ts';
import { clock, sleep } from '../../service/node-runtime.ts';
import { addressOption, type CommandInput, type CommandProgram, type ExitCode, textOption, UsageError } from '../command.ts';
import { ImportFault, nanos } from '../import/backends/backend.ts';
import { importBackends } from '../import/backends/index.ts';
import { askBackend, imported } from '../import/importing.ts';
import { type ImportProgress, readProgress, writeProgress } from '../import/progress-file.ts';
import { parseTime } from '../run-filter.ts';

const names = Object.keys(importBackends).join(', ');
const endpointDefault = 'http://127.0.0.1:4318';
const sinceDefault = '24h';
const rateDefault = 1_000;
const rateMax = 100_000;
/** The service is full for a while when an import is faster than its judges and its disk. */
const triesMax = 60;
/** Spans come late to a backend, so a next import begins before the end of the last one. */
const overlapMicros = 3_600_000_000;

export const importSpans: CommandProgram = {
  examples: [
    { does: 'Scores what Phoenix has of the last day:', line: 'tracejury import --from phoenix --url http://127.0.0.1:6006' },
    {
      does: 'Scores a week of one service from Jaeger, 200 spans a second:',
      line: 'tracejury import --from jaeger --url http://127.0.0.1:16686 --project support --since 168h --rate 200',
    },
  ],
  options: {
    from: { type: 'string', value: 'BACKEND', summary: `reads spans of this backend: ${names}` },
    url: { type: 'string', value: 'URL', summary: 'the address of the backend; TRACEJURY_IMPORT_HEADERS has headers such as its key' },
    project: { type: 'string', value: 'NAME', summary: 'a project of Phoenix, an experiment id of MLflow, a service of Jaeger or Tempo' },
    since: {
      type: 'string',
      value: 'TIME',
      summary: `imports spans that began since this time, such as 24h or 2026-01-31 (default: where the last import ended, else ${sinceDefault})`,
    },
    until: { type: 'string', value: 'TIME', summary: 'imports spans that began before this time (default: now)' },
    endpoint: { type: 'string', value: 'URL', summary: `sends OTLP over HTTP to this URL (default: ${endpointDefault})` },
    rate: { type: 'string', value: 'N', summary: `sends at most this number of spans a second (default: ${rateDefault})` },
    state: {
      type: 'string',
      value: 'FILE',
      summary: 'keeps in this file how far the import is (default: a file for each backend and project in tracejury-data/imports)',
    },
  },
  positionalsMax: 0,
  async run(input: CommandInput): Promise<ExitCode> {
    const { env, say, complain } = input;
    const from = textOption(input, 'from');
    const backend = from !== undefined && Object.hasOwn(importBackends, from) ? importBackends[from] : undefined;
    if (backend === undefined) throw new UsageError(`--from takes the name of a backend: ${names}.`);
    const url = addressOption(input, 'url', 'an address');
    if (url === undefined) throw new UsageError(`--url takes an address, that of ${backend.title}.`);
    const endpoint = addressOption(input, 'endpoint', 'an address') ?? endpointDefault;
    const project = textOption(input, 'project');
    if (project === undefined && backend.project.isNeeded)
      throw new UsageError(`--project takes the ${backend.project.noun} of ${backend.title}.`);
    const file = textOption(input, 'state') ?? stateFile(String(from), url, project, endpoint);
    const begun = periodOf(input, readProgress(file));
    let { spans } = begun;
    if (begun.cursor !== undefined) say(`The import goes on after ${spans} spans (${file}).`);
    const http = httpClient();
    try {
      await imported({
        backend,
        ask: askBackend({ http, title: backend.title, url, headers: environmentPairs(env['TRACEJURY_IMPORT_HEADERS'] ?? ''), sleep }),
        wanted: { project, from: begun.from, to: begun.to },
        cursor: begun.cursor,
        service: { url: `${endpoint}/v1/traces`, headers: environmentHeaders('traces', env), sleep, triesMax },
        rate: rateOf(input),
        sleep,
        nowMs: clock.nowMs,
        onPage(count, next) {
          spans += count;
          writeProgress(file, { ...begun, cursor: next, spans, isDone: next === undefined });
        },
      });
    } catch (error) {
      if (!(error instanceof ImportFault)) throw error;
      complain(`${error.message}${spans === 0 ? '' : ` ${spans} spans are imported; the same command goes on after them.`}`);
      return 2;
    } finally {
      http.stop();
    }
    const period = [begun.from, begun.to].map((micros) => timeText(nanos(micros))).join(' to ');
    say(
      spans === 0
        ? `${backend.title} has no spans from ${period}.`
        : `${spans} spans from ${period} are imported. The console shows their runs.`,
    );
    return 0;
  },
};

/** Goes on with an import of the same options that did not end. */
function periodOf(input: CommandInput, last: ImportProgress | undefined): ImportProgress {
  const nowMs = clock.nowMs();
  const [since, until] = [textOption(input, 'since'), textOption(input, 'until')];
  const asked = JSON.stringify([since ?? null, until ?? null]);
  if (last !== undefined && !last.isDone && last.asked === asked) return last;
  const to = until === undefined ? Math.floor(nowMs * 1_000) : parseTime(until, 'until', nowMs);
  const from = since === undefined && last !== undefined ? last.to - overlapMicros : parseTime(since ?? sinceDefault, 'since', nowMs);
  if (from >= to) throw new UsageError('--since has to be before --until.');
  return { asked, from, to, cursor: undefined, spans: 0, isDone: false };
}

function rateOf(input: CommandInput): number {
  const text = textOption(input, 'rate') ?? String(rateDefault);
  if (!/^\d{1,6}$/.test(text) || Number(text) < 1 || Number(text) > rateMax)
    throw new UsageError(`--rate takes a number of spans a second from 1 to ${rateMax}.`);
  return Number(text);
}

function stateFile(from: string, url: string, project: string | undefined, endpoint: string): string {
  const key = createHash('sha256')
    .update(JSON.stringify([url, project ?? null, endpoint]))
    .digest('hex')
    .slice(0, 12);
  return join('tracejury-data', 'imports', `${from}-${key}.json`);
}

/**
 * `npm run bench -- console`: the console over a store of many runs. Each request that a page makes, p50 and p95; each page cold, until its data stands;
 * scripts and styles compressed; frames while a run of 5,000 spans scrolls, by Chromium's trace.
 *
 *   --runs N (300000)   --requests N (40) of each address   --without-browser
 *   --store FILE that stays and is filled when it is missing, or URL of an empty database of PostgreSQL, which gets copies of 20,000 runs over 30 days
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import type { Span } from '../../../src/model/span.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { postgresStore } from '../../../src/stores/postgres/postgres-store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { configFrom } from '../../builders/stored-runs.ts';
import { pageAddresses, type Places, runPath } from '../../console/browser/addresses.ts';
import { chromiumPath, launched, noChromium } from '../../console/browser/chromium.ts';
import { spansOfStory } from '../../console/browser/runs/agent-run.ts';
import { largeAgent, largeSpans, largeStory } from '../../console/browser/runs/stories.ts';
import { settled, watchedPage } from '../../console/browser/watched-page.ts';
import { builtConsole, sentSlowly } from '../../console/browser/world.ts';
import { runnerArguments } from '../../runner-arguments.ts';
import { quantile } from '../overload/conditions.ts';
import { filledStore } from '../replay/filled-store.ts';
import { measured } from '../server.ts';
import { framesWhileScrolling } from './frames.ts';
import { multiplied } from './many-runs.ts';

const { values } = runnerArguments({
  options: {
    runs: { type: 'string', default: '300000' },
    requests: { type: 'string', default: '40' },
    store: { type: 'string' },
    'without-browser': { type: 'boolean', default: false },
  },
});
const [runs, requests] = [Number(values.runs), Number(values.requests)];
const temporary = mkdtempSync(join(tmpdir(), 'tracejury-console-bench-'));
const file = values.store ?? join(temporary, 'tracejury.db');
const isDatabase = file.startsWith('postgres:');
const closeMs = 8_000;
const largeTrace = 77;
/** Rows from the store: more than any page asks for. */
const storeDays = 3_650;
/** Rows of a database: scored runs that are copied by the database, and the days over which the copies are spread. */
const copiedRuns = 20_000;
const spread = { days: 30, contentDays: 7 } as const;

try {
  builtConsole();
  if (isDatabase ? await isEmpty() : !existsSync(file)) await fill();
  const config = join(temporary, 'tracejury.yaml');
  writeFileSync(
    config,
    `store: { url: "${isDatabase ? file : `sqlite:${file}`}", keep: { runs: ${storeDays}d, content: ${storeDays}d } }\njournal: { url: "disk:${join(isDatabase ? temporary : dirname(file), 'journal')}" }\nlisten: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }\n`,
  );
  const service = await measured('../../src/cli/main.ts', ['serve', '-c', config], { lastLine: /^Evaluators/m, asStarted: true });
  try {
    await bench(service.consoleUrl ?? '', service.otlpUrl);
  } finally {
    await service.stop();
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

async function isEmpty(): Promise<boolean> {
  const store = await postgresStore(file);
  const { runs: stored } = await store.usage();
  await store.stop();
  return stored === 0;
}

async function fill(): Promise<void> {
  const startMs = performance.now();
  const store = isDatabase ? await postgresStore(file) : await sqliteStore(file);
  const first = isDatabase ? Math.min(runs, copiedRuns) : runs;
  let stored = await filledStore(store, configFrom('evaluators: [ defaults ]'), { runs: first, before: Date.now() * 1_000 });
  if (isDatabase) {
    while ((await store.indexTexts({ runsMax: 50, charsMax: 20_000 })).more);
    await multiplied(file, { runs, ...spread }, (now) => (stored = now));
    console.log(`${stored} runs in ${((performance.now() - startMs) / 1_000).toFixed(0)} s, without sums`);
  }
  // As a service leaves them: it sums in the background, which would take the thread of the store from the requests.
  const now = Date.now() * 1_000;
  const keepFrom = now - storeDays * 86_400_000_000;
  let idle = 0;
  while (idle < 2) idle = (await store.versions.refresh({ now, keepFrom })) ? 0 : idle + 1;
  await store.stop();
  console.log(`${stored} runs stored in ${((performance.now() - startMs) / 1_000).toFixed(0)} s`);
}

interface ApiRun {
  readonly trace_id: string;
  readonly span_id: string;
  readonly agent: string | null;
  readonly session_id: string | null;
}

async function bench(console_: string, otlp: string): Promise<void> {
  const spans = spansOfStory(largeStory(largeSpans), { trace: largeTrace, startMs: Date.now() - 3_600_000 });
  await sentSlowly({ send: (some) => sendTo(otlp, some) }, spans);
  await new Promise((resolve) => setTimeout(resolve, closeMs));
  const { runs: newest } = (await (await fetch(`${console_}/api/v1/runs?limit=200`)).json()) as { readonly runs: readonly ApiRun[] };
  const own = newest.find(({ agent }) => agent !== null && agent !== largeAgent);
  const large = newest.find(({ agent }) => agent === largeAgent);
  if (own === undefined || large === undefined) throw new Error('the store has no run of an agent, or the large run did not come');
  const { issues } = (await (await fetch(`${console_}/api/v1/issues?limit=1`)).json()) as {
    readonly issues: readonly { readonly id: string }[];
  };
  const places: Places = {
    issue: issues[0]?.id ?? 'none',
    run: { trace: own.trace_id, span: own.span_id },
    agent: own.agent ?? '',
    session: newest.find(({ session_id }) => session_id !== null)?.session_id ?? 'none',
  };
  const pages = [...pageAddresses(places), { name: 'run of 5,000 spans', path: runPath({ trace: large.trace_id, span: large.span_id }) }];
  const chromium = values['without-browser'] ? undefined : chromiumPath(process.env);
  if (chromium === undefined) {
    console.log(values['without-browser'] ? 'without a browser' : noChromium);
    return;
  }
  const browser = await launched(chromium);
  try {
    const addresses = await coldPages(browser, console_, pages);
    await sizes(console_, addresses.assets);
    await requested(console_, addresses.api);
    const watched = await watchedPage(browser, { console: console_ });
    await watched.open(pages.at(-1)?.path ?? '/');
    await framesWhileScrolling(browser, watched.page, (line) => console.log(line));
    await watched.close();
  } finally {
    await browser.close();
  }
}

async function sendTo(otlp: string, spans: readonly Span[]): Promise<number> {
  const body = new Uint8Array(writeTraces(spans, 'protobuf'));
  return (await fetch(`${otlp}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/x-protobuf' }, body })).status;
}

interface Addresses {
  readonly assets: ReadonlySet<string>;
  /** Times by page. */
  readonly api: ReadonlyMap<string, string>;
}

/** Each page in a browser that has seen nothing. */
async function coldPages(
  browser: Browser,
  console_: string,
  pages: readonly { readonly name: string; readonly path: string }[],
): Promise<Addresses> {
  const assets = new Set<string>();
  const api = new Map<string, string>();
  console.log(`\n| page, cold | first text ms | data stands ms | requests | load |\n|---|---|---|---|---|`);
  for (const { name, path } of pages) {
    const watched = await watchedPage(browser, { console: console_ });
    let asked = 0;
    watched.page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      asked++;
      if (pathname.startsWith('/api/')) api.set(`${pathname}${search}`, api.get(`${pathname}${search}`) ?? name);
      else if (/\.(js|css|svg|woff2)$/.test(pathname)) assets.add(pathname);
    });
    const startMs = performance.now();
    await watched.page.goto(`${console_}${path}`, { waitUntil: 'load' });
    await settled(watched.page);
    const dataMs = performance.now() - startMs;
    const paint = await watched.page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1");
    console.log(
      `| ${name} | ${paint.toFixed(0)} | ${dataMs.toFixed(0)} | ${asked} | ${loadavg()[0]?.toFixed(1)} | ${watched.faults().join('; ').slice(0, 200)}`,
    );
    await watched.close();
  }
  return { assets, api };
}

async function sizes(console_: string, assets: ReadonlySet<string>): Promise<void> {
  console.log('\n| file | bytes | gzip | brotli |\n|---|---|---|---|');
  const sums = { bytes: 0, gzip: 0, brotli: 0 };
  for (const asset of [...assets].toSorted()) {
    const bytes = Buffer.from(await (await fetch(`${console_}${asset}`)).arrayBuffer());
    const [gzip, brotli] = [gzipSync(bytes).length, brotliCompressSync(bytes).length];
    if (asset.endsWith('.js')) [sums.bytes, sums.gzip, sums.brotli] = [sums.bytes + bytes.length, sums.gzip + gzip, sums.brotli + brotli];
    console.log(`| ${asset} | ${bytes.length} | ${gzip} | ${brotli} |`);
  }
  console.log(`| all scripts | ${sums.bytes} | ${sums.gzip} | ${sums.brotli} |`);
}

async function requested(console_: string, addresses: ReadonlyMap<string, string>): Promise<void> {
  console.log('\n| request | of the page | p50 ms | p95 ms | max ms | KiB | load |\n|---|---|---|---|---|---|---|');
  for (const [address, page] of addresses) {
    if (address.startsWith('/api/v1/runs/live')) continue;
    const tookMs: number[] = [];
    let bytes = 0;
    for (let nth = 0; nth < requests; nth++) {
      const startMs = performance.now();
      const answer = await fetch(`${console_}${address}`);
      bytes = (await answer.arrayBuffer()).byteLength;
      tookMs.push(performance.now() - startMs);
      if (!answer.ok) break;
    }
    const [p50, p95, max] = [0.5, 0.95, 1].map((share) => quantile(tookMs, share).toFixed(1));
    console.log(`| ${address} | ${page} | ${p50} | ${p95} | ${max} | ${(bytes / 1_024).toFixed(0)} | ${loadavg()[0]?.toFixed(1)} |`);
  }
}

/** Hostile texts in every field of spans, in annotations, datasets and addresses: nothing runs, loads, moves or hides, and each text is shown as text. */
import type { Browser } from 'playwright-core';
import { writeLogsJson, writeTraces } from '../../../../src/otlp/write/write.ts';
import { serviceFolder, type ServiceProcess } from '../../../service/process.ts';
import { eventually } from '../../../service/running.ts';
import { isRegistered } from '../addresses.ts';
import { payloads } from '../hostile/payloads.ts';
import { type HostileRun, hostileRun } from '../hostile/spans.ts';
import type { Tally } from '../tally.ts';
import { usable, watchedPage, type WatchedPage } from '../watched-page.ts';
import type { Suite } from './suite.ts';

const lists = [
  '/',
  '/runs',
  '/sessions',
  '/tools',
  '/evaluators',
  '/judges',
  '/queues',
  '/datasets',
  '/datasets/hostile',
  '/experiments',
  '/settings',
];
/** Filters of the pages, all at once. */
const filters = ['agent', 'service', 'session', 'version', 'model', 'tool', 'label', 'text', 'evaluator', 'from', 'cursor', 'queue', 'a'];
/** All filters together fit into the bound of the service on an address, also as nine bytes a character. */
const filterCharsMax = 100;
const quickRuns = 4;
const minuteMs = 60_000;
const patience = { everyMs: 100, looksMax: 900 } as const;

export const hostileSuite: Suite = {
  name: 'hostile texts',
  isQuick: true,
  async run({ browser, tally, quick }) {
    const folder = serviceFolder();
    try {
      const service = await folder.start();
      const startMs = Date.now() - payloads.length * minuteMs;
      const runs = payloads.map((_, nth) => hostileRun(nth, { trace: nth + 1, startMs: startMs + nth * minuteMs }));
      await filled(service, runs);
      await opened({ browser, tally, console: service.console, runs: quick ? everyNth(runs, quickRuns) : runs });
    } finally {
      await folder.remove();
    }
  },
};

interface Opening {
  readonly browser: Browser;
  readonly tally: Tally;
  readonly console: string;
  readonly runs: readonly HostileRun[];
}

async function opened({ browser, tally, console, runs }: Opening): Promise<void> {
  const watched = await watchedPage(browser, { console, expectedStatuses: [400, 404] });
  const harmless = (name: string, path: string, shown: readonly string[] = []): Promise<void> =>
    tally.attempt(name, async () => {
      await watched.open(path);
      await hovered(watched);
      const faults = [
        ...(await usable(watched.page, { mayFail: true })),
        ...(await moved(watched, console, path)),
        ...(isRegistered(path) ? await unshown(watched, shown) : []),
      ];
      return [...faults, ...watched.faults()];
    });
  for (const path of lists.filter(isRegistered)) await harmless(`hostile texts on ${path}`, path);
  for (const { trace, payloadIn } of runs) {
    const of = (field: Parameters<typeof payloadIn>[0]): string => payloadIn(field).text;
    const named = payloadIn('user_message').name;
    const run = `/runs/${hex(trace, 32)}/${hex(1, 16)}`;
    await harmless(`a run whose input is: ${named}`, run, [of('user_message')]);
    await harmless(`a run whose system message is: ${payloadIn('system_message').name}`, `${run}?selected=${hex(1, 16)}`);
    await harmless(`a run whose model is: ${payloadIn('model').name}`, `${run}?selected=${hex(2, 16)}`);
    await harmless(`a conversation whose answer is: ${payloadIn('answer').name}`, `${run}?view=conversation`, [of('answer')]);
    await harmless(`a session whose id is: ${payloadIn('session').name}`, `/sessions/${segment(of('session'))}`);
    await harmless(`an agent whose name is: ${payloadIn('agent_name').name}`, `/agents/${segment(of('agent_name'))}`);
    const query = filters.map((filter) => `${filter}=${component(of('attribute_value').slice(0, filterCharsMax))}`).join('&');
    await harmless(`filters that say: ${payloadIn('attribute_value').name}`, `/runs?${query}#${component(of('result'))}`);
    await harmless(`an address that says: ${payloadIn('result').name}`, `/nowhere/${segment(of('result'))}`);
  }
  await watched.close();
}

function everyNth<Item>(items: readonly Item[], count: number): readonly Item[] {
  const step = Math.ceil(items.length / count);
  return items.filter((_, at) => at % step === 0);
}

async function filled(service: ServiceProcess, runs: readonly HostileRun[]): Promise<void> {
  const json = { 'content-type': 'application/json' };
  // JSON carries what protobuf cannot: lone surrogates.
  const send = async (path: string, body: Buffer): Promise<void> => {
    const answer = await fetch(`${service.otlp}${path}`, { method: 'POST', headers: json, body: new Uint8Array(body) });
    if (!answer.ok) throw new Error(`${answer.status} for ${path}: ${await answer.text()}`);
  };
  for (const { records, spans } of runs) {
    await send('/v1/logs', writeLogsJson(records));
    await send('/v1/traces', writeTraces(spans, 'json'));
  }
  await eventually(async () => ((await service.runs()).length >= runs.length ? true : undefined), 'the hostile runs are stored', patience);
  const annotations = runs.map(({ trace, payloadIn }) => ({
    trace_id: hex(trace, 32),
    name: 'quality',
    by: payloadIn('agent_name').text.slice(0, 200),
    label: payloadIn('tool_name').text.slice(0, 200),
    explanation: payloadIn('answer').text.slice(0, 4_000),
  }));
  const change = (path: string, body: object): Promise<Response> =>
    fetch(`${service.console}/api/v1${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) });
  const said = await change('/annotations', { annotations });
  if (!said.ok) throw new Error(`${said.status} for the annotations: ${await said.text()}`);
  const added = await change('/datasets/hostile/examples', {
    runs: runs.map(({ trace }) => ({ trace_id: hex(trace, 32) })),
    by: payloads[0]?.text,
    note: payloads[1]?.text,
    tags: payloads.slice(0, 20).map(({ text }) => text.slice(0, 100)),
  });
  if (!added.ok) throw new Error(`${added.status} for the dataset: ${await added.text()}`);
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0');
}

/** Lone surrogates have no encoding in an address. */
function component(text: string): string {
  return encodeURIComponent(text.slice(0, 300).toWellFormed());
}

/** A browser resolves dots itself, however they are encoded. */
function segment(text: string): string {
  return /^\.{1,2}$/.test(text) ? 'dots' : component(text);
}

/** Event handlers that wait for the pointer. */
async function hovered({ page }: WatchedPage): Promise<void> {
  for (const [x, y] of [
    [300, 200],
    [640, 300],
    [640, 450],
    [900, 600],
  ] as const)
    await page.mouse.move(x, y);
}

async function moved({ page }: WatchedPage, console: string, path: string): Promise<readonly string[]> {
  const own = new URL(path, console).pathname;
  const now = new URL(page.url());
  const globals = await page.evaluate<boolean>('({}).polluted === undefined && typeof document.cookie === "string"');
  return [
    ...(now.origin === new URL(console).origin && now.pathname === own ? [] : [`the page has gone to ${now.href}`]),
    ...(globals ? [] : ['a text changed the objects of the page']),
  ];
}

/** Texts of which no part stands on the page as text. */
async function unshown({ page }: WatchedPage, texts: readonly string[]): Promise<readonly string[]> {
  if (texts.length === 0) return [];
  const found = plain(await page.evaluate<string>("document.querySelector('main').textContent"));
  return texts.filter((text) => !found.includes(plain(text).slice(0, 60))).map((text) => `not shown as text: ${text.slice(0, 100)}`);
}

/** Pages may mark control characters, and fold spaces. */
function plain(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, '');
}

/** Hostile texts in every field of spans, in annotations, datasets and addresses: nothing runs, loads, moves or hides, and each text is shown as text. */
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { writeLogsJson, writeTraces } from '../../../../src/otlp/write/write.ts';
import { serviceFolder, type ServiceProcess } from '../../../service/process.ts';
import { eventually } from '../../../service/running.ts';
import { isRegistered } from '../addresses.ts';
import { payloads } from '../hostile/payloads.ts';
import { hostileConfiguration, hostileExperiments, hostileNames, saidText } from '../hostile/said.ts';
import { type HostileRun, hostileRun } from '../hostile/spans.ts';
import type { Tally } from '../tally.ts';
import { usable, watchedPage, type WatchedPage } from '../watched-page.ts';
import type { Suite } from './suite.ts';

const lists = [
  '/',
  '/runs',
  '/sessions',
  '/issues',
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
const queuePerson = '<b>ann</b>';
const minuteMs = 60_000;
/** For texts that come after the page has its data. */
const looksMax = 40;
const lookMs = 50;
const patience = { everyMs: 100, looksMax: 900 } as const;

export const hostileSuite: Suite = {
  name: 'hostile texts',
  isQuick: false,
  async run({ browser, tally }) {
    const folder = serviceFolder();
    try {
      folder.configure(hostileConfiguration());
      const service = await folder.start();
      const startMs = Date.now() - payloads.length * minuteMs;
      const runs = payloads.map((_, nth) => hostileRun(nth, { trace: nth + 1, startMs: startMs + nth * minuteMs }));
      await filled(service, runs);
      const experiments = await hostileExperiments(join(folder.path, 'store.db'), runs, startMs);
      const about = runs.map((run, nth): Visited => ({ run, nth, experiment: experiments[nth] ?? '', before: experiments[nth - 1] }));
      const opening = { browser, tally, console: service.console };
      await opened({ ...opening, visited: about });
      await namesOpened(opening);
    } finally {
      await folder.remove();
    }
  },
};

/** A run with what people and programs say about it. */
interface Visited {
  readonly run: HostileRun;
  readonly nth: number;
  /** Id of its experiment, and of the one before it. */
  readonly experiment: string;
  readonly before: string | undefined;
}

interface Opening {
  readonly browser: Browser;
  readonly tally: Tally;
  readonly console: string;
  readonly visited: readonly Visited[];
}

/** Lists are read in a window that has all their rows on screen. The pages of runs are divided between two windows. */
async function opened({ visited, ...opening }: Opening): Promise<void> {
  await listsOpened(opening);
  await Promise.all([
    ...[0, 1].map((half) => runsOpened({ ...opening, visited: visited.filter((_, at) => at % 2 === half) })),
    itemsAnswered({ ...opening, visited }),
  ]);
}

async function listsOpened({ browser, tally, console }: Omit<Opening, 'visited'>): Promise<void> {
  const watched = await watchedPage(browser, { console, height: 6_000, expectedStatuses: [400, 404] });
  for (const path of lists.filter(isRegistered))
    await tally.attempt(`hostile texts on ${path}`, async () => {
      await watched.open(path);
      return await harmFaults(watched, console, path);
    });
  const { issues } = (await (await fetch(`${console}/api/v1/issues?limit=100`)).json()) as {
    readonly issues: readonly { readonly id: string; readonly title: string }[];
  };
  tally.check('hostile runs make issues', issues.length > 0 ? [] : ['there is no issue']);
  for (const { id, title } of issues)
    await tally.attempt(`an issue with hostile texts: ${title}`, async () => {
      await watched.go(`/issues/${id}`);
      return await harmFaults(watched, console, `/issues/${id}`, [title]);
    });
  await watched.close();
}

async function runsOpened({ browser, tally, console, visited }: Opening): Promise<void> {
  const watched = await watchedPage(browser, { console, expectedStatuses: [400, 404, 422] });
  const harmless = (name: string, path: string, shown: readonly string[] = []): Promise<void> =>
    tally.attempt(name, async () => {
      await watched.go(path);
      return await harmFaults(watched, console, path, shown);
    });
  for (const { run, nth, experiment, before } of visited) {
    const { trace, payloadIn } = run;
    const of = (field: Parameters<typeof payloadIn>[0]): string => payloadIn(field).text;
    const page = `/runs/${hex(trace, 32)}/${hex(1, 16)}`;
    const address = component(of('result'));
    const query = filters.map((filter) => `${filter}=${component(of('attribute_value').slice(0, filterCharsMax))}`).join('&');
    // The console is loaded anew with hostile texts in its address; from there links lead on.
    await tally.attempt(`filters that say: ${payloadIn('attribute_value').name}`, async () => {
      const path = `/runs?${query}#${address}`;
      await watched.open(path);
      return await harmFaults(watched, console, path);
    });
    await harmless(`a run whose input is: ${payloadIn('user_message').name}`, page, [
      of('user_message'),
      saidText(nth, 'label_value'),
      saidText(nth, 'label_explanation', 4_000),
    ]);
    await harmless(`a run whose system message is: ${payloadIn('system_message').name}`, `${page}?selected=${hex(1, 16)}`);
    await harmless(`a run whose model is: ${payloadIn('model').name}`, `${page}?selected=${hex(2, 16)}`);
    await harmless(`a run whose tool is: ${payloadIn('tool_name').name}`, `${page}?selected=${hex(3, 16)}`);
    await harmless(`a conversation whose answer is: ${payloadIn('answer').name}`, `${page}?view=conversation`, [of('answer')]);
    await harmless(`a session whose id is: ${payloadIn('session').name}`, `/sessions/${segment(of('session'))}`);
    await harmless(`an agent whose name is: ${payloadIn('agent_name').name}`, `/agents/${segment(of('agent_name'))}`);
    await harmless(`experiment ${nth} with hostile texts`, `/experiments/${experiment}`, [saidText(nth, 'experiment_name')]);
    if (before !== undefined)
      await harmless(`experiment ${nth} beside the one before it`, `/experiments/compare?a=${before}&b=${experiment}`);
    for (const place of ['queues', 'datasets', 'experiments', 'nowhere'])
      await harmless(`an address of ${place} with the text: ${payloadIn('result').name}`, `/${place}/${segment(of('result'))}`);
  }
  await watched.close();
}

async function namesOpened({ browser, tally, console }: Omit<Opening, 'visited'>): Promise<void> {
  const watched = await watchedPage(browser, { console, expectedStatuses: [404] });
  await watched.open('/');
  for (const name of hostileNames)
    for (const place of ['queues', 'datasets', 'agents', 'sessions'])
      await tally.attempt(`${place} of the name ${name}`, async () => {
        const path = `/${place}/${segment(name)}`;
        await watched.go(path);
        return await harmFaults(watched, console, path);
      });
  await watched.close();
}

/** Each item of the queue comes to the page once. */
async function itemsAnswered({ browser, tally, console, visited }: Opening): Promise<void> {
  const watched = await watchedPage(browser, { console, mayChange: true });
  const path = '/queues/hostile';
  for (const { nth } of visited)
    await tally.attempt(`item ${nth} of a queue with hostile texts`, async () => {
      const at = `${path}?person=${component(queuePerson)}`;
      await (nth === 0 ? watched.open(at) : watched.go(at));
      await watched.page.getByRole('group').first().waitFor();
      const faults = await harmFaults(watched, console, at, [payloads[13]?.text ?? '', payloads[0]?.text ?? '']);
      await watched.page.keyboard.press('s');
      await watched.page.getByLabel('Why nobody can tell from this run').fill(skipReason(nth));
      await watched.page.keyboard.press('Enter');
      await watched.page.getByRole('dialog').waitFor({ state: 'hidden' });
      return [...faults, ...watched.faults()];
    });
  await watched.close();
}

/** In one line. A reason of only spaces is none. */
function skipReason(nth: number): string {
  const text = saidText(nth, 'skip_reason').replaceAll(/\s+/g, ' ').trim();
  return text === '' ? 'only spaces' : text;
}

/** The damage of a text to the page, on any page. */
async function harmFaults(watched: WatchedPage, console: string, path: string, shown: readonly string[] = []): Promise<readonly string[]> {
  await hovered(watched);
  const faults = await Promise.all([
    usable(watched.page, { mayFail: true }),
    moved(watched, console, path),
    isRegistered(path) ? unshown(watched, shown) : [],
  ]);
  return [...faults.flat(), ...watched.faults()];
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
  const annotations = runs.map(({ trace }, nth) => ({
    trace_id: hex(trace, 32),
    name: saidText(nth, 'label_name'),
    by: saidText(nth, 'label_by'),
    label: saidText(nth, 'label_value'),
    explanation: saidText(nth, 'label_explanation', 4_000),
  }));
  const change = (path: string, body: object): Promise<Response> =>
    fetch(`${service.console}/api/v1${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) });
  const said = await change('/annotations', { annotations });
  if (!said.ok) throw new Error(`${said.status} for the annotations: ${await said.text()}`);
  for (const [nth, { trace }] of runs.entries()) {
    const put = await change('/queues/hostile/items', {
      runs: [{ trace_id: hex(trace, 32) }],
      note: saidText(nth, 'queue_note', 1_000),
      person: saidText(nth, 'queue_person'),
    });
    if (!put.ok) throw new Error(`${put.status} for the queue: ${await put.text()}`);
  }
  for (const name of hostileNames) {
    const made = await change(`/datasets/${name}/examples`, { examples: [{ id: name, input: name, expect: { output: name } }], by: name });
    if (!made.ok) throw new Error(`${made.status} for the dataset ${name}: ${await made.text()}`);
  }
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
  // One after the other, without waiting for each to be drawn.
  await Promise.all(
    (
      [
        [300, 200],
        [640, 300],
        [640, 450],
        [900, 600],
      ] as const
    ).map(([x, y]) => page.mouse.move(x, y)),
  );
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

/** Texts without any part on the page as text. */
async function unshown({ page }: WatchedPage, texts: readonly string[]): Promise<readonly string[]> {
  let missing = texts;
  for (let look = 0; look < looksMax && missing.length > 0; look++) {
    if (look > 0) await page.waitForTimeout(lookMs);
    const found = plain(await page.evaluate<string>("document.querySelector('main').textContent"));
    missing = texts.filter((text) => !found.includes(plain(text).slice(0, 60)));
  }
  return missing.map((text) => `not shown as text: ${text.slice(0, 100)}`);
}

/** Pages may mark control characters, and fold spaces. */
function plain(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, '');
}

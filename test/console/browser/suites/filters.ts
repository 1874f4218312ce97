/** Each filter of the list of runs, by its control: the address has it, the rows are those of the API and of what was sent, and clearing takes it away. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { runFilters } from '../../../../src/console/pages/runs/filters.ts';
import { noTenant } from '../../../../src/model/ids.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { issueId } from '../../../../src/model/store/issue-store.ts';
import { costOf, type RunStory, secondsOf, spansOfStory } from '../runs/agent-run.ts';
import { minuteMs, type PlacedStory, plannerStory, refundAgent, refundModel, sentStories, session } from '../runs/stories.ts';
import { settled, type WatchedPage, watchedPage } from '../watched-page.ts';
import { judged } from '../world.ts';
import { apiAt, listIn } from './datasets.ts';
import type { Suite } from './suite.ts';

interface FilterCase {
  /** As the address has them. */
  readonly query: { readonly [name: string]: string };
  /** True when the run is in the list of the stories; `undefined` where people or a judge decide. */
  readonly sent: (story: RunStory) => boolean | undefined;
}

const refundIssue = issueId({
  tenant: noTenant,
  agent: refundAgent,
  name: 'tool_call_validity',
  tool: 'refund_order',
  signature: '/amount must be number',
});

const cases: readonly FilterCase[] = [
  { query: { agent: refundAgent }, sent: ({ agent }) => agent === refundAgent },
  { query: { service: 'parcel-support-service' }, sent: ({ agent }) => agent === 'parcel-support' },
  { query: { version: '1.1' }, sent: ({ version }) => version === '1.1' },
  { query: { session }, sent: (story) => story.session === session },
  { query: { user: 'u-7' }, sent: ({ agent }) => agent === 'parcel-support' },
  { query: { environment: 'staging' }, sent: ({ agent }) => agent === 'parcel-support' },
  { query: { issue: refundIssue }, sent: (story) => story.agent === refundAgent && hasError(story) },
  { query: { model: refundModel }, sent: ({ model = refundModel }) => model === refundModel },
  { query: { model: 'claude-sonnet-4' }, sent: ({ model }) => model === 'claude-sonnet-4' },
  { query: { tool: 'track' }, sent: ({ turns = [] }) => turns.flat().some(({ tool }) => tool === 'track') },
  { query: { text: 'vegetarian lisb' }, sent: ({ input }) => input.includes('vegetarian') },
  { query: { text: 'warehouse' }, sent: ({ answer = '' }) => answer.includes('warehouse') },
  { query: { evaluator: 'tool_error', verdict: 'fail' }, sent: hasError },
  { query: { evaluator: 'tool_error', verdict: 'pass' }, sent: (story) => !hasError(story) },
  { query: { evaluator: 'tool_error' }, sent: () => true },
  // Only with the schemas of its tools a run can be scored by it.
  { query: { evaluator: 'tool_call_validity', verdict: 'skipped' }, sent: ({ tools }) => tools === undefined },
  // Beside any other failure: a failed call is a failed verdict.
  { query: { verdict: 'fail' }, sent: (story) => hasError(story) || undefined },
  { query: { status: 'ok' }, sent: ({ answer }) => answer !== undefined },
  { query: { status: 'error' }, sent: ({ answer }) => answer === undefined },
  { query: { label: `${judged}=rude` }, sent: ({ agent }) => (agent === refundAgent ? undefined : false) },
  { query: { label: 'polite' }, sent: ({ agent }) => (agent === refundAgent ? undefined : false) },
  { query: { annotated: 'true' }, sent: ({ agent }) => (agent === refundAgent ? undefined : false) },
  { query: { annotated: 'false' }, sent: ({ agent }) => (agent === refundAgent ? undefined : true) },
  { query: { min_duration: '2.9' }, sent: (story) => secondsOf(story) >= 2.9 },
  { query: { max_duration: '1.5' }, sent: (story) => secondsOf(story) <= 1.5 },
  { query: { min_duration: '1.5', max_duration: '2' }, sent: (story) => secondsOf(story) >= 1.5 && secondsOf(story) <= 2 },
  { query: { min_cost: '0.002' }, sent: (story) => costOf(story) >= 0.002 },
  { query: { max_cost: '0.0002' }, sent: (story) => costOf(story) <= 0.0002 },
  { query: { min_cost: '0.001', max_cost: '0.002' }, sent: (story) => costOf(story) >= 0.001 && costOf(story) <= 0.002 },
  { query: { agent: refundAgent, version: '1.0', verdict: 'fail', evaluator: 'tool_error', min_duration: '1' }, sent: failedBefore },
  { query: { agent: 'nobody' }, sent: () => false },
];

/** A window that has all rows of the world on screen. */
const window = { width: 1_280, height: 9_000 } as const;
const looks = { everyMs: 50, max: 300 } as const;

export const filtersSuite: Suite = {
  name: 'filters',
  isQuick: false,
  async run({ browser, world, tally }) {
    const api = apiAt(world.console);
    const rowsOf = async (query: { readonly [name: string]: string }): Promise<readonly string[]> => {
      const keys: string[] = [];
      let cursor: string | undefined;
      do {
        const answer: JsonObject = await api(
          `/runs?${new URLSearchParams({ ...query, limit: '200', ...(cursor === undefined ? {} : { cursor }) }).toString()}`,
        );
        keys.push(...listIn(answer, 'runs').map((run) => `${String(run['trace_id'])}/${String(run['span_id'])}`));
        cursor = typeof answer['next'] === 'string' ? answer['next'] : undefined;
      } while (cursor !== undefined);
      return keys;
    };
    const watched = await watchedPage(browser, { console: world.console, ...window });
    const all = await rowsOf({});
    tally.check(
      'filters: every filter of the page is tested',
      runFilters.filter(({ name }) => cases.every(({ query }) => !(name in query))).map(({ name }) => `no test sets ${name}`),
    );
    for (const one of cases)
      await tally.attempt(`filters: ${JSON.stringify(one.query)}`, async () => {
        await watched.open('/runs?range=7d');
        await set(watched.page, one.query);
        const wanted = await rowsOf(one.query);
        const faults = [
          ...(await rowFaults(watched.page, wanted)),
          ...addressFaults(watched.page, one.query),
          ...sentFaults(wanted, sentStories(), one.sent),
        ];
        await watched.page.reload();
        await settled(watched.page);
        faults.push(...(await rowFaults(watched.page, wanted)), ...(await controlFaults(watched.page, one.query)));
        await watched.page.getByRole('button', { name: /^Clear (the filter|\d+ filters)$/ }).click();
        faults.push(...(await rowFaults(watched.page, all)), ...addressFaults(watched.page, {}));
        return [...faults, ...watched.faults()];
      });
    await tally.attempt('filters: keys typed as soon as a field appears stay in it', async () => {
      await watched.open('/runs?range=7d');
      const kept = await watched.page.evaluate<string>(typedAtOnce);
      return kept === 'parcel' ? watched.faults() : [`the field has “${kept}”`];
    });
    await tally.attempt('filters: the last hour, and a time of one’s own', () => timesFiltered(watched, { rowsOf, api }));
    await watched.close();
  },
};

/** Types in the step in which the field is drawn, before any frame, and returns the text of the field two frames later. */
const typedAtOnce = `new Promise((done) => {
  new MutationObserver((_, observer) => {
    const field = document.querySelector('#filter-service');
    if (field === null) return;
    observer.disconnect();
    field.value = 'parcel';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(field.value))), 300);
  }).observe(document.body, { childList: true, subtree: true });
  [...document.querySelectorAll('button')].find((button) => button.textContent.trim() === 'More filters').click();
})`;

interface Reading {
  readonly rowsOf: (query: { readonly [name: string]: string }) => Promise<readonly string[]>;
  readonly api: (path: string) => Promise<JsonObject>;
}

async function timesFiltered({ page, open, faults: pageFaults }: WatchedPage, { rowsOf, api }: Reading): Promise<readonly string[]> {
  const [planner] = listIn(await api(`/runs?agent=${plannerStory.agent}`), 'runs');
  const plannerAgoMs = sentStories().find(({ story }) => story === plannerStory)?.agoMs ?? 0;
  const sentMs = Date.parse(String(planner?.['started_at'])) + plannerAgoMs;
  const minute = (ms: number): string => new Date(Math.floor(ms / minuteMs) * minuteMs).toISOString();
  const [from, to] = [minute(sentMs - 90 * minuteMs), minute(sentMs - 30 * minuteMs)];
  await open('/runs');
  await page.getByLabel('Time range').selectOption('1h');
  const hour = await rowsOf({ from: minute(Date.now() - 60 * minuteMs) });
  const faults = [
    ...(await rowFaults(page, hour)),
    ...(new URL(page.url()).search === '?range=1h' ? [] : [`the address is ${page.url()}`]),
  ];
  await page.getByLabel('Time range').selectOption('own');
  await page.getByLabel('From', { exact: true }).fill(from.slice(0, 16));
  await page.getByLabel('to', { exact: true }).fill(to.slice(0, 16));
  const own = await rowsOf({ from, to });
  faults.push(
    ...(await rowFaults(page, own)),
    ...addressFaults(page, { from, to }),
    ...sentFaults(own, sentStories(), (_, agoMs) => sentMs - agoMs >= Date.parse(from) && sentMs - agoMs < Date.parse(to)),
  );
  await page.reload();
  await settled(page);
  return [...faults, ...(await rowFaults(page, own)), ...pageFaults()];
}

async function set(page: Page, query: FilterCase['query']): Promise<void> {
  await page.getByRole('button', { name: 'More filters' }).click();
  for (const [nth, [name, value]] of Object.entries(query).entries()) {
    const { title, kind } = runFilters.find((filter) => filter.name === name) ?? { title: name, kind: 'text' };
    const control = page.getByLabel(title, { exact: true });
    if (kind === 'choice') await control.selectOption(value);
    else {
      await control.fill(value);
      // A text counts with Enter, and when the field is left.
      await control.press(nth % 2 === 0 ? 'Enter' : 'Tab');
    }
    await page.waitForURL((url) => url.searchParams.get(name) === value);
  }
}

/** The page must come to show exactly these rows, in this order. */
async function rowFaults(page: Page, wanted: readonly string[]): Promise<readonly string[]> {
  const read = (): Promise<readonly string[]> =>
    page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('main tbody a[href^="/runs/"]')].map((one) => new URL(one.href).pathname.slice('/runs/'.length)).filter((one) => one !== '')`,
    );
  const emptied = page.locator('main').getByRole('heading', { name: /^(No run matches|No runs)/ });
  let shown: readonly string[] = [];
  for (let look = 0; look < looks.max; look++) {
    shown = await read();
    const isShown = shown.join() === wanted.join() && (wanted.length > 0 || (await emptied.count()) > 0);
    if (isShown) return [];
    await pause(looks.everyMs);
  }
  const [extra, missing] = [shown.filter((key) => !wanted.includes(key)), wanted.filter((key) => !shown.includes(key))];
  return [
    `the page has ${shown.length} rows and the API ${wanted.length}; only the page: ${extra.slice(0, 3).join(' ')}; only the API: ${missing.slice(0, 3).join(' ')}`,
  ];
}

function addressFaults(page: Page, query: FilterCase['query']): readonly string[] {
  const { range: _range, ...found } = Object.fromEntries(new URL(page.url()).searchParams);
  const [is, want] = [found, query].map((one) =>
    JSON.stringify(Object.entries(one).toSorted(([name], [other]) => (name < other ? -1 : 1))),
  );
  return is === want ? [] : [`the address has ${String(is)}, not ${String(want)}`];
}

async function controlFaults(page: Page, query: FilterCase['query']): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    const title = runFilters.find((filter) => filter.name === name)?.title ?? name;
    const shown = await page.getByLabel(title, { exact: true }).inputValue();
    if (shown !== value) faults.push(`after a reload the control of ${name} has “${shown}”`);
  }
  return faults;
}

/** Runs that were sent and are not in the list, and runs of the list that were sent otherwise. */
function sentFaults(
  keys: readonly string[],
  stories: readonly PlacedStory[],
  sent: (story: RunStory, agoMs: number) => boolean | undefined,
): readonly string[] {
  const listed = new Set(keys);
  return stories.flatMap(({ story: outermost, agoMs }, nth) => {
    const spans = spansOfStory(outermost, { trace: nth + 1, startMs: 0 });
    return withSubAgents(outermost).flatMap((story) => {
      const { traceId: trace, spanId: span } = spans.find(({ name }) => name === `invoke_agent ${story.agent}`) ?? {};
      const [wanted, isThere] = [sent(story, agoMs), listed.has(`${String(trace)}/${String(span)}`)];
      return wanted === undefined || wanted === isThere
        ? []
        : [`run ${nth + 1} of ${story.agent} ${isThere ? 'is in the list' : 'is not in the list'}`];
    });
  });
}

/** A sub-agent has a separate run. */
function withSubAgents(story: RunStory): readonly RunStory[] {
  return [story, ...(story.turns ?? []).flat().flatMap(({ by }) => (by === undefined ? [] : withSubAgents(by)))];
}

function hasError({ turns = [] }: RunStory): boolean {
  return turns.flat().some(({ error }) => error !== undefined);
}

function failedBefore(story: RunStory): boolean {
  return story.agent === refundAgent && story.version === '1.0' && hasError(story);
}

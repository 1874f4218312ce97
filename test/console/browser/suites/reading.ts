/** Pages as people read them: one scroll, tables that fit, a phone, texts from right to left, and runs with only verdicts in the store. */
import type { Page } from 'playwright-core';
import { serviceFolder } from '../../../service/process.ts';
import { eventually } from '../../../service/running.ts';
import { pageAddresses, runPath } from '../addresses.ts';
import { spansOfStory } from '../runs/agent-run.ts';
import { usable, watchedPage } from '../watched-page.ts';
import type { Setting, Suite } from './suite.ts';

const arabic = {
  agent: 'مساعد-1',
  input: 'أين طلبي A-1?',
  answer: 'طلبك A-1 في الطريق.',
  turns: [[{ tool: 'find_order', arguments: { order_id: 'A-1' }, result: 'الحالة: sent, A-1.' }]],
} as const;

export const readingSuite: Suite = {
  name: 'reading',
  isQuick: false,
  async run(setting) {
    await atAWindow(setting);
    await onAPhone(setting);
    await fromRightToLeft(setting);
    await withoutTexts(setting);
  },
};

async function atAWindow({ browser, world, tally }: Setting): Promise<void> {
  const watched = await watchedPage(browser, { console: world.console, width: 1_280, height: 800 });
  const { page } = watched;
  await tally.attempt('the page of a run scrolls as one, and the head stays', async () => {
    await watched.open(runPath(world.places.run));
    await page.evaluate(`(document.querySelector('main').scrollTo(0, 1e6), scrollTo(0, 1e6))`);
    return [...(await scrollFaults(page)), ...watched.faults()];
  });
  for (const { name, path } of pageAddresses(world.places))
    await tally.attempt(`the tables of ${name} fit a window of 1280`, async () => {
      await watched.open(path);
      return [...(await wideTables(page)), ...watched.faults()];
    });
  await tally.attempt('a person chooses the columns of the runs, and finds them again', async () => {
    await watched.open('/runs?range=7d');
    const before = await headings(page);
    await page.getByText('Columns', { exact: true }).click();
    await page.getByLabel('Tokens in / out').check();
    await page.getByLabel('Duration').uncheck();
    await watched.open('/runs?range=7d');
    const after = await headings(page);
    const [lost, won] = [before.filter((one) => !after.includes(one)), after.filter((one) => !before.includes(one))];
    const isRight = lost.join() === 'Duration' && won.join() === 'Tokens in / out';
    return [...(isRight ? [] : [`the table had ${before.join(', ')} and has ${after.join(', ')}`]), ...watched.faults()];
  });
  await watched.close();
}

async function scrollFaults(page: Page): Promise<readonly string[]> {
  const { blank, top, inner } = await page.evaluate<{ readonly blank: number; readonly top: number; readonly inner: number }>(`({
    blank: document.documentElement.scrollHeight - innerHeight,
    top: document.querySelector('.layout > header').getBoundingClientRect().top,
    inner: document.querySelector('.run-right').scrollHeight - document.querySelector('.run-right').clientHeight,
  })`);
  return [
    ...(blank > 0 ? [`${blank} pixels below the page are blank`] : []),
    ...(top === 0 ? [] : [`the head is at ${top}`]),
    ...(inner > 1 ? [`the details hide ${inner} pixels in a separate scroll`] : []),
  ];
}

async function wideTables(page: Page): Promise<readonly string[]> {
  const wide = await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('.table-frame')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.getAttribute('aria-label') + ' ' + one.scrollWidth + ' in ' + one.clientWidth)`,
  );
  return wide.map((label) => `wider than its place: ${label}`);
}

async function headings(page: Page): Promise<readonly string[]> {
  const all = await page.locator('table.data th:visible').allInnerTexts();
  return all.map((text) => text.trim()).filter((text) => text !== '');
}

async function onAPhone({ browser, world, tally }: Setting): Promise<void> {
  const watched = await watchedPage(browser, { console: world.console, width: 390, height: 844 });
  await tally.attempt('a phone shows the verdict of a run in the list, and the head in one line', async () => {
    await watched.open('/runs?range=7d');
    const chip = await watched.page.locator('table.data td .chip').first().boundingBox();
    const head = await watched.page.locator('.layout > header').boundingBox();
    return [
      ...(chip !== null && chip.x >= 0 && chip.x + chip.width <= 390 ? [] : [`the first verdict is at ${chip?.x ?? 'no place'}`]),
      ...(head !== null && head.height < 64 ? [] : [`the head is ${head?.height ?? 'not there'} high`]),
      ...(await usable(watched.page)),
      ...watched.faults(),
    ];
  });
  await tally.attempt('a phone breaks the names of evaluators on the overview behind an underscore', async () => {
    await watched.open('/?range=7d');
    const broken = await watched.page.evaluate<readonly string[]>(brokenNames);
    return [...broken.map((name) => `a line ends within ${name}`), ...watched.faults()];
  });
  for (const { path, heading } of verdictColumns)
    for (const width of [360, 1_280])
      await tally.attempt(`${path} shows ${heading} at a width of ${width}, and its table has no more columns than fit`, async () => {
        await watched.page.setViewportSize({ width, height: 844 });
        await watched.open(`${path}?range=7d`);
        const box = await watched.page.getByRole('columnheader', { name: heading }).first().boundingBox();
        const wide = await watched.page.evaluate<number>(`(() => {
          const frame = document.querySelector('.table-frame');
          return frame.scrollWidth - frame.clientWidth;
        })()`);
        return [
          ...(box !== null && box.x + box.width <= width ? [] : [`the column is at ${box?.x ?? 'no place'}`]),
          ...(wide <= 1 ? [] : [`the table is ${wide} pixels wider than its frame`]),
          ...(await usable(watched.page)),
          ...watched.faults(),
        ];
      });
  await watched.close();
}

/** Names with more pieces on lines than a break behind each underscore makes. */
const brokenNames = `[...document.querySelectorAll('.agents .data td:first-child a')]
  .filter((link) => [...link.childNodes].some((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return node.nodeType === Node.TEXT_NODE && range.getClientRects().length > 1;
  }))
  .map((link) => link.textContent)`;

/** Pages whose tables have more columns than a phone shows. */
const verdictColumns = [
  { path: '/tools', heading: 'Error rate' },
  { path: '/agents', heading: 'Last run' },
  { path: '/evaluators', heading: 'Pass rate, or mean score' },
] as const;

async function fromRightToLeft({ browser, tally }: Setting): Promise<void> {
  const folder = serviceFolder();
  try {
    const service = await folder.start();
    await service.send(spansOfStory(arabic, { trace: 1, startMs: Date.now() - 5_000 }));
    const run = await eventually(async () => (await service.runs())[0], 'the run');
    const watched = await watchedPage(browser, { console: service.console });
    const { page } = watched;
    await tally.attempt('Arabic texts run from right to left, and names are isolated', async () => {
      await watched.open('/runs');
      const directions = await directionsOf(page, 'td.text');
      await watched.open(`/runs/${String(run['trace_id'])}/${String(run['span_id'])}`);
      const all = [...directions, ...(await directionsOf(page, '.run-texts .long-text > .text'))];
      const isolated = await page.locator('h1 bdi, .run-facts bdi, .timeline bdi').filter({ hasText: arabic.agent }).count();
      return [
        ...(all.join() === 'rtl,rtl,rtl' ? [] : [`directions of texts: ${all.join(', ')}`]),
        ...(isolated >= 3 ? [] : [`the name of the agent is isolated at ${isolated} places`]),
        ...watched.faults(),
      ];
    });
    await watched.close();
  } finally {
    await folder.remove();
  }
}

function directionsOf(page: Page, selector: string): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`[...document.querySelectorAll('${selector}')].map((one) => getComputedStyle(one).direction)`);
}

async function withoutTexts({ browser, tally }: Setting): Promise<void> {
  const folder = serviceFolder({ content: 'none' });
  try {
    const service = await folder.start();
    await service.send(spansOfStory({ ...arabic, agent: 'support' }, { trace: 1, startMs: Date.now() - 5_000 }));
    const run = await eventually(async () => (await service.runs())[0], 'the run');
    const watched = await watchedPage(browser, { console: service.console });
    await tally.attempt('a run without texts and spans has its verdicts, and one line that names the reason', async () => {
      await watched.open(`/runs/${String(run['trace_id'])}/${String(run['span_id'])}`);
      const { page } = watched;
      const lines = await page.locator('.not-kept').allInnerTexts();
      const [cards, boxes] = [await page.locator('.verdict-card').count(), await page.locator('.box').count()];
      return [
        ...(lines.length === 1 && lines[0]?.includes('store.content is none') === true ? [] : [`the page shows: ${lines.join(' / ')}`]),
        ...(cards > 0 ? [] : ['the page has no verdicts']),
        ...(boxes === 0 ? [] : [`the page has ${boxes} banners`]),
        ...(await usable(page)),
        ...watched.faults(),
      ];
    });
    await watched.close();
  } finally {
    await folder.remove();
  }
}

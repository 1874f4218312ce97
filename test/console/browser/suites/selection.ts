/** Runs go into a queue from the list and from their own page, by keys only: the page shows the added ones, those that were there already, and the failures. */
import type { Page } from 'playwright-core';
import type { JsonObject } from '../../../../src/model/json.ts';
import { runPath } from '../addresses.ts';
import { refundAgent } from '../runs/stories.ts';
import { usable, watchedPage } from '../watched-page.ts';
import { queue } from '../world.ts';
import { axeFaults } from './accessible.ts';
import { apiAt, listIn } from './datasets.ts';
import type { Suite } from './suite.ts';

const selected = 6;

export const selectionSuite: Suite = {
  name: 'a selection',
  isQuick: false,
  async run({ browser, world, tally }) {
    const api = apiAt(world.console);
    const watched = await watchedPage(browser, { console: world.console, mayChange: true });
    const { page } = watched;
    const list = `/runs?agent=${refundAgent}&version=1.1&range=7d`;
    const inQueue = async (): Promise<ReadonlyMap<string, JsonObject>> =>
      new Map(listIn(await api(`/queues/${queue}/items?limit=200`), 'items').map((item) => [keyOf(item), item]));
    const runs = listIn(await api(`/runs?agent=${refundAgent}&version=1.1&limit=${selected}`), 'runs').map(keyOf);
    const before = await inQueue();
    const known = runs.filter((key) => before.has(key)).length;
    tally.check(
      'a selection: the queue has some of the newest runs, and not all',
      known > 0 && known < selected ? [] : [`it has ${known} of ${selected}`],
    );

    await tally.attempt('a selection: runs that were selected by keys go into a queue', async () => {
      await watched.open(list);
      await selectedByKeys(page, selected);
      await put(page, 'Looked odd.');
      const said = await page.getByRole('dialog').getByRole('status').innerText();
      const after = await inQueue();
      return [
        ...missing(said, [additionText(selected - known), knownText(known)]),
        ...runs.filter((key) => !after.has(key)).map((key) => `the queue has no ${key}`),
        ...(after.size === before.size + selected - known ? [] : [`the queue has ${after.size} items, and had ${before.size}`]),
        ...(await usable(page)),
        ...(await axeFaults(page)),
        ...watched.faults(),
      ];
    });

    await tally.attempt('a selection: without a service the dialog reports that, keeps its text, and works afterwards', async () => {
      await watched.open(list);
      await selectedByKeys(page, selected);
      await page.keyboard.press('q');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Why').fill('Once more.');
      await watched.context.setOffline(true);
      await page.keyboard.press('Enter');
      await dialog.getByRole('alert').waitFor();
      const told = await dialog.getByRole('alert').innerText();
      await watched.context.setOffline(false);
      await page.keyboard.press('Enter');
      await dialog.getByRole('link', { name: `Open ${queue}` }).waitFor();
      const said = await dialog.getByRole('status').innerText();
      return [...missing(told, ['The service does not answer.']), ...missing(said, [knownText(selected)]), ...watched.faults()];
    });

    await tally.attempt('a selection: the page of a run puts it into a queue', async () => {
      await watched.open(runPath(world.runOf('travel-planner')));
      await put(page, '');
      const said = await page.getByRole('dialog').getByRole('status').innerText();
      await page
        .getByRole('dialog')
        .getByRole('link', { name: `Open ${queue}` })
        .click();
      await page.getByRole('heading', { level: 1, name: queue }).waitFor();
      const { trace, span } = world.runOf('travel-planner');
      return [
        ...missing(said, [additionText(1)]),
        ...((await inQueue()).has(`${trace}/${span}`) ? [] : ['the queue does not have the run']),
        ...watched.faults(),
      ];
    });
    await watched.close();
  },
};

async function selectedByKeys(page: Page, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth++) {
    await page.keyboard.press('j');
    await page.keyboard.press('x');
  }
  await page.getByText(`${count} selected`, { exact: true }).waitFor();
}

/** Keys from the head of the dialog to its last field. */
const tabsMax = 10;

/** By keys only: Tab reaches the field, and Enter in it sends. */
async function put(page: Page, why: string): Promise<void> {
  await page.keyboard.press('q');
  const field = page.getByRole('dialog').getByLabel('Why');
  await field.waitFor();
  const hasFocus = (): Promise<boolean> => field.and(page.locator(':focus')).isVisible();
  for (let tabs = 0; tabs < tabsMax && !(await hasFocus()); tabs++) await page.keyboard.press('Tab');
  await page.keyboard.type(why);
  await page.keyboard.press('Enter');
  await page
    .getByRole('dialog')
    .getByRole('link', { name: `Open ${queue}` })
    .waitFor();
}

function additionText(count: number): string {
  return `${count} ${count === 1 ? 'run is' : 'runs are'} added.`;
}

function knownText(count: number): string {
  return `${count} ${count === 1 ? 'run is' : 'runs are'} in the queue already.`;
}

function missing(said: string, texts: readonly string[]): readonly string[] {
  return texts.filter((text) => !said.includes(text)).map((text) => `the page does not say “${text}”: ${said}`);
}

function keyOf(one: JsonObject): string {
  return `${String(one['trace_id'])}/${String(one['span_id'])}`;
}

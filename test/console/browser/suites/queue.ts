/** A queue with two people, by keys only: each sees no verdict before the answer, no person gets a run twice, and their agreement is counted. */
import type { Browser, Page } from 'playwright-core';
import { watchedPage } from '../watched-page.ts';
import { judged, queue, type World } from '../world.ts';
import type { Suite } from './suite.ts';

interface QueueFigures {
  readonly open: number;
  readonly by_person: readonly { readonly person: string; readonly answers: number; readonly skips: number }[];
  readonly agreement: readonly { readonly name: string; readonly items: number }[];
}

const answers = 3;

export const queueSuite: Suite = {
  name: 'a queue',
  isQuick: false,
  async run({ browser, world, tally }) {
    const before = await figures(world);
    tally.check('the queue has the failed runs', before.open > answers ? [] : [`it has ${before.open} open items`]);
    for (const [person, key] of [
      ['ann', '1'],
      ['ben', '2'],
    ] as const)
      await tally.attempt(`${person} answers by keys only, and skips one run`, () => answered(browser, world, { person, key }));
    await tally.attempt('the queue counts what both have said, and how far they agree', async () => {
      const { by_person: people, agreement } = await figures(world);
      const said = people.map(({ person, answers: count, skips }) => `${person} ${count} ${skips}`).toSorted();
      return [
        ...(said.join(', ') === `ann ${answers} 1, ben ${answers} 1` ? [] : [`it counts ${said.join(', ')}`]),
        ...(agreement.some(({ items }) => items > 0) ? [] : ['no item has two answers']),
      ];
    });
  },
};

async function figures({ console }: World): Promise<QueueFigures> {
  return (await (await fetch(`${console}/api/v1/queues/${queue}`)).json()) as QueueFigures;
}

interface Person {
  readonly person: string;
  /** The labels of the answer to every question. */
  readonly key: string;
}

async function answered(browser: Browser, world: World, { person, key }: Person): Promise<readonly string[]> {
  const watched = await watchedPage(browser, { console: world.console, mayChange: true });
  const { page } = watched;
  const seen: string[] = [];
  try {
    await watched.open(`/queues/${queue}?person=${person}`);
    const faults: string[] = [];
    for (let nth = 0; nth < answers; nth++) {
      await page.getByRole('group').first().waitFor();
      seen.push(await runOf(page));
      if ((await page.getByRole('heading', { name: 'Verdicts' }).count()) > 0) faults.push('a verdict is shown before the answer');
      await page.keyboard.press(key);
      await page.keyboard.press(key);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Answered' }).waitFor();
      if (!(await page.locator('.queue-answers').innerText()).includes(judged))
        faults.push('the verdict of the judge is not shown after the answer');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Answered' }).waitFor({ state: 'detached' });
    }
    await page.getByRole('group').first().waitFor();
    seen.push(await runOf(page));
    await page.keyboard.press('s');
    await page.getByLabel('Why nobody can tell from this run').fill('The texts say nothing.');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.waitForTimeout(500);
    return [...faults, ...(new Set(seen).size === seen.length ? [] : [`a run came twice: ${seen.join(', ')}`]), ...watched.faults()];
  } finally {
    await watched.close();
  }
}

async function runOf(page: Page): Promise<string> {
  return String(await page.getByRole('link', { name: 'Open the run' }).getAttribute('href'));
}

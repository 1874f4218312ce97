/** Alerts: what fires is on the overview, and a person silences it and notes who looks after it. */
import { refundAgent } from '../runs/stories.ts';
import { eventually } from '../../../service/running.ts';
import { settled, watchedPage } from '../watched-page.ts';
import { alert } from '../world.ts';
import type { Suite } from './suite.ts';

const patience = { everyMs: 250, looksMax: 400 } as const;

export const alertsSuite: Suite = {
  name: 'alerts',
  isQuick: false,
  async run({ browser, world, tally }) {
    const watched = await watchedPage(browser, { console: world.console, mayChange: true });
    const { page } = watched;
    const main = page.locator('main');
    const state = async (): Promise<{ readonly silence: unknown; readonly acknowledged: unknown } | undefined> => {
      const { alerts } = (await (await fetch(`${world.console}/api/v1/alerts?state=firing`)).json()) as {
        readonly alerts: readonly { readonly name: string; readonly silence: unknown; readonly acknowledged: unknown }[];
      };
      return alerts.find(({ name }) => name === alert);
    };
    await tally.attempt('an alert that fires is on the overview, with a link to its runs', async () => {
      await eventually(state, 'an alert that fires', patience);
      await watched.open('/');
      const box = main.locator('.box', { hasText: `The alert ${alert} has fired for ${refundAgent}` });
      await box.getByRole('link', { name: 'Show the runs.' }).click();
      await settled(page);
      const rows = await main.locator('tbody tr').count();
      return [
        ...(page.url().includes('verdict=fail') ? [] : [`the address is ${page.url()}`]),
        ...(rows > 0 ? [] : ['the page lists no run']),
        ...watched.faults(),
      ];
    });
    await tally.attempt('the page has the state of each alert', async () => {
      await watched.open('/alerts');
      const rows = await main.locator('tbody tr').allInnerTexts();
      const wanted = [
        [alert, 'firing'],
        ['rare', 'not estimable'],
        ['costly', 'fine'],
      ] as const;
      return [
        ...wanted.flatMap(([name, words], at) =>
          rows[at]?.includes(name) === true && rows[at].includes(words) ? [] : [`row ${at + 1} is ${JSON.stringify(rows[at])}`],
        ),
        ...watched.faults(),
      ];
    });
    await tally.attempt('a person silences an alert with a reason, and the overview shows it', async () => {
      await watched.open('/alerts');
      const row = main.locator('tbody tr', { hasText: alert });
      await row.getByRole('button', { name: 'Silence' }).click();
      await page.getByRole('dialog').getByLabel('For').selectOption({ label: '4 hours' });
      await page.getByRole('dialog').getByLabel('Reason').fill('the backend is being replaced');
      await page.getByRole('dialog').getByRole('button', { name: 'Silence' }).click();
      await row.getByText('Silenced until').waitFor();
      await watched.open('/');
      await main.locator('.box', { hasText: alert }).getByText('the backend is being replaced').waitFor();
      return [...((await state())?.silence === null ? ['the API has no silence'] : []), ...watched.faults()];
    });
    await tally.attempt('a person acknowledges an alert, and takes both back', async () => {
      await watched.open('/alerts');
      const row = main.locator('tbody tr', { hasText: alert });
      await row.getByRole('button', { name: 'Acknowledge' }).click();
      await page.getByRole('dialog').getByLabel('Note').fill('on it');
      await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
      await row.getByText('Acknowledged').waitFor();
      const noted = await state();
      await row.getByRole('button', { name: 'End silence' }).click();
      await row.getByRole('button', { name: 'Take back' }).click();
      await row.getByRole('button', { name: 'Acknowledge' }).waitFor();
      const left = await state();
      return [
        ...(noted?.acknowledged === null ? ['the API has no acknowledgement'] : []),
        ...(left?.silence === null && left.acknowledged === null ? [] : ['the API still has what was taken back']),
        ...watched.faults(),
      ];
    });
    await watched.close();
  },
};

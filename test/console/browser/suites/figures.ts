/** Figures on the pages are those of the API, and those of what was sent. */
import type { Page } from 'playwright-core';
import { isRegistered } from '../addresses.ts';
import { refundAgent, refunds } from '../runs/stories.ts';
import { watchedPage } from '../watched-page.ts';
import type { Suite } from './suite.ts';

interface ToolRow {
  readonly agent: string | null;
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
}

const recent = refunds['1.1'];
const all = Object.values(refunds).reduce((sum, { runs }) => sum + runs, 0);

export const figuresSuite: Suite = {
  name: 'figures',
  isQuick: true,
  async run({ browser, world, tally }) {
    const api = async <Answer>(path: string): Promise<Answer> => (await (await fetch(`${world.console}/api/v1${path}`)).json()) as Answer;
    await tally.attempt('the API counts the runs that were sent', async () => {
      const counted = async (query: string): Promise<number> =>
        (await api<{ readonly runs: readonly object[] }>(`/runs?agent=${refundAgent}&limit=200${query}`)).runs.length;
      return [
        ...differing('runs', await counted(''), all),
        ...differing('runs of version 1.1', await counted('&version=1.1'), recent.runs),
        ...differing('failed runs of version 1.1', await counted('&version=1.1&evaluator=tool_error&verdict=fail'), recent.failing),
        ...differing('runs with another verdict', await counted('&version=1.1&evaluator=tool_call_validity&verdict=fail'), recent.failing),
      ];
    });
    const { tools } = await api<{ readonly tools: readonly ToolRow[] }>('/tools');
    const refund = tools.find(({ agent, name }) => agent === refundAgent && name === 'refund_order');
    tally.check('the API counts the calls of a tool over the last day', [
      ...differing('calls', refund?.calls, recent.runs),
      ...differing('errors', refund?.errors, recent.failing),
    ]);
    const watched = await watchedPage(browser, { console: world.console });
    if (isRegistered('/tools'))
      await tally.attempt('the page of tools shows these figures', async () => {
        await watched.open('/tools');
        return [...(await missing(watched.page, 'refund_order', [recent.runs, recent.failing])), ...watched.faults()];
      });
    await tally.attempt('the overview shows the runs of the last day', async () => {
      await watched.open('/');
      const card = watched.page
        .locator('section, article')
        .filter({ has: watched.page.getByRole('heading', { name: refundAgent, exact: true }) });
      const text = await card.last().innerText();
      const wanted = [`${recent.runs} before: ${refunds['1.0'].runs}`, `${recent.failing} of ${2 * recent.runs}`];
      const plain = text.replaceAll(/\s+/g, ' ');
      return [...wanted.filter((one) => !plain.includes(one)).map((one) => `the overview has no “${one}”: ${plain}`), ...watched.faults()];
    });
    await tally.attempt('the list shows the failed runs of a version, and no other', async () => {
      await watched.open(`/runs?agent=${refundAgent}&version=1.1&evaluator=tool_error&verdict=fail`);
      const rows = await watched.page.getByRole('row').filter({ hasText: refundAgent }).count();
      return [...differing('rows', rows, recent.failing), ...watched.faults()];
    });
    await watched.close();
  },
};

function differing(what: string, got: unknown, wanted: unknown): readonly string[] {
  return got === wanted ? [] : [`${what}: ${String(got)}, not ${String(wanted)}`];
}

/** Numbers that no cell of the row with this text shows. */
async function missing(page: Page, name: string, numbers: readonly number[]): Promise<readonly string[]> {
  const row = page.getByRole('row').filter({ hasText: name }).first();
  const words = (await row.innerText()).split(/[\s,;:/()]+/);
  return numbers
    .filter((number) => !words.includes(String(number)))
    .map((number) => `the row of ${name} shows no ${number}: ${words.join(' ')}`);
}

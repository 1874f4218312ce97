/** A release breaks the schema of a tool: the overview names the issue, its page shows where, and a person keeps examples and resolves it. */
import type { Page } from 'playwright-core';
import { eventually } from '../../../service/running.ts';
import { serviceFolder, type ServiceProcess } from '../../../service/process.ts';
import { spansOfStory } from '../runs/agent-run.ts';
import { minuteMs, refundAgent, refundStory } from '../runs/stories.ts';
import { watchedPage, type WatchedPage } from '../watched-page.ts';
import { sent } from '../world.ts';
import type { Tally } from '../tally.ts';
import { axeFaults } from './accessible.ts';
import type { Suite } from './suite.ts';

interface ApiIssue {
  readonly id: string;
  readonly evaluator: string;
  readonly state: string;
  readonly runs: number;
}

const patience = { everyMs: 200, looksMax: 300 } as const;
const [old, broken, fixed] = ['1.0', '1.1', '1.2'];
const runsOfVersion = 20;
const examples = 6;
const customers = ['acme', 'acme', 'acme', 'beta'];
const validity = 'tool_call_validity';
const title = 'refund_order: /amount must be number';
/** The service looks for changes every ten seconds. */
const twoRoundsMs = 21_000;

export const issuesSuite: Suite = {
  name: 'issues',
  isQuick: false,
  async run({ browser, tally }) {
    const folder = serviceFolder();
    try {
      folder.configure('evaluators: [ tool_call_validity, tool_error ]\n');
      const service = await folder.start();
      const watched = await watchedPage(browser, { console: service.console, mayChange: true });
      await watched.context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await story(service, watched, tally);
      await watched.close();
    } finally {
      await folder.remove();
    }
  },
};

interface ReleaseOptions {
  readonly runs?: number;
  readonly agoMs?: number;
  /** Id of the experiment that the runs belong to. */
  readonly experiment?: string;
}

async function story(service: ServiceProcess, watched: WatchedPage, tally: Tally): Promise<void> {
  const { page, faults } = watched;
  const main = page.locator('main');
  let traces = 0;
  let failed = 0;
  const release = async (version: string, fails: boolean, { runs = 1, agoMs = 0, experiment }: ReleaseOptions = {}): Promise<void> => {
    const startMs = Date.now() - agoMs;
    const stories = Array.from({ length: runs }, (_, nth) => ({
      ...refundStory(version, nth, fails),
      attributes: { 'user.id': customers[nth % customers.length] ?? '' },
      ...(experiment === undefined ? {} : { resource: { 'tracejury.experiment.id': experiment, 'tracejury.example.id': `refund-${nth}` } }),
    }));
    failed += fails ? runs : 0;
    await sent(
      service,
      stories.map((one, nth) => spansOfStory(one, { trace: ++traces, startMs: startMs - nth * 1_000 })),
    );
  };
  const issue = async (): Promise<ApiIssue | undefined> => {
    const { issues } = (await (await fetch(`${service.console}/api/v1/issues?evaluator=${validity}`)).json()) as {
      readonly issues: readonly ApiIssue[];
    };
    return issues[0];
  };
  const isIn = (state: string) => async (): Promise<ApiIssue | undefined> => {
    const found = await issue();
    return found?.runs === failed && found.state === state ? found : undefined;
  };

  await tally.attempt('a release that breaks a schema is a new issue on the overview', async () => {
    await release(old, false, { runs: runsOfVersion, agoMs: 10 * minuteMs });
    await release(broken, true, { runs: runsOfVersion, agoMs: minuteMs });
    await eventually(isIn('open'), 'the issue has all runs', patience);
    await watched.open('/');
    const news = main.locator('section', { hasText: 'New issues' }).first();
    const text = await news.innerText();
    const missing = ['refund_order', '/amount', `version ${broken}`, refundAgent].filter((part) => !text.includes(part));
    await news.getByRole('link', { name: title }).click();
    await main.getByRole('heading', { name: /different about these runs/ }).waitFor();
    return [...missing.map((part) => `the overview does not say ${part}`), ...faults()];
  });
  await tally.attempt('its page shows the failing argument, and the version that goes with it', async () => {
    const example = main.locator('.examples > li');
    await example.first().locator('.json-lines .marked').first().waitFor();
    const table = page.getByRole('region', { name: 'Properties of the runs, the clearest difference first' });
    const versions = table.locator('tr', { hasText: 'Version' });
    const rows = await versions.allInnerTexts();
    const marks = await example.first().locator('.json-lines .marked').count();
    const text = await example.first().innerText();
    const missing = ['please refund everything', 'amount must be number, not a string', 'Call 2: refund_order, argument /amount'].filter(
      (part) => !text.includes(part),
    );
    return [
      ...missing.map((part) => `the example does not say ${part}: ${text}`),
      ...((await example.count()) === 3 ? [] : [`the page has ${await example.count()} examples`]),
      ...(marks > 0 ? [] : ['no argument is marked']),
      ...(rows.some((row) => row.includes(broken) && row.includes('100 %')) ? [] : [`versions: ${JSON.stringify(rows)}`]),
      ...faults(),
    ];
  });
  await tally.attempt('its page names the customers that it reaches, each with a link to their runs of the issue', async () => {
    const address = page.url();
    await main.getByRole('link', { name: 'acme' }).first().click();
    await main
      .getByRole('row', { name: /please refund everything/ })
      .nth(14)
      .waitFor();
    const rows = await main.getByRole('row', { name: /please refund/ }).count();
    const filters = await Promise.all(['User', 'Issue'].map((name) => main.getByLabel(name, { exact: true }).inputValue()));
    await watched.open(new URL(address).pathname);
    const users = await main.locator('dl.facts').innerText();
    return [
      ...(users.includes('2: acme (15), beta (5)') ? [] : [`users: ${users}`]),
      ...(rows === 15 && filters[0] === 'acme' && filters[1] === (await issue())?.id ? [] : [`${rows} runs, filters ${filters.join()}`]),
      ...faults(),
    ];
  });
  await tally.attempt('an example links to the call on the page of its run', async () => {
    const address = page.url();
    await main.locator('.examples > li').first().getByRole('link', { name: 'Call 2' }).click();
    const row = main.getByRole('treeitem', { selected: true });
    await row.getByText('refund_order').waitFor();
    const details = page.getByRole('region', { name: 'Selection' });
    await details.locator('.json-lines .marked').first().waitFor();
    const found = new URL(page.url()).searchParams.get('call');
    await watched.open(new URL(address).pathname);
    return [...(found === '2' ? [] : [`the address names call ${found}`]), ...faults()];
  });
  await tally.attempt('the text for a ticket is in the clipboard', async () => {
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await page.getByText('The text for a ticket is in the clipboard.').waitFor();
    const text = await page.evaluate<string>('navigator.clipboard.readText()');
    const missing = ['## refund\\_order', `Version ${broken}: 100 % here`, '/runs/'].filter((part) => !text.includes(part));
    return [...missing.map((part) => `the ticket does not say ${part}: ${text}`), ...faults()];
  });
  await tally.attempt('its runs become examples of a dataset', async () => {
    await page.getByRole('button', { name: 'Add to dataset …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Dataset/).fill('broken-refunds');
    await dialog.getByRole('checkbox', { name: /whose input another example has/ }).uncheck();
    await dialog.getByRole('button', { name: `Add ${runsOfVersion} runs` }).click();
    await dialog.getByText(`${runsOfVersion} examples are added`).waitFor();
    await page.keyboard.press('Escape');
    return faults();
  });
  await tally.attempt('an experiment with the fix closes the issue', async () => {
    const address = new URL(page.url()).pathname;
    await release(broken, true, { runs: examples, experiment: 'before-the-fix' });
    await release(fixed, false, { runs: examples, experiment: 'after-the-fix' });
    const comparison = '/experiments/compare?a=before-the-fix&b=after-the-fix';
    await eventually(
      async () => {
        const answer = await fetch(`${service.console}/api/v1${comparison}`);
        return ((await answer.json()) as { readonly examples?: number }).examples === examples ? true : undefined;
      },
      'both experiments have all runs',
      patience,
    );
    await watched.open(comparison);
    const row = page.getByRole('table', { name: 'Issues that B opens and closes' }).getByRole('row', { name: title });
    const text = await row.innerText();
    const missing = ['closed', validity, String(examples)].filter((part) => !text.includes(part));
    const found = [...missing.map((part) => `the row does not say ${part}: ${text}`), ...(await axeFaults(page))];
    await watched.open(address);
    return [...found, ...faults()];
  });
  await tally.attempt('a run of the old version does not regress a resolved issue, and one of the new version does', async () => {
    await resolvedIn(page, fixed);
    const before = await issue();
    await release(broken, true);
    await eventually(isIn('resolved'), 'the late run of the old version', patience);
    await page.waitForTimeout(twoRoundsMs);
    const later = await issue();
    await release(fixed, true);
    await eventually(isIn('regressed'), 'the issue has come back', patience);
    await watched.open('/');
    const first = await main.locator('section', { hasText: 'New issues' }).first().locator('li').first().innerText();
    return [
      ...(before?.state === 'resolved' && later?.state === 'resolved' ? [] : [`${before?.state}, then ${later?.state}`]),
      ...(first.includes('regressed') && first.includes('refund_order') ? [] : [`the overview begins with ${first}`]),
      ...faults(),
    ];
  });
  await tally.attempt('the list is used by keys: filter, select, resolve', async () => {
    await watched.open('/issues?state=regressed');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    const chosen = page.getByRole('group', { name: 'Selected issues' });
    await chosen.getByRole('button', { name: 'Ignore …' }).click();
    await page.getByRole('dialog').getByLabel('How long').selectOption({ label: 'for a week' });
    await page.getByRole('dialog').getByRole('button', { name: 'Ignore' }).click();
    await page.getByText('1 issue is ignored.').waitFor();
    await main.getByText('No issue matches').waitFor();
    await watched.open('/issues');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/issues\/[0-9a-f]{12}$/);
    return [...((await issue())?.state === 'ignored' ? [] : ['the API has another state']), ...faults()];
  });
  await tally.attempt('a run has its first wrong step and its issues', async () => {
    await watched.open(`/runs?agent=${refundAgent}&version=${fixed}`);
    await main.locator('tbody tr a').first().click();
    const wrong = main.locator('section', { hasText: 'went wrong' });
    await wrong.getByText('First wrong step').waitFor();
    const text = await wrong.innerText();
    const marked = await main.getByRole('treeitem', { name: /first wrong step/ }).allInnerTexts();
    return [
      ...(marked.length === 1 && marked[0]?.includes('refund_order') === true ? [] : [`marked are ${JSON.stringify(marked)}`]),
      ...['call 2, refund_order', title].filter((part) => !text.includes(part)).map((part) => `no ${part} in ${text}`),
      ...faults(),
    ];
  });
}

async function resolvedIn(page: Page, version: string): Promise<void> {
  await page.getByRole('button', { name: 'Resolve …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Fixed').selectOption({ label: 'in a version' });
  await dialog.getByLabel('Version').fill(version);
  await dialog.getByRole('button', { name: 'Resolve' }).click();
  await page.getByText(`Resolved in version ${version}`).waitFor();
}

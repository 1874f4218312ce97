/**
 * What three persons come for, and how many clicks and keys it takes them: one on call, one who improves an agent, and a newcomer. A page that
 * hides an answer needs more of them than the bound.
 */
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../../service/running.ts';
import { serviceFolder } from '../../../service/process.ts';
import { spansOfStory } from '../runs/agent-run.ts';
import { runPath } from '../addresses.ts';
import { largeAgent, refundAgent, refundStories, refunds } from '../runs/stories.ts';
import { settled, watchedPage } from '../watched-page.ts';
import type { World } from '../world.ts';
import type { Setting, Suite } from './suite.ts';

/** Counts what a person does. */
interface Hand {
  readonly page: Page;
  click(what: Locator): Promise<void>;
  choose(what: Locator, option: string): Promise<void>;
  press(key: string): Promise<void>;
  steps(): number;
}

function handOn(page: Page): Hand {
  let steps = 0;
  return {
    page,
    async click(what) {
      steps++;
      await what.click();
      await settled(page);
    },
    async choose(what, option) {
      steps++;
      await what.selectOption(option);
      await settled(page);
    },
    async press(key) {
      steps++;
      await page.keyboard.press(key);
      await page.waitForTimeout(0);
    },
    steps: () => steps,
  };
}

export const tasksSuite: Suite = {
  name: 'tasks',
  isQuick: false,
  async run(setting) {
    await onCall(setting);
    await improver(setting);
    await newcomer(setting);
  },
};

/** "The tool errors of refund-agent doubled: since when, which tool, which argument?" */
async function onCall({ browser, world, tally }: Setting): Promise<void> {
  const watched = await watchedPage(browser, { console: world.console });
  const hand = handOn(watched.page);
  const { page } = watched;
  const card = page.getByRole('region', { name: refundAgent, exact: true });
  await tally.attempt('on call: the first page names the agent and what got worse', async () => {
    await watched.open('/');
    const first = await page.locator('main .agents section').first().getAttribute('aria-label');
    const row = await card.getByRole('row').filter({ hasText: 'tool_error' }).innerText();
    return [...(first === refundAgent ? [] : [`the first agent is ${first}`]), ...(/worse by/.test(row) ? [] : [`the row shows ${row}`])];
  });
  await tally.attempt('on call: two steps lead to the tool, the argument and the version since which it fails', async () => {
    await hand.click(card.getByRole('link', { name: '%' }).first());
    const tool = page.getByRole('table', { name: 'Tools by agent' }).getByRole('row').nth(1);
    const argument = page.getByRole('table', { name: 'Arguments that the schema' }).getByRole('row').nth(1);
    const faults = [
      ...((await tool.innerText()).includes('refund_order') ? [] : ['the first tool is another one']),
      ...((await argument.innerText()).includes('amount') ? [] : ['the first argument is another one']),
    ];
    await hand.choose(page.getByLabel('Split by'), 'version');
    const worst = await tool.innerText();
    const share = `${Math.round((refunds['1.1'].failing / refunds['1.1'].runs) * 100)} %`;
    return [
      ...faults,
      ...(worst.includes('1.1') && worst.includes(share) ? [] : [`the worst version: ${worst}`]),
      ...(hand.steps() <= 2 ? [] : [`it takes ${hand.steps()} steps`]),
    ];
  });
  await tally.attempt('on call: one more step from the first page shows since when, and one more a run that fails', async () => {
    await watched.open('/?range=7d');
    await hand.click(card.getByRole('link', { name: 'tool_error' }));
    await hand.click(page.locator('figure summary').first());
    const rates = await page.locator('figure table tbody tr').allInnerTexts();
    await hand.click(page.getByRole('link', { name: / failed$/ }));
    await hand.click(page.getByRole('table').getByRole('row').nth(1).getByRole('link').first());
    const verdict = await page.locator('main').innerText();
    return [
      ...(rates.length >= 2 ? [] : [`${rates.length} times with a rate`]),
      ...(verdict.includes('amount') ? [] : ['the run does not name the argument']),
      ...(hand.steps() <= 6 ? [] : [`it takes ${hand.steps()} steps`]),
      ...watched.faults(),
    ];
  });
  await tally.attempt('on call: one click shows the failed calls among 5,000 spans, and a word one tool', async () => {
    const { trace, span } = world.runOf(largeAgent);
    await watched.open(runPath({ trace, span }));
    const rows = page.getByRole('treeitem');
    await page.getByLabel('Failed only').check();
    await page.getByText(`${failedCalls} rows of`).waitFor();
    const texts = await rows.allInnerTexts();
    // Beyond the calls that the page reads at first.
    await rows.last().click();
    await page.getByText('duplicate key').first().waitFor();
    await page
      .getByText(/insert_row \(call [1-9]\d{3}\)/)
      .first()
      .waitFor({ state: 'attached' });
    await page.getByLabel('Search the spans').fill('no such tool');
    await page.getByText('No span matches.').waitFor();
    return [
      ...(texts.length === failedCalls && texts.every((text) => text.includes('✗') && text.includes('insert_row'))
        ? []
        : [`the rows are ${texts.slice(0, 3).join(', ')}`]),
      ...watched.faults(),
    ];
  });
  await watched.close();
}

/** Calls of the large run: its story fails one of every 97th turn. */
const failedCalls = 11;
const labelled = 20;
const kept = 5;
const keptIn = 'kept-by-key';

/** Labels twenty runs and keeps five as examples by keys only. */
async function improver({ browser, world, tally }: Setting): Promise<void> {
  const watched = await watchedPage(browser, { console: world.console, mayChange: true });
  const hand = handOn(watched.page);
  const { page } = watched;
  await tally.attempt(`improver: ${labelled} labels and ${kept} examples by keys only`, async () => {
    await watched.open(`/runs?range=7d&agent=${refundAgent}&evaluator=tool_error&verdict=fail`);
    const before = await labels(world);
    await hand.press('j');
    await hand.press('Enter');
    for (let nth = 1; nth <= labelled; nth++) {
      await page.getByText(`${nth} of `, { exact: false }).first().waitFor();
      await page.getByRole('heading', { name: 'Labels' }).waitFor();
      await hand.press('2');
      await page.getByRole('button', { name: 'Remove the label' }).first().waitFor();
      if (nth <= kept) await keepByKey(hand, nth === 1);
      if (nth < labelled) await hand.press('n');
    }
    const made = (await labels(world)) - before;
    const examples = await examplesOf(world);
    return [
      ...(made === labelled ? [] : [`${made} labels are stored`]),
      ...(examples === kept ? [] : [`${examples} examples are kept`]),
      ...(hand.steps() <= 2 + labelled * 2 + kept * 3 ? [] : [`it takes ${hand.steps()} keys`]),
      ...watched.faults(),
    ];
  });
  await watched.close();
}

async function keepByKey(hand: Hand, isFirst: boolean): Promise<void> {
  const { page } = hand;
  await hand.press('a');
  const dialog = page.getByRole('dialog');
  const name = dialog.getByLabel(/^Dataset/);
  await name.waitFor();
  // After the first example the page proposes the dataset of the one before.
  if (isFirst) await name.fill(keptIn);
  await name.focus();
  await hand.press('Enter');
  await dialog.getByRole('link', { name: 'Open the example' }).waitFor();
  await hand.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
}

async function labels({ console: base }: World): Promise<number> {
  const { runs } = (await (await fetch(`${base}/api/v1/runs?annotated=true&limit=100`)).json()) as {
    readonly runs: readonly { readonly labels: readonly { readonly label: string }[] }[];
  };
  return runs.flatMap((run) => run.labels).filter(({ label }) => label === 'fail').length;
}

async function examplesOf({ console: base }: World): Promise<number> {
  const answer = await fetch(`${base}/api/v1/datasets/${keptIn}/examples`);
  return answer.ok ? ((await answer.json()) as { readonly examples: readonly object[] }).examples.length : 0;
}

/** The way from nothing to the first visible run. */
async function newcomer({ browser, tally }: Setting): Promise<void> {
  const folder = serviceFolder();
  try {
    const service = await folder.start();
    const watched = await watchedPage(browser, { console: service.console });
    const hand = handOn(watched.page);
    const { page } = watched;
    await tally.attempt('newcomer: the first page has the lines to copy, and shows the first run without a click', async () => {
      await watched.open('/');
      const lines = await page.locator('pre').innerText();
      const [first] = refundStories();
      if (first === undefined) return ['no story'];
      await service.send(spansOfStory(first.story, { trace: 1, startMs: Date.now() - 5_000 }));
      const card = page.getByRole('region', { name: refundAgent, exact: true });
      await card.waitFor({ timeout: 60_000 });
      return [
        ...(lines.includes(`OTEL_EXPORTER_OTLP_ENDPOINT=${service.otlp}`) ? [] : [`the page shows ${lines}`]),
        ...(hand.steps() === 0 ? [] : [`it takes ${hand.steps()} steps`]),
      ];
    });
    await tally.attempt('newcomer: two clicks from there show what happened in it', async () => {
      await hand.click(page.getByRole('link', { name: refundAgent, exact: true }));
      await hand.click(page.getByRole('table').getByRole('row').nth(1).getByRole('link').first());
      await eventually(
        async () => ((await page.locator('main').innerText()).includes('refund_order') ? true : undefined),
        'the run shows its tool calls',
      );
      return [...(hand.steps() === 2 ? [] : [`it takes ${hand.steps()} clicks`]), ...watched.faults()];
    });
    await watched.close();
  } finally {
    await folder.remove();
  }
}

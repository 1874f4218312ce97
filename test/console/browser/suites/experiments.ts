/** Experiments: lists and comparisons with the figures of the API, both runs of a changed example, filters, files, and rates over time. */
import { eventually, sendAgentRun } from '../../../service/running.ts';
import { judged } from '../world.ts';
import { sentinel, settled, usable, watchedPage } from '../watched-page.ts';
import { axeFaults } from './accessible.ts';
import { apiAt, listIn } from './datasets.ts';
import type { Suite } from './suite.ts';

const hostile = `<img src=x onerror=${sentinel}(1)>`;
const [before, after] = ['browser-before', 'browser-after'];
const pair = `a=${before}&b=${after}`;
/** Ids of the examples whose run fails. */
const failing = { [before]: [0, 1, 2], [after]: [2, 3] };
const examples = 6;
const patience = { everyMs: 100, looksMax: 300 } as const;

export const experimentsSuite: Suite = {
  name: 'experiments',
  isQuick: false,
  async run({ browser, world: { console: base, service }, tally }) {
    const api = apiAt(base);
    for (const [experiment, failed] of Object.entries(failing))
      for (let at = 0; at < examples; at++)
        await sendAgentRun(service.otlp, {
          fails: failed.includes(at),
          input: `Question ${at} ${hostile}`,
          resource: { 'tracejury.experiment.id': experiment, 'tracejury.example.id': `example-${at}` },
        });
    for (const experiment of [before, after])
      await eventually(
        async () => (listIn(await api(`/experiments/${experiment}/results`), 'results').length === examples ? true : undefined),
        `the results of ${experiment}`,
        patience,
      );
    const watched = await watchedPage(browser, { console: base });
    const { page } = watched;
    const main = page.locator('main');

    for (const [what, path] of [
      ['the list', '/experiments'],
      ['the rates over time', '/experiments?view=history'],
      ['one experiment', `/experiments/${before}`],
      ['the comparison', `/experiments/compare?${pair}`],
    ] as const)
      await tally.attempt(`experiments: ${what} is usable, and axe finds nothing`, async () => {
        await watched.open(path);
        return [...(await usable(page)), ...(await axeFaults(page)), ...watched.faults()];
      });

    await tally.attempt('experiments: one has its failed results first, each with the reason', async () => {
      await watched.open(`/experiments/${before}`);
      const table = page.getByRole('table', { name: 'Results, failed first' });
      const rows = (await table.getByRole('row').allInnerTexts()).slice(1);
      const failed = rows.filter((row) => row.includes('✗'));
      const isSorted = rows.every((row, at) => row.includes('✗') === at < failed.length);
      const reasons = failed.map((row) => row.includes('tool_error: 1 of 2'));
      return [
        ...(rows.length === examples && isSorted ? [] : [`the rows are ${rows.join(' / ')}`]),
        ...(reasons.filter(Boolean).length === failing[before]?.length ? [] : [`the reasons are ${failed.join(' / ')}`]),
        // The judge of the world answers in its own time, and may fail others.
        ...failed.filter((row, at) => reasons[at] !== true && !row.includes(`${judged}:`)).map((row) => `there is no reason in ${row}`),
        ...(rows[0]?.includes(hostile) === true ? [] : ['the input is not its text']),
        ...watched.faults(),
      ];
    });

    await tally.attempt('experiments: two of the list are compared, the older one as A', async () => {
      await watched.open('/experiments?name=');
      for (const name of [before, after]) await main.getByRole('row').filter({ hasText: name }).getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Compare', exact: true }).click();
      await settled(page);
      const { searchParams } = new URL(page.url());
      const found = [searchParams.get('a'), searchParams.get('b')].join();
      return [...(found === `${before},${after}` ? [] : [`it compares ${found}`]), ...watched.faults()];
    });

    await tally.attempt('experiments: a comparison has the figures of the API, and each changed example', async () => {
      await watched.open(`/experiments/compare?${pair}`);
      const answer = await api(`/experiments/compare?${pair}`);
      const table = page.getByRole('table', { name: 'Rates of A and B, and the paired difference' });
      const faults: string[] = [];
      for (const one of listIn(answer, 'evaluators')) {
        const row = await table
          .getByRole('row')
          .filter({ hasText: String(one['name']) })
          .innerText();
        const words = [String(one['result']).replaceAll('_', ' '), String(one['flipped_count'])];
        for (const word of words) if (!row.includes(word)) faults.push(`${row} lacks ${word}`);
      }
      const flipped = listIn(answer, 'evaluators').reduce((sum, one) => sum + Number(one['flipped_count']), 0);
      const shown = await main.locator('ol.pairs > li').count();
      return [...faults, ...(shown === flipped && flipped > 0 ? [] : [`${shown} of ${flipped} are shown`]), ...watched.faults()];
    });

    await tally.attempt('experiments: filters are in the address, and all examples can be had', async () => {
      await watched.open(`/experiments/compare?${pair}&evaluator=tool_error&direction=worse`);
      const worse = await main.locator('ol.pairs > li').allInnerTexts();
      await page.getByRole('link', { name: 'All that both have' }).click();
      await settled(page);
      await main.locator('ol.pairs > li').first().waitFor();
      await watched.open(`/experiments/compare?${pair}&examples=all`);
      await main
        .locator('ol.pairs > li')
        .nth(examples - 1)
        .waitFor();
      const all = await main.locator('ol.pairs > li').count();
      return [
        ...(worse.length === 1 && worse[0]?.includes('example-3') === true ? [] : [`worse are ${worse.join(' / ')}`]),
        ...(all === examples ? [] : [`all are ${all}`]),
        ...watched.faults(),
      ];
    });

    await tally.attempt('experiments: both runs stand next to each other, as text', async () => {
      await watched.open(`/experiments/compare?${pair}&evaluator=tool_error&direction=worse`);
      await page.getByRole('button', { name: 'Show both runs' }).click();
      const sides = main.locator('ol.pairs .side');
      // Under load the service may keep no texts of a run, and then shows that.
      for (const nth of [0, 1])
        await sides
          .nth(nth)
          .getByText('Answer', { exact: true })
          .or(sides.nth(nth).getByText(/stor|kept/i))
          .first()
          .waitFor();
      const texts = await sides.allInnerTexts();
      const isWhole =
        texts.length === 2 &&
        texts.every((side) => (side.includes('Answer') ? side.includes(hostile) && side.includes('find_order') : true));
      return [...(isWhole ? [] : [`the sides are ${texts.join(' / ')}`]), ...watched.faults()];
    });

    await tally.attempt('experiments: the comparison is downloaded as a report', async () => {
      await watched.open(`/experiments/compare?${pair}`);
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Markdown' }).click()]);
      const file = download.suggestedFilename();
      return [...(file === `${before}-against-${after}.md` ? [] : [`the file is ${file}`]), ...watched.faults()];
    });
    await watched.close();
  },
};

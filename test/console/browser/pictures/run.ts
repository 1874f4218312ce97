/**
 * `npm run check -- pictures`: a picture of every page of the console over the test data, for docs/guides/console/. Chromium is found as in `npm run check -- console`.
 *
 *   --output FOLDER   (docs/guides/console)
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runnerArguments } from '../../../runner-arguments.ts';
import { pageAddresses, runPath } from '../addresses.ts';
import { chromiumPath, launched, noChromium } from '../chromium.ts';
import { watchedPage } from '../watched-page.ts';
import { filledWorld, queue } from '../world.ts';

const { values } = runnerArguments({
  options: { output: { type: 'string', default: join(import.meta.dirname, '../../../../docs/guides/console') } },
});
/** The first shows a form, the other a person's part. */
const unpictured: ReadonlySet<string> = new Set(['sign-in', 'queue']);
const folder = resolve(values.output);
const path = chromiumPath(process.env);
if (path === undefined) {
  console.log(noChromium);
  process.exitCode = 1;
} else await taken(path);

async function taken(chromium: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const browser = await launched(chromium);
  const world = await filledWorld({ demo: false, large: false, experiments: true, isRelative: true });
  try {
    const pages = [
      ...pageAddresses(world.places).filter(({ name }) => !unpictured.has(name)),
      { name: 'run-sub-agents', path: runPath(world.runOf('travel-planner')) },
      { name: 'queue', path: `/queues/${queue}?person=ann` },
    ];
    for (const { colours, width, suffix } of [
      { colours: 'light', width: 1_200, suffix: '' },
      { colours: 'dark', width: 1_200, suffix: '-dark' },
      { colours: 'light', width: 400, suffix: '-narrow' },
    ] as const) {
      const watched = await watchedPage(browser, { console: world.console, colours, width, height: 800, mayChange: true });
      // One page represents all in the dark, and one in a narrow window.
      for (const { name, path: at } of suffix === '' ? pages : pages.filter((one) => one.name === 'run' || one.name === 'overview')) {
        await watched.open(at);
        await watched.page.screenshot({ path: join(folder, `${name}${suffix}.png`) });
        console.log(`${name}${suffix}.png ${watched.faults().join('; ')}`);
      }
      await watched.close();
    }
  } finally {
    await world.close();
    await browser.close();
  }
}

/** axe-core on every page: light and dark, narrow and wide. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { pageAddresses, runPath } from '../addresses.ts';
import { watchedPage } from '../watched-page.ts';
import { dataset } from '../world.ts';
import type { Suite } from './suite.ts';

interface AxeFinding {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly target: readonly string[]; readonly failureSummary?: string }[];
}

const looks = [
  { colours: 'light', width: 1_280 },
  { colours: 'dark', width: 1_280 },
  { colours: 'light', width: 400 },
  { colours: 'dark', width: 400 },
] as const;

export const accessibleSuite: Suite = {
  name: 'accessibility',
  isQuick: false,
  async run({ browser, world, tally }) {
    const run = runPath(world.places.run);
    const pages = [
      ...pageAddresses(world.places),
      { name: 'a conversation', path: `${run}?view=conversation` },
      { name: 'a tool call', path: `${run}?call=2` },
      { name: 'one evaluator', path: '/evaluators?evaluator=tool_error' },
      { name: 'the versions of a dataset', path: `/datasets/${dataset}?view=versions` },
    ];
    for (const look of looks) {
      const watched = await watchedPage(browser, { console: world.console, ...look });
      for (const { name, path } of pages)
        await tally.attempt(`axe finds nothing on ${name}, ${look.colours}, at a width of ${look.width}`, async () => {
          await watched.open(path);
          return [...(await axeFaults(watched.page)), ...(await scrollFaults(watched.page))];
        });
      await watched.close();
    }
  },
};

/**
 * Elements that may scroll and that the keyboard does not reach: they hold nothing that takes the focus, and take it not themselves under a name.
 * Scrolling depends on the fonts of the machine, so that does not count.
 */
async function scrollFaults(page: Page): Promise<readonly string[]> {
  return await page.evaluate<readonly string[]>(`(() => {
    const takesFocus = (one) => one.tabIndex >= 0 && !one.disabled && one.getClientRects().length > 0;
    const controls = 'a[href], button, input, select, textarea, summary, [tabindex]';
    const isNamed = (one) => one.matches('textarea, select, input') || (one.getAttribute('aria-label') ?? one.getAttribute('aria-labelledby') ?? '') !== '';
    return [...document.querySelectorAll('body, body *')].flatMap((one) => {
      const { overflowX, overflowY } = getComputedStyle(one);
      if (![overflowX, overflowY].some((how) => how === 'auto' || how === 'scroll') || one.getClientRects().length === 0) return [];
      if (takesFocus(one)) return isNamed(one) ? [] : ['scrolls and takes the focus without a name: ' + one.outerHTML.slice(0, 120)];
      return [...one.querySelectorAll(controls)].some(takesFocus) ? [] : ['may scroll, and the keyboard does not reach it: ' + one.outerHTML.slice(0, 120)];
    });
  })()`);
}

/** The findings of axe on the unchanged page. */
export async function axeFaults(page: Page): Promise<readonly string[]> {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // Over the debugger, which no policy of the page forbids.
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ readonly violations: readonly AxeFinding[] }>(
    'axe.run(document, { resultTypes: ["violations"] })',
  );
  return violations.flatMap(({ id, impact, help, nodes }) =>
    nodes.slice(0, 3).map(({ html, target }) => `${id} (${impact ?? 'unknown'}): ${help}: ${target.join(' ')}: ${html.slice(0, 200)}`),
  );
}

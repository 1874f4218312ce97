/** axe-core on every page: light and dark, narrow and wide. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { pageAddresses } from '../addresses.ts';
import { watchedPage } from '../watched-page.ts';
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
  isQuick: true,
  async run({ browser, world, tally, quick }) {
    for (const look of quick ? looks.slice(0, 1) : looks) {
      const watched = await watchedPage(browser, { console: world.console, ...look });
      for (const { name, path } of pageAddresses(world.places))
        await tally.attempt(`axe finds nothing on ${name}, ${look.colours}, at a width of ${look.width}`, async () => {
          await watched.open(path);
          return await axeFaults(watched.page);
        });
      await watched.close();
    }
  },
};

/** What axe finds on the page as it is. */
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

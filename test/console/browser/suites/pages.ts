/** Every page opens without an error at the widths that people have, and shows a heading, a menu and a title. */
import { pageAddresses, untestedPaths } from '../addresses.ts';
import { usable, watchedPage } from '../watched-page.ts';
import type { Suite } from './suite.ts';

const widths = [
  { width: 400, height: 800 },
  { width: 1_280, height: 900 },
  { width: 2_560, height: 1_300 },
] as const;

export const pagesSuite: Suite = {
  name: 'pages',
  isQuick: true,
  async run({ browser, world, tally, quick }) {
    for (const size of quick ? widths.slice(1, 2) : widths) {
      const watched = await watchedPage(browser, { console: world.console, ...size });
      for (const { name, path } of pageAddresses(world.places))
        await tally.attempt(`${name} opens at a width of ${size.width}`, async () => {
          await watched.open(path);
          return [...(await usable(watched.page)), ...watched.faults()];
        });
      await watched.close();
    }
    // The small world has no experiments.
    if (quick) return;
    tally.check(
      'every page of the table is tested',
      untestedPaths(world.places).map((path) => `no test opens ${path}`),
    );
  },
};

/** Every page opens without an error at the widths that people have, and shows a heading, a menu and a title. */
import { pageAddresses } from '../addresses.ts';
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
    for (const size of quick ? widths.slice(0, 2) : widths) {
      const watched = await watchedPage(browser, { console: world.console, ...size });
      for (const { name, path } of pageAddresses(world.places))
        await tally.attempt(`${name} opens at a width of ${size.width}`, async () => {
          await watched.open(path);
          return [...(await usable(watched.page)), ...watched.faults()];
        });
      await watched.close();
    }
    const watched = await watchedPage(browser, { console: world.console });
    await tally.attempt('every entry of the menu is tested', async () => {
      await watched.open('/');
      const menu = await watched.page.locator('nav a').evaluateAll((links) => links.map((link) => String(link.getAttribute('href'))));
      const tested = pageAddresses(world.places).map(({ path }) => path);
      return menu.filter((href) => !tested.includes(new URL(href, world.console).pathname)).map((href) => `no test opens ${href}`);
    });
    await watched.close();
  },
};

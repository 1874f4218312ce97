/** The watch itself: a page that does what hostile texts want must be found out. Without these, a green hostile suite would say nothing. */
import { sentinel, watchedPage, type WatchedPage } from '../watched-page.ts';
import type { Suite } from './suite.ts';

const misdeeds: readonly { readonly name: string; readonly does: string; readonly found: RegExp }[] = [
  { name: 'markup of a text runs', does: `document.body.innerHTML = '<img src=x onerror="${sentinel}(1)">'`, found: /a payload ran/ },
  { name: 'a text runs as a script', does: `(0, eval)("${sentinel}(2)")`, found: /a payload ran/ },
  {
    name: 'a page asks another host',
    does: 'document.body.append(Object.assign(new Image(), { src: "http://elsewhere.example/x.png" }))',
    found: /a request to/,
  },
  { name: 'a dialog', does: 'setTimeout(() => alert("pay"), 0)', found: /a dialog opened/ },
  { name: 'a window', does: 'window.open("about:blank")', found: /a window opened/ },
  {
    name: 'a navigation',
    does: 'setTimeout(() => location.assign("http://elsewhere.example/"), 0)',
    found: /a request to|a navigation to/,
  },
  { name: 'an error', does: 'setTimeout(() => { throw new Error("broken"); }, 0)', found: /an error in the page/ },
  { name: 'a change', does: 'fetch("/api/v1/nothing", { method: "DELETE" }).catch(() => {})', found: /from a page that only shows/ },
];
const noticedMs = 500;

export const controlSuite: Suite = {
  name: 'control',
  isQuick: true,
  async run({ browser, world, tally }) {
    for (const { name, does, found } of misdeeds) {
      const watched = await watchedPage(browser, { console: world.console });
      await tally.attempt(`the watch notices: ${name}`, async () => {
        await unguarded(watched, world.console);
        watched.faults();
        await watched.page.evaluate(does);
        await watched.page.waitForTimeout(noticedMs);
        const faults = watched.faults();
        return faults.some((fault) => found.test(fault)) ? [] : [`it noticed only: ${faults.join('; ')}`];
      });
      await watched.close();
    }
  },
};

/** A page at the console's address without its headers and scripts. */
async function unguarded({ page }: WatchedPage, console: string): Promise<void> {
  await page.route(`${console}/control`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>x</title><body></body>' }),
  );
  await page.goto(`${console}/control`);
}

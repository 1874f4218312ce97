/** Every page by keyboard only: the focus is always seen, goes everywhere and is never caught; nothing moves for people who want it still. */
import type { Page } from 'playwright-core';
import { pageAddresses } from '../addresses.ts';
import { watchedPage } from '../watched-page.ts';
import type { Suite } from './suite.ts';

interface Stop {
  /** The text of the focused element. */
  readonly name: string;
  readonly isBody: boolean;
  /** The key has not left it. */
  readonly isSame: boolean;
  /** The focus can be seen: an outline or a shadow. */
  readonly isSeen: boolean;
  readonly isOnScreen: boolean;
}

const focused = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return { name: 'body', isBody: true, isSame: false, isSeen: true, isOnScreen: true };
  const isSame = element === globalThis.focusedBefore;
  globalThis.focusedBefore = element;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  return {
    name: (element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent ?? '').trim()).slice(0, 60),
    isBody: false,
    isSame,
    isSeen: (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none',
    isOnScreen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
})()`;

/** Long lists have many stops: the first ones say enough. */
const stopsMax = 60;
/** A field of a date has a stop for each of its parts. */
const partsMax = 7;

export const keyboardSuite: Suite = {
  name: 'keyboard',
  isQuick: false,
  async run({ browser, world, tally }) {
    const watched = await watchedPage(browser, { console: world.console, reducedMotion: true });
    for (const { name, path } of pageAddresses(world.places)) {
      await tally.attempt(`the focus is seen and free on ${name}`, async () => {
        await watched.open(path);
        return [...(await stopFaults(watched.page)), ...watched.faults()];
      });
      await tally.attempt(`nothing moves on ${name} with reduced motion`, async () => {
        const moving = await watched.page.evaluate<readonly string[]>(
          `document.getAnimations().filter((one) => one.playState === 'running' && one.effect.getComputedTiming().duration > 10).map((one) => one.animationName ?? one.transitionProperty ?? 'an animation')`,
        );
        return moving.map((animation) => `${animation} runs`);
      });
      await tally.attempt(`the list of keys opens and closes on ${name}`, async () => {
        await watched.open(path);
        await watched.page.keyboard.press('?');
        await watched.page.getByRole('dialog').waitFor();
        await watched.page.keyboard.press('Escape');
        await watched.page.getByRole('dialog').waitFor({ state: 'hidden' });
        return watched.faults();
      });
    }
    await watched.close();
  },
};

async function stopFaults(page: Page): Promise<readonly string[]> {
  const stops: Stop[] = [];
  while (stops.length < stopsMax) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate<Stop>(focused);
    if (stop.isBody) break;
    stops.push(stop);
  }
  const caught = stops.find((_, at) => at >= partsMax && stops.slice(at - partsMax, at).every(({ isSame }) => isSame));
  return [
    ...(stops.length < 3 ? [`only ${stops.length} stops`] : []),
    ...stops.filter(({ isSeen }) => !isSeen).map(({ name }) => `the focus is not seen on ${name}`),
    ...stops.filter(({ isOnScreen }) => !isOnScreen).map(({ name }) => `the focus is outside the window on ${name}`),
    ...(caught === undefined ? [] : [`the focus is caught in ${caught.name}`]),
  ];
}

/** The list of runs in live mode while spans arrive. */
import { spansOfStory, type RunStory } from '../runs/agent-run.ts';
import { watchedPage } from '../watched-page.ts';
import type { Suite } from './suite.ts';

const withinMs = 20_000;
/** Traces of this suite. */
const firstTrace = 900_001;
const story = (nth: number): RunStory => ({ agent: 'live-agent', input: `Live question ${nth}?`, answer: `Live answer ${nth}.` });

export const liveSuite: Suite = {
  name: 'live mode',
  isQuick: false,
  async run({ browser, world, tally }) {
    const watched = await watchedPage(browser, { console: world.console });
    const send = async (nth: number): Promise<void> =>
      void (await world.service.send(spansOfStory(story(nth), { trace: firstTrace + nth, startMs: Date.now() - 3_000 })));
    const row = (nth: number) => watched.page.getByRole('row').filter({ hasText: `Live question ${nth}?` });
    await tally.attempt('a new run comes in on top', async () => {
      await watched.open('/runs?live=on');
      await send(1);
      await row(1).waitFor({ timeout: withinMs });
      const first = await watched.page.getByRole('row').nth(1).innerText();
      return [...(first.includes('live-agent') ? [] : [`the first row is ${first}`]), ...watched.faults()];
    });
    await tally.attempt('each run is there once', async () => {
      for (const nth of [2, 3, 4]) await send(nth);
      for (const nth of [2, 3, 4]) await row(nth).waitFor({ timeout: withinMs });
      await watched.page.waitForTimeout(1_000);
      const counts = await Promise.all([1, 2, 3, 4].map((nth) => row(nth).count()));
      return counts.flatMap((count, at) => (count === 1 ? [] : [`run ${at + 1} is there ${count} times`]));
    });
    await tally.attempt('typed text stays while a run comes in', async () => {
      const field = watched.page.getByLabel('Agent', { exact: true });
      await field.pressSequentially('live-a');
      await send(6);
      await row(6).waitFor({ timeout: withinMs });
      const typed = await field.inputValue();
      await field.press('Escape');
      return [...(typed === 'live-a' ? [] : [`the field has “${typed}”`]), ...watched.faults()];
    });
    await tally.attempt('a filter holds for what comes in', async () => {
      await watched.open('/runs?live=on&agent=somebody-else');
      await send(5);
      await watched.page.waitForTimeout(4_000);
      return [...((await row(5).count()) === 0 ? [] : ['a run of another agent comes in']), ...watched.faults()];
    });
    await watched.close();
  },
};

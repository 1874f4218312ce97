/** A service without runs: the page shows how to point an agent here, shows the first run, and loads the demonstration. */
import { span } from '../../../builders/spans.ts';
import { eventually } from '../../../service/running.ts';
import { serviceFolder } from '../../../service/process.ts';
import { spansOfStory } from '../runs/agent-run.ts';
import { settled, usable, watchedPage } from '../watched-page.ts';
import { isRegistered } from '../addresses.ts';
import { refundAgent, refundStories } from '../runs/stories.ts';
import type { Suite } from './suite.ts';

const withinMs = 60_000;
const paths = [
  '/',
  '/runs',
  '/sessions',
  '/agents',
  '/tools',
  '/evaluators',
  '/judges',
  '/queues',
  '/datasets',
  '/experiments',
  '/settings',
];

export const firstRunSuite: Suite = {
  name: 'first run',
  isQuick: false,
  async run({ browser, tally }) {
    const folder = serviceFolder();
    try {
      const service = await folder.start();
      const watched = await watchedPage(browser, { console: service.console, mayChange: true });
      await tally.attempt('without runs the list of runs has the address of this service', async () => {
        await watched.open('/runs');
        await watched.page.getByText(`OTEL_EXPORTER_OTLP_ENDPOINT=${service.otlp}`).first().waitFor();
        return [...(await usable(watched.page)), ...watched.faults()];
      });
      for (const path of paths.filter(isRegistered))
        await tally.attempt(`without runs ${path} explains its purpose`, async () => {
          await watched.open(path);
          const text = await watched.page.locator('main').innerText();
          return [...(text.length > 40 ? [] : [`it shows only: ${text}`]), ...(await usable(watched.page)), ...watched.faults()];
        });
      await tally.attempt('the first run comes to the page by itself', async () => {
        await watched.open('/runs?live=on');
        const [first] = refundStories();
        if (first === undefined) return ['no story'];
        await service.send(spansOfStory(first.story, { trace: 1, startMs: Date.now() - 5_000 }));
        await watched.page.getByText(refundAgent).first().waitFor({ timeout: withinMs });
        return watched.faults();
      });
      await tally.attempt(
        'services without an agent are one closed line below the agents, which names pages of the documentation',
        async () => {
          await service.send([span({ id: 1, trace: 2, resource: { 'service.name': 'shop' } })]);
          await eventually(() => isNoticed(service.console), 'the shop is noticed', { everyMs: 100, looksMax: 600 });
          let requests = 0;
          watched.page.on('request', (request) => void (requests += request.url().endsWith('/api/v1/notices') ? 1 : 0));
          await watched.open('/');
          const line = watched.page.locator('.agents + details');
          const isOpen = await line.locator('li').first().isVisible();
          await line.getByText('One service sends spans without an agent').click();
          const answer = await watched.page.goto(
            new URL((await line.getByRole('link').last().getAttribute('href')) ?? '', service.console).href,
          );
          return [
            ...(requests === 1 ? [] : [`the page asks ${requests} times for notices`]),
            ...(isOpen ? ['the line is open'] : []),
            ...((await answer?.text())?.includes('# Troubleshooting') === true ? [] : [`the link leads to ${watched.page.url()}`]),
            ...watched.faults(),
          ];
        },
      );
      await watched.close();
    } finally {
      await folder.remove();
    }
    const empty = serviceFolder();
    try {
      const service = await empty.start();
      const watched = await watchedPage(browser, { console: service.console, mayChange: true });
      await tally.attempt('a button loads the demonstration', async () => {
        await watched.open('/runs');
        await watched.page.getByRole('button', { name: /demonstration/i }).click();
        await watched.page.getByRole('table').first().waitFor({ timeout: withinMs });
        await settled(watched.page);
        const runs = (await service.runs()).length;
        return [...(runs > 0 ? [] : ['no run came']), ...watched.faults()];
      });
      await watched.close();
    } finally {
      await empty.remove();
    }
  },
};

async function isNoticed(console: string): Promise<true | undefined> {
  const { notices } = (await (await fetch(`${console}/api/v1/notices`)).json()) as {
    readonly notices: readonly { readonly code: string }[];
  };
  return notices.some(({ code }) => code === 'unrecognised_spans') ? true : undefined;
}

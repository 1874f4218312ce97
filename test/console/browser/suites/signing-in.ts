/** A console with tokens: signing in, what the cookie is, what other pages can do with it, what a token may not do, and signing out. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import { serviceFolder } from '../../../service/process.ts';
import { settled, watchedPage } from '../watched-page.ts';
import type { Suite } from './suite.ts';

const people = 'people-0123456789abcdef';
const readers = 'readers-0123456789abcdef';
const tokens = `tokens: [ { name: people, value: ${people}, may: [read, annotate, operate] }, { name: readers, value: ${readers}, may: [read] } ]`;
const hoursMax = 12;

export const signingInSuite: Suite = {
  name: 'signing in',
  isQuick: true,
  async run({ browser, tally }) {
    const folder = serviceFolder({ listen: tokens });
    try {
      const { console: page } = await folder.start();
      const watched = await watchedPage(browser, { console: page, mayChange: true, expectedStatuses: [401, 403] });
      await tally.attempt('without a token there is a page to enter one, and nothing else', async () => {
        await watched.open('/runs?agent=x');
        const answer = await inPage(watched.page, '/api/v1/runs');
        return [...(answer.status === 401 ? [] : [`runs are read: ${answer.status}`]), ...watched.faults()];
      });
      await tally.attempt('a wrong token is refused in a sentence', async () => {
        await enter(watched.page, 'wrong-0123456789abcdef');
        await watched.page.getByRole('alert').first().waitFor();
        return [...(await cookies(watched.context)).map(({ name }) => `the cookie ${name} is set`), ...watched.faults()];
      });
      await tally.attempt('the token of a person leads to the page that was asked for', async () => {
        await enter(watched.page, people);
        await watched.page.locator('nav a').first().waitFor();
        await settled(watched.page);
        const { pathname, search } = new URL(watched.page.url());
        return [...(`${pathname}${search}` === '/runs?agent=x' ? [] : [`it leads to ${pathname}${search}`]), ...watched.faults()];
      });
      await tally.attempt('the cookie is out of reach of scripts and other sites, and ends', async () => {
        const [cookie, ...others] = await cookies(watched.context);
        const kept = await watched.page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
        const hours = ((cookie?.expires ?? 0) - Date.now() / 1_000) / 3_600;
        return [
          ...(cookie === undefined || others.length > 0 ? [`${others.length} cookies too many`] : []),
          ...(cookie?.httpOnly === true ? [] : ['the cookie is not HttpOnly']),
          ...(cookie?.sameSite === 'Strict' ? [] : [`the cookie is SameSite=${cookie?.sameSite}`]),
          ...(cookie?.expires === -1 || hours <= hoursMax ? [] : [`the cookie lives for ${hours} hours`]),
          ...(kept.includes(people) || cookie?.value.includes(people) === true ? ['the token itself is kept'] : []),
        ];
      });
      await tally.attempt('a change needs the anti-forgery header', async () => {
        const answer = await inPage(watched.page, '/api/v1/annotations', 'POST');
        return answer.status === 403 ? [] : [`it is answered ${answer.status}: ${answer.text}`];
      });
      await tally.attempt('a page of another origin reads nothing and changes nothing', () => foreign(watched.context, page));
      await tally.attempt('signing out ends the session', async () => {
        await watched.page.getByRole('button', { name: /sign out/i }).click();
        await watched.page.getByLabel(/token/i).waitFor();
        const answer = await inPage(watched.page, '/api/v1/runs');
        return answer.status === 401 ? [] : [`runs are read: ${answer.status}`];
      });
      await tally.attempt('a page with a token that only reads shows that, and may change nothing', async () => {
        await watched.open('/');
        await enter(watched.page, readers);
        await watched.page.locator('nav a').first().waitFor();
        const answer = await inPage(watched.page, '/api/v1/annotations', 'POST');
        return answer.status === 401 || answer.status === 403 ? [] : [`a change is answered ${answer.status}`];
      });
      await watched.close();
    } finally {
      await folder.remove();
    }
  },
};

async function enter(page: Page, token: string): Promise<void> {
  await page.getByLabel(/token/i).fill(token);
  await page.getByRole('button', { name: /sign in/i }).click();
}

async function cookies(context: BrowserContext) {
  return await context.cookies();
}

/** A request by a script of the page, without the headers that the console adds. */
async function inPage(page: Page, path: string, method = 'GET'): Promise<{ readonly status: number; readonly text: string }> {
  const body =
    method === 'GET' ? '{}' : "{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{\"annotations\":[{}]}' }";
  return await page.evaluate(
    `fetch(${JSON.stringify(path)}, ${body}).then(async (answer) => ({ status: answer.status, text: (await answer.text()).slice(0, 200) }))`,
  );
}

/** Another port of loopback is another origin, but the same site: the cookie goes along. */
async function foreign(context: BrowserContext, console: string): Promise<readonly string[]> {
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const page = await context.newPage();
  try {
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const told = await page.evaluate<readonly string[]>(`(async () => {
      const base = ${JSON.stringify(console)};
      const reads = async (init) => fetch(base + '/api/v1/runs', init).then((answer) => answer.text().then((text) => text.length > 0 ? 'runs are read' : ''), () => '');
      const found = [await reads({ credentials: 'include' }), await reads({ credentials: 'include', mode: 'no-cors' })];
      const sent = await fetch(base + '/api/v1/annotations', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{}' }).then(() => 'a change is answered', () => '');
      const frame = document.createElement('iframe');
      frame.src = base + '/runs';
      const framed = await new Promise((resolve) => { frame.onload = () => resolve(frame.contentDocument === null ? 'no document' : ''); document.body.append(frame); setTimeout(() => resolve(''), 2000); });
      return [...found, sent].filter((text) => text !== '');
    })()`);
    const headers = (await fetch(`${console}/`)).headers;
    const framing = `${headers.get('content-security-policy') ?? ''} ${headers.get('x-frame-options') ?? ''}`;
    return [...told, ...(/frame-ancestors 'none'|DENY/i.test(framing) ? [] : ['other pages may frame the console'])];
  } finally {
    await page.close();
    server.close();
    server.closeAllConnections();
  }
}

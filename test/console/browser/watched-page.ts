/** A page of the browser under watch: what it must never do while a person only reads. */
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens an address of the console and waits until the page has its data. */
  open(path: string): Promise<void>;
  /** Goes to an address without loading the console anew, as a link does, and waits until the page has its data. */
  go(path: string): Promise<void>;
  /** Faults since the last call. */
  faults(): readonly string[];
  close(): Promise<void>;
}

export interface WatchOptions {
  /** Base URL of the console. */
  readonly console: string;
  readonly width?: number;
  readonly height?: number;
  readonly colours?: 'light' | 'dark';
  readonly reducedMotion?: boolean;
  /** The page may send requests that change something. */
  readonly mayChange?: boolean;
  /** Statuses of 400 and above that the test provokes. */
  readonly expectedStatuses?: readonly number[];
}

/** Payloads call this function, so that their execution is noticed. */
export const sentinel = 'tracejuryRan';
const openMs = 60_000;
const actionMs = 20_000;
const quietMs = 50;

export async function watchedPage(browser: Browser, options: WatchOptions): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1_280, height: options.height ?? 900 },
    colorScheme: options.colours ?? 'light',
    reducedMotion: options.reducedMotion === true ? 'reduce' : 'no-preference',
    locale: 'en-GB',
    timezoneId: 'UTC',
    acceptDownloads: true,
    serviceWorkers: 'block',
  });
  context.setDefaultTimeout(actionMs);
  context.setDefaultNavigationTimeout(openMs);
  const page = await context.newPage();
  let faults: string[] = [];
  await context.exposeFunction(sentinel, (by: unknown) => void faults.push(`a payload ran: ${String(by)}`));
  watchContent(page, options, (fault) => void faults.push(fault));
  const pending = pendingRequests(page);
  context.on('page', (other) => {
    if (other !== page) faults.push(`a window opened: ${other.url()}`);
  });
  return {
    page,
    context,
    async open(path) {
      await page.goto(`${options.console}${path}`, { waitUntil: 'load' });
      await settled(page);
    },
    async go(path) {
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`);
      await quiet(page, pending);
    },
    faults() {
      const found = faults;
      faults = [];
      return found;
    },
    close: () => context.close(),
  };
}

function watchContent(page: Page, options: WatchOptions, fault: (text: string) => void): void {
  const { origin } = new URL(options.console);
  page.on('dialog', (dialog) => {
    fault(`a dialog opened: ${dialog.type()} ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => fault(`an error in the page: ${error.message}`));
  page.on('console', (message) => {
    // The page's own requests are checked by their status.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      fault(`the log of the browser: ${message.text()}`);
  });
  page.on('request', (request) => {
    const found = requestFault(request, origin, options.mayChange === true);
    if (found !== undefined) fault(found);
  });
  page.on('response', (response) => {
    const status = response.status();
    if (status >= 400 && !(options.expectedStatuses ?? []).includes(status)) fault(`${status} for ${response.url()}`);
  });
  page.on('framenavigated', (frame) => {
    const url = frame.url();
    if (url !== 'about:blank' && !url.startsWith(`${origin}/`)) fault(`a navigation to ${url}`);
  });
}

function requestFault(request: Request, origin: string, mayChange: boolean): string | undefined {
  const url = request.url();
  if (!url.startsWith(`${origin}/`)) return url.startsWith('data:image/svg+xml') ? undefined : `a request to ${url}`;
  if (!mayChange && request.method() !== 'GET') return `${request.method()} ${url} from a page that only shows`;
  return undefined;
}

/** Requests without an answer so far. An open stream of events has none. */
function pendingRequests(page: Page): ReadonlySet<Request> {
  const pending = new Set<Request>();
  const ended = (request: Request): void => void pending.delete(request);
  page.on('request', (request) => {
    if (request.resourceType() !== 'eventsource') pending.add(request);
  });
  page.on('requestfinished', ended);
  page.on('requestfailed', ended);
  return pending;
}

/** Looks at the page that must all find it quiet: code, data and drawing come one after the other. */
const quietLooks = 2;
const looksMax = 3_000;
const twoFrames =
  'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(document.querySelector(".loading") === null))))';

async function quiet(page: Page, pending: ReadonlySet<Request>): Promise<void> {
  let found = 0;
  for (let look = 0; look < looksMax && found < quietLooks; look++) {
    const hasData = await page.evaluate<boolean>(twoFrames);
    found = hasData && pending.size === 0 ? found + 1 : 0;
  }
  if (found < quietLooks) throw new Error(`the page waits for ${[...pending].map((one) => one.url()).join(', ')}`);
}

/** The page shows its data and no sign of loading. */
export async function settled(page: Page): Promise<void> {
  // A name of invisible characters makes a heading without a size.
  await page.locator('main h1').first().waitFor({ state: 'attached', timeout: openMs });
  const loading = page.locator('.loading, [aria-busy="true"]').first();
  await loading.waitFor({ state: 'detached', timeout: openMs });
  await page.waitForTimeout(quietMs);
  await loading.waitFor({ state: 'detached', timeout: openMs });
}

/** Faults that make a page unusable, with any content. */
export async function usable(page: Page, { mayFail = false }: { readonly mayFail?: boolean } = {}): Promise<readonly string[]> {
  const state = await page.evaluate<{
    readonly headings: readonly string[];
    readonly wide: number;
    readonly width: number;
    readonly links: number;
    readonly title: string;
    readonly failures: readonly string[];
  }>(`({
    headings: [...document.querySelectorAll('main h1')].map((one) => one.textContent),
    wide: document.documentElement.scrollWidth,
    width: document.documentElement.clientWidth,
    links: document.querySelectorAll('nav a').length,
    title: document.title,
    failures: [...document.querySelectorAll('[role="alert"]')].map((one) => one.textContent),
  })`);
  return [
    ...(state.headings.length === 1 ? [] : [`${state.headings.length} headings of level 1`]),
    ...(mayFail || state.headings[0] !== 'Not found' ? [] : ['there is no such page']),
    ...(state.wide <= state.width + 1 ? [] : [`the page is ${state.wide} wide in a window of ${state.width}`]),
    ...(state.links > 0 ? [] : ['no menu']),
    ...(mayFail ? [] : state.failures.map((failure) => `the page shows: ${failure}`)),
    ...(state.title === '' ? ['no title'] : []),
  ];
}

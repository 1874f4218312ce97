import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ConsoleListener, ConsoleOptions } from '../../src/web/console.ts';
import { isPageAddress, namedPages } from '../../src/web/console-files.ts';
import { openConsole } from '../builders/console-listener.ts';

const open: ConsoleListener[] = [];
let files = '';

beforeAll(() => {
  files = mkdtempSync(join(tmpdir(), 'tracejury-console-'));
  mkdirSync(join(files, 'assets'));
  writeFileSync(join(files, 'index.html'), '<!doctype html><title>console</title>');
  writeFileSync(join(files, 'assets/main-abc123.js'), 'export {};');
  writeFileSync(join(files, 'secret.txt'), 'secret');
});

afterAll(() => rmSync(files, { recursive: true }));

afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.stop()));
});

async function listening(options: Partial<ConsoleOptions> = {}): Promise<string> {
  const { url, listener } = await openConsole(options);
  open.push(listener);
  return url;
}

test('console files: every address of a page is the one HTML file, which browsers ask for each time', async () => {
  const url = await listening({ files });
  for (const path of ['/', '/runs', '/runs/0123/4567?tenant=a', '/sessions/a%2Fb.html']) {
    const answer = await fetch(`${url}${path}`);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(await answer.text()).toContain('<title>console</title>');
  }
});

test('console files: every page that a name ends has its address, with any name', () => {
  const source = readFileSync(join(import.meta.dirname, '../../src/console/pages.ts'), 'utf8');
  expect(namedPages).toEqual([...source.matchAll(/path: '([^']*:[^']*)'/g)].map(([, path]) => path));
  for (const path of namedPages) expect(isPageAddress(path.replaceAll(/:\w+/g, 'gpt-4.1'))).toBe(true);
});

test('console files: with tokens an unknown address that looks like a file does not exist, for callers without one too', async () => {
  const url = await listening({ files, tokens: [{ name: 'r', value: 'reads-and-nothing-else', may: ['read'] }] });
  expect((await fetch(`${url}/main.js`)).status).toBe(404);
});

test('console files: a file with a hash in its name is kept for good', async () => {
  const url = await listening({ files });
  const answer = await fetch(`${url}/assets/main-abc123.js`);
  expect([answer.status, answer.headers.get('cache-control'), answer.headers.get('x-content-type-options')]).toEqual([
    200,
    'public, max-age=31536000, immutable',
    'nosniff',
  ]);
  expect(answer.headers.get('content-type')).toContain('javascript');
});

test.each([
  '/api/v1/nothing',
  '/api',
  '/assets/gone.js',
  '/assets/..%2Fsecret.txt',
  '/v1/traces',
  '/metrics/x',
  '/favicon.ico',
  '/main.js',
  '/robots.txt',
  '/.env',
  '/.git/config',
  '/wp-login.php',
  '/runs/export.csv',
  '/settings/x.json',
  '/sessions/a/b.html',
  '/index.php?x=1',
])('console files: %s is not a page', async (path) => {
  const url = await listening({ files });
  const answer = await fetch(`${url}${path}`);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await answer.text()).not.toContain('secret');
});

test('console files: the policy allows only files of the console', async () => {
  const url = await listening({ files });
  for (const path of ['/', '/assets/main-abc123.js', '/api/v1/runs', '/livez', '/nothing/api']) {
    const { headers } = await fetch(`${url}${path}`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy.split(';').toSorted()).toEqual(
      [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].toSorted(),
    );
    expect([headers.get('x-frame-options'), headers.get('referrer-policy'), headers.get('cross-origin-resource-policy')]).toEqual([
      'DENY',
      'no-referrer',
      'same-origin',
    ]);
    expect([headers.get('strict-transport-security'), headers.get('access-control-allow-origin')]).toEqual([null, null]);
  }
});

test('console files: with tokens the pages are open, and what they show is not', async () => {
  const url = await listening({ files, tokens: [{ name: 'reader', value: 'a token that may read', may: ['read'] }] });
  const statusOf = async (path: string): Promise<number> => (await fetch(`${url}${path}`)).status;
  expect(await Promise.all(['/', '/runs', '/assets/main-abc123.js'].map(statusOf))).toEqual([200, 200, 200]);
  expect(await Promise.all(['/plain', '/metrics', '/api/v1/runs', '/api/v1/nothing', '/api/v1/openapi.json'].map(statusOf))).toEqual(
    Array.from({ length: 5 }, () => 401),
  );
});

test('console files: without a built console the plain page is at / and mentions it', async () => {
  const url = await listening({ files: join(files, 'assets') });
  const page = await (await fetch(`${url}/`)).text();
  expect(page).toContain('tracejury is running');
  expect(page).toContain('npm run build');
  expect((await fetch(`${url}/runs`)).status).toBe(404);
});

test('console files: beside a built console the plain page is at /plain', async () => {
  const url = await listening({ files });
  const page = await (await fetch(`${url}/plain`)).text();
  expect(page).toContain('tracejury is running');
  expect(page).not.toContain('npm run build');
});

test.each([
  ['/', true],
  ['/runs?x=/api/', true],
  ['/apiary', true],
  ['/api/v1/runs', false],
  ['/metrics', false],
  ['/metrics?x', false],
  ['/v1/traces', false],
  ['/opentelemetry.proto.collector/Export', false],
  ['/wp-login%2Ephp', false],
  ['/%2eenv', false],
  ['/index.php/user', false],
  ['/backup.tar.gz~', false],
  ['/db.sqlite3-journal', false],
  ['/settings.html;x=1', false],
  ['/agents/gpt-4.1', true],
])('console files: %s is a page: %s', (url, want) => {
  expect(isPageAddress(url)).toBe(want);
});

test('console files: the documentation is there as text that browsers show, for callers without a token too, and nothing beside it', async () => {
  const docs = join(import.meta.dirname, '../../docs');
  const url = await listening({ files, docs, tokens: [{ name: 'r', value: 'reads-and-nothing-else', may: ['read'] }] });
  const page = await fetch(`${url}/docs/guides/troubleshooting.md`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(await page.text()).toContain('# ');
  for (const path of ['/docs/none.md', '/docs/guides', '/docs/%2e%2e/package.json', '/docs/..%2fpackage.json'])
    expect((await fetch(`${url}${path}`)).status).not.toBe(200);
});

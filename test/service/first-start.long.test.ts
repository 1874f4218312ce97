/** The first minutes of a newcomer: the page with the address for spans, a start that fails, requests to the wrong place. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import { service } from '../../src/service.ts';
import { pino } from 'pino';
import { simulatedDisk } from '../journals/simulated-disk.ts';
import { running, type Running } from './running.ts';
import { validators } from '../builders/validators.ts';

let up: Running;
beforeAll(async () => {
  up = await running('');
});
afterAll(() => up.stop());

test('the first page names the addresses that the service really has', async () => {
  const page = await (await fetch(`${up.console}/plain`)).text();
  expect(page).toContain(`OTEL_EXPORTER_OTLP_ENDPOINT=${up.otlp}`);
  expect(page).not.toContain(':4318');
});

test('OTLP to the console is answered with the right address', async () => {
  const response = await fetch(`${up.console}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({
    error: { code: 'not_found', message: 'The console does not accept OTLP.', todo: expect.stringContaining(up.otlp) },
  });
});

test.each([
  [{}, 'The request has a body and no header Content-Type.'],
  [
    { 'content-type': 'application/x-www-form-urlencoded' },
    'The header Content-Type is "application/x-www-form-urlencoded", which this address does not accept.',
  ],
])('JSON without its content type is answered with the header to send', async (headers, message) => {
  // A Blob without a type, so that no header is added.
  const response = await fetch(`${up.console}/api/v1/annotations`, { method: 'POST', headers, body: new Blob(['{ "annotations": [] }']) });
  expect(response.status).toBe(415);
  expect(await response.json()).toEqual({
    error: { code: 'unsupported_media_type', message, todo: 'Send JSON, with the header Content-Type: application/json.' },
  });
});

test.each(['otlp_http', 'otlp_grpc', 'console'])('a start that cannot listen at %s leaves no data behind', async (key) => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-first-start-'));
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  try {
    const all = {
      otlp_http: '127.0.0.1:0',
      otlp_grpc: '127.0.0.1:0',
      console: '127.0.0.1:0',
      [key]: `127.0.0.1:${(taken.address() as AddressInfo).port}`,
    };
    const data = join(folder, 'data');
    const { config } = loadConfig({
      validators,
      file: 'a.yaml',
      text: JSON.stringify({ listen: all, store: { url: `sqlite:${data}/a.db` }, journal: { url: `disk:${data}/journal` } }),
      env: {},
      evaluators,
    });
    const one = service({ config, logger: pino({ level: 'silent' }) });
    await expect(one.start()).rejects.toThrow(/EADDRINUSE/);
    await one.stop();
    expect(existsSync(data)).toBe(false);
  } finally {
    await new Promise((resolve) => taken.close(resolve));
    rmSync(folder, { recursive: true });
  }
});

test('the journal on disk is kept in the files that the service is given', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-first-start-'));
  const disk = simulatedDisk();
  const listen = { otlp_http: '127.0.0.1:0', otlp_grpc: '127.0.0.1:0', console: '127.0.0.1:0' };
  const { config } = loadConfig({
    validators,
    file: 'a.yaml',
    text: JSON.stringify({ listen, store: { url: 'memory:' }, journal: { url: `disk:${folder}/journal` } }),
    env: {},
    evaluators,
  });
  const one = service({ config, files: disk.files, logger: pino({ level: 'silent' }), stopMs: 500 });
  try {
    await one.start();
    expect(disk.paths().filter((path) => path.startsWith(`${folder}/journal/`)).length).toBeGreaterThan(0);
    expect(existsSync(join(folder, 'journal'))).toBe(false);
  } finally {
    await one.stop();
    rmSync(folder, { recursive: true });
  }
});

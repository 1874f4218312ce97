/** Every exporter names the fault of its backend in words that a person on call can act on, and loses nothing that may still be taken. */
import { afterEach, expect, test } from 'vitest';
import { exporterOf, failing, family, memberAt, type Member } from './family.ts';
import { familyServer, type FamilyAnswer } from './family-server.ts';
import type { Exporter } from '../../src/exporters/exporter.ts';
import { failureReason } from '../../src/exporters/delivery/export-outcome.ts';
import { exporters } from '../../src/exporters/index.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

test('backend-faults: every exporter is looked at', () => {
  expect([...new Set(family.map(({ to }) => to)), 'metrics'].toSorted()).toEqual(Object.keys(exporters).toSorted());
});

async function opened(member: Member, url: string, timeoutMs?: number): Promise<Exporter> {
  const entry = await memberAt(member, url);
  const exporter = exporterOf({ ...entry, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  ends.push(exporter.stop);
  return exporter;
}

const html = { 'content-type': 'text/html; charset=utf-8' };

interface Case {
  readonly name: string;
  readonly answer: FamilyAnswer;
  /** The message over gRPC where it differs: behind a status of 200 it has its own. */
  readonly overGrpc?: FamilyAnswer;
  readonly retryable: boolean;
  readonly error: RegExp;
  /** In metrics. */
  readonly reason: string;
  readonly todo: RegExp;
  readonly retryAfterMs?: number;
  /** Exporters for which such an answer is not a fault. */
  readonly but?: (member: Member) => boolean;
}

const page = (status: number): FamilyAnswer => ({ status, headers: html, body: '<!doctype html><title>Sign in</title>' });
const isWebhook = ({ to }: Member): boolean => to === 'webhook';
const isGrpc = ({ speaks }: Member): boolean => speaks === 'grpc';
const cases: readonly Case[] = [
  {
    name: 'keys are wrong',
    answer: { status: 401 },
    overGrpc: { status: 200, grpcStatus: 16 },
    retryable: true,
    error: /^status 401: .*(?:key|user).* is refused$/,
    reason: 'http_401',
    todo: /keys/,
  },
  {
    name: 'keys may not',
    answer: { status: 403 },
    overGrpc: { status: 200, grpcStatus: 7 },
    retryable: true,
    error: /^status 403: .* is refused$/,
    reason: 'http_403',
    todo: /keys/,
  },
  {
    name: 'the path is wrong, and a page reports it',
    answer: page(404),
    retryable: true,
    error: /^status 404$/,
    reason: 'http_404',
    todo: /endpoint/,
  },
  {
    name: 'it is somewhere else',
    answer: { status: 307, headers: { location: 'https://elsewhere.invalid/' } },
    retryable: true,
    error: /^status 307$/,
    reason: 'http_307',
    todo: /redirects/,
  },
  {
    name: 'it has a fault',
    answer: page(500),
    overGrpc: { status: 200, grpcStatus: 13 },
    retryable: true,
    error: /^status 500$/,
    reason: 'http_500',
    todo: /has a fault/,
  },
  {
    name: 'a proxy before it finds no backend',
    answer: page(502),
    retryable: true,
    error: /^status 502$/,
    reason: 'http_502',
    todo: /has a fault/,
  },
  {
    name: 'it is busy and names a time',
    answer: { status: 503, headers: { 'retry-after': '7' } },
    retryable: true,
    error: /^status 503$/,
    reason: 'http_503',
    todo: /later/,
    retryAfterMs: 7_000,
    but: isGrpc,
  },
  {
    name: 'it is asked too often',
    answer: { status: 429, headers: { 'retry-after': '3' } },
    retryable: true,
    error: /^status 429$/,
    reason: 'http_429',
    todo: /limits the rate/,
    retryAfterMs: 3_000,
    but: isGrpc,
  },
  { name: 'a request is too large', answer: { status: 413 }, retryable: false, error: /^status 413$/, reason: 'http_413', todo: /smaller/ },
  {
    name: 'it does not want it',
    answer: { status: 400, headers: { 'content-type': 'application/json' }, body: '{"error":"no"}' },
    overGrpc: { status: 200, grpcStatus: 3 },
    retryable: false,
    error: /^status 400$/,
    reason: 'http_400',
    todo: /^$/,
  },
  // Over gRPC it has no trailers of gRPC.
  {
    name: 'a page for people reports that all is well',
    answer: page(200),
    retryable: true,
    error: /^(?:status 200: a page of HTML|no status of gRPC)$/,
    reason: 'page|protocol',
    todo: /endpoint/,
    but: isWebhook,
  },
  {
    name: 'it cuts the connection',
    answer: 'cut',
    retryable: true,
    error: /^ECONNRESET$/,
    reason: 'connection',
    todo: /connection breaks/,
  },
  { name: 'it sends nothing', answer: 'silence', retryable: true, error: /^no answer within 150 ms$/, reason: 'timeout', todo: /slow/ },
];

for (const member of family) {
  for (const { name, answer, overGrpc = answer, retryable, error, reason, todo, retryAfterMs } of cases.filter(
    ({ but: no }) => no?.(member) !== true,
  )) {
    test(`backend-faults: ${member.name}: ${name}`, async () => {
      const server = await familyServer({ isGrpc: isGrpc(member), answer: () => (isGrpc(member) ? overGrpc : answer) });
      ends.push(server.close);
      const outcome = await (await opened(member, server.url, answer === 'silence' ? 150 : undefined)).send(failing);
      expect(outcome).toEqual({
        kind: 'failed',
        retryable,
        error: expect.stringMatching(error),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
      if (outcome.kind !== 'failed') return;
      const words = failureReason(outcome);
      expect(reason.split('|')).toContain(words.reason);
      expect(words.todo).toMatch(todo);
      expect(server.seen()).toBeGreaterThan(0);
    });
  }

  test(`backend-faults: ${member.name}: no listener, no such host, and a listener without TLS`, async () => {
    const server = await familyServer({ isGrpc: false, answer: () => ({ status: 200 }) });
    const told = async (url: string): Promise<unknown> => {
      const outcome = await (await opened(member, url)).send(failing);
      return outcome.kind === 'failed' ? [outcome.retryable, failureReason(outcome).reason] : outcome.kind;
    };
    expect(await told(server.url.replace('http:', 'https:'))).toEqual([true, 'tls']);
    await server.close();
    expect(await told(server.url)).toEqual([true, 'connection']);
    // Longer than a name can be: no name server has to be asked.
    expect(await told(`http://${'a'.repeat(64)}.invalid:4318`)).toEqual([true, 'dns']);
  });
}

test('backend-faults: a webhook may answer with a page that all is well', async () => {
  const server = await familyServer({ isGrpc: false, answer: () => page(200) });
  ends.push(server.close);
  for (const member of family.filter(isWebhook)) expect(await (await opened(member, server.url)).send(failing)).toEqual({ kind: 'sent' });
});

test('backend-faults: over gRPC, a server of HTTP/1.1 is named as such', async () => {
  const server = await familyServer({ isGrpc: false, answer: () => ({ status: 200 }) });
  ends.push(server.close);
  for (const member of family.filter(isGrpc)) {
    const outcome = await (await opened(member, server.url, 2_000)).send(failing);
    expect(outcome).toMatchObject({ kind: 'failed', retryable: true });
    expect(outcome.kind === 'failed' ? failureReason(outcome).reason : '').toMatch(/protocol|connection/);
  }
});

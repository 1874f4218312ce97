import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Exporter } from '../../../src/exporters/exporter.ts';
import { isPublicAddress } from '../../../src/exporters/delivery/ssrf-guard.ts';
import { signatureHeaders, webhookExporter } from '../../../src/exporters/webhook/webhook.ts';
import type { WebhookSettings } from '../../../src/exporters/settings.ts';
import { manualClock, type ManualClock } from '../../../src/model/clock.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { tenant } from '../../../src/model/ids.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { metricRegistry, type MetricRegistry } from '../../../src/telemetry/registry.ts';
import { agentTrace, spanId } from '../../builders/agent-trace.ts';
import { manualSleep, settled, type ManualSleep } from '../../builders/manual-sleep.ts';
import { evaluation, failed, run, scored, scoredRun, skipped } from '../../builders/scored-run.ts';
import { wholePage } from '../../telemetry/whole-page.ts';

interface Request {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Receiver {
  readonly port: number;
  readonly requests: Request[];
  answer: (response: ServerResponse) => void;
}

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function receiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      own.requests.push({ url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() });
      own.answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const own: Receiver = { port: (server.address() as AddressInfo).port, requests: [], answer: (response) => void response.end() };
  return own;
}

interface Started {
  readonly exporter: Exporter;
  readonly to: Receiver;
  readonly clock: ManualClock;
  readonly rest: ManualSleep;
  readonly telemetry: MetricRegistry;
}

const only: WebhookSettings['only'] = { verdicts: ['fail'], labels: [], evaluators: [], agents: [] };
const secret = `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}`;

async function started(
  settings: Partial<WebhookSettings> = {},
  lookup?: (name: string, done: (addresses: readonly string[]) => void) => void,
): Promise<Started> {
  const to = await receiver();
  const [clock, rest, telemetry] = [manualClock(), manualSleep(), metricRegistry()];
  const resolve =
    lookup === undefined
      ? undefined
      : (name: string, _options: object, callback: (error: null, addresses: readonly { address: string; family: number }[]) => void) =>
          lookup(name, (addresses) =>
            callback(
              null,
              addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
            ),
          );
  const exporter = webhookExporter(
    {
      name: 'channel',
      timeoutMs: 60_000,
      webhook: { url: `http://127.0.0.1:${to.port}/hook`, secret, body: 'json', only, perMinute: 10, privateAddresses: true, ...settings },
    },
    { telemetry, clock, sleep: rest.sleep, ...(resolve === undefined ? {} : { lookup: resolve as never }) },
  );
  open.push(() => exporter.stop());
  return { exporter, to, clock, rest, telemetry };
}

/** Lets requests come and go until `done` holds. */
async function until(done: () => boolean): Promise<void> {
  while (!done()) await settled();
}

const bad = scoredRun({ tool_error: scored(0.25), validity: scored(1) });
const nth = (at: number, verdict: Verdict = scored(0.25)) =>
  scoredRun({ tool_error: verdict }, run({ spanId: spanId(0x1000 + at), endUnixNano: 1_700_000_000_000_000_000n + BigInt(at) }));
const data = (request: Request | undefined): JsonObject => (JSON.parse(request?.body ?? '{}') as { data: JsonObject }).data;

/** The check of the guide for a receiver. */
function isGenuine(headers: IncomingHttpHeaders, body: string, key: string, nowSeconds: number): boolean {
  const [id, at, given] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => String(headers[name]));
  const own = createHmac('sha256', Buffer.from(key.replace('whsec_', ''), 'base64'))
    .update(`${id}.${at}.${body}`)
    .digest('base64');
  const isOurs =
    given?.split(' ').some((one) => one.length === own.length + 3 && timingSafeEqual(Buffer.from(one), Buffer.from(`v1,${own}`))) === true;
  return isOurs && Math.abs(nowSeconds - Number(at)) < 300;
}

test('webhook: a failed run is sent with the failed verdicts, signed so that five lines can check it', async () => {
  const { exporter, to, clock } = await started({ link: 'https://jury.example/runs/{trace_id}/{span_id}' });
  const of = run({ tenant: tenant('acme'), trace: agentTrace({ agent: 'travel-agent', sessionId: 's-1' }) });
  expect(await exporter.send(scoredRun({ tool_error: scored(0.25), validity: scored(1), gone: skipped }, of))).toEqual({ kind: 'sent' });
  const [request] = to.requests;
  expect(request).toMatchObject({ url: '/hook', headers: { 'content-type': 'application/json', 'user-agent': 'tracejury' } });
  expect(JSON.parse(request?.body ?? '')).toEqual({
    type: 'tracejury.verdicts',
    timestamp: '2023-11-14T22:13:21.123456Z',
    data: {
      runs: [
        {
          trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
          span_id: '00000000000000a1',
          tenant: 'acme',
          agent: 'travel-agent',
          service: 'travel',
          version: null,
          session_id: 's-1',
          started_at: '2023-11-14T22:13:20.000000Z',
          ended_at: '2023-11-14T22:13:21.123456Z',
          completeness: 'complete',
          status: 'ok',
          revision: 1,
          link: 'https://jury.example/runs/4bf92f3577b34da6a3ce929d0e0e4736/00000000000000a1',
          verdicts: [
            {
              name: 'tool_error',
              evaluator: 'tool_error',
              version: 1,
              status: 'scored',
              score: 0.25,
              label: 'fail',
              passed: false,
              explanation: 'It is 0.25.',
            },
          ],
        },
      ],
    },
  });
  const [headers, body, now] = [request?.headers ?? {}, request?.body ?? '', clock.nowMs() / 1_000];
  expect(isGenuine(headers, body, secret, now)).toBe(true);
  for (const wrong of [
    isGenuine(headers, `${body} `, secret, now),
    isGenuine(headers, body, `whsec_${Buffer.from('another').toString('base64')}`, now),
    isGenuine({ ...headers, 'webhook-timestamp': '1' }, body, secret, 1),
    isGenuine({ ...headers, 'webhook-id': 'msg_other' }, body, secret, now),
    isGenuine(headers, body, secret, now + 400),
  ])
    expect(wrong).toBe(false);
});

test('webhook: the worked example of Standard Webhooks has our signature', () => {
  const headers = signatureHeaders(
    { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', atSeconds: 1_614_265_330, body: '{"test": 2432232314}' },
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  );
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

const told: readonly { readonly name: string; readonly only: Partial<WebhookSettings['only']>; readonly want: readonly string[] }[] = [
  { name: 'failed verdicts, when nothing else is asked for', only: {}, want: ['bad'] },
  { name: 'passed ones', only: { verdicts: ['pass'] }, want: ['good'] },
  { name: 'evaluations that failed themselves', only: { verdicts: ['error'] }, want: ['broken'] },
  { name: 'a label, with any outcome', only: { verdicts: [], labels: ['odd'] }, want: ['raw'] },
  { name: 'outcomes and labels together', only: { labels: ['odd'], verdicts: ['fail', 'error'] }, want: ['bad', 'broken', 'raw'] },
  { name: 'only one evaluator', only: { verdicts: ['fail', 'pass'], evaluators: ['good'] }, want: ['good'] },
  { name: 'only one agent', only: { agents: ['travel-agent'] }, want: ['bad'] },
  { name: 'nothing of other agents', only: { agents: ['other'] }, want: [] },
];
for (const { name, only: wanted, want } of told) {
  test(`webhook: it sends ${name}`, async () => {
    const { exporter, to } = await started({ only: { ...only, ...wanted } });
    expect(
      await exporter.send(
        scoredRun({
          bad: scored(0),
          good: scored(1),
          raw: scored(0.5, { threshold: null, passed: null, label: 'odd' }),
          broken: failed(),
          none: skipped,
        }),
      ),
    ).toEqual({ kind: 'sent' });
    const runs = to.requests.flatMap(
      (request) => data(request)['runs'] as readonly { readonly verdicts: readonly { readonly name: string }[] }[],
    );
    expect(runs.flatMap(({ verdicts }) => verdicts.map((one) => one.name)).toSorted()).toEqual(want);
  });
}

const tooLarge = { kind: 'skipped', reason: 'too_large', explanation: 'Too many calls.', details: {} } as const;
test('webhook: a run that is too large for an evaluator that guards is sent, one that is too large for another is not', async () => {
  const [
    { exporter, to },
    {
      evaluations: [one, other],
      ...item
    },
  ] = [await started(), scoredRun({ guarded: tooLarge, other: tooLarge })];
  await exporter.send({
    ...item,
    evaluations: [one, other].flatMap((each) => (each === undefined ? [] : [each === one ? { ...each, guard: true as const } : each])),
  });
  expect(to.requests.map(data)).toMatchObject([{ runs: [{ verdicts: [{ name: 'guarded', status: 'skipped', reason: 'too_large' }] }] }]);
});

test('webhook: a flood goes in few messages, which list ten runs and count the others, and none is lost', async () => {
  const { exporter, to, rest, clock, telemetry } = await started();
  const first = [0, 1, 2].map(async (at) => {
    await exporter.send(nth(at));
  });
  await Promise.all(first);
  // Those three were ready at once: one message, and two turns are left.
  const singles = to.requests.length;
  for (let at = 3; singles + at - 3 < 3; at++) await exporter.send(nth(at));
  expect(to.requests).toHaveLength(3);
  let taken = 0;
  const flood = Array.from({ length: 150 }, async (_, at) => {
    expect(await exporter.send(nth(100 + at, at < 20 ? failed() : scored(0.25)))).toEqual({ kind: 'sent' });
    taken++;
  });
  await until(() => rest.asleep() === 1);
  expect([to.requests.length, taken, rest.slept.at(-1)]).toEqual([3, 20, 6_000]);
  clock.advance(6_000);
  await rest.wakeAll();
  await Promise.all(flood);
  expect(to.requests).toHaveLength(4);
  const { runs, folded } = data(to.requests[3]) as { readonly runs: readonly { readonly span_id: string }[]; readonly folded: JsonObject };
  expect(runs.map(({ span_id }) => span_id)).toEqual(Array.from({ length: 10 }, (_, at) => spanId(0x1000 + 120 + at)));
  expect(folded).toEqual({ runs: 120, verdicts: { tool_error: 120 } });
  expect(wholePage(telemetry.snapshot())).toMatch(
    /tracejury_webhook_runs_total\{[^}]*tracejury_exporter="channel"[^}]*tracejury_outcome="folded"[^}]*\} 120/,
  );
});

test('webhook: runs of one tenant leave those of another one on the list', async () => {
  const { exporter, to, rest, clock } = await started();
  for (let at = 0; to.requests.length < 3; at++) await exporter.send(nth(at));
  const of = (name: string, at: number) => {
    const item = nth(at);
    return { ...item, run: { ...item.run, tenant: tenant(name) } };
  };
  const flood = Array.from({ length: 50 }, (_, at) => exporter.send(of('flood', 100 + at)));
  const victim = exporter.send(of('victim', 900));
  await until(() => rest.asleep() === 1);
  clock.advance(60_000);
  await rest.wakeAll();
  await Promise.all([...flood, victim]);
  const runs = to.requests.slice(3).flatMap((request) => data(request)['runs'] as readonly JsonObject[]);
  expect(runs.map((one) => one['tenant'])).toContain('victim');
});

test('webhook: what waits for its turn at a stop is not taken, and may come again', async () => {
  const { exporter, to, rest } = await started({ perMinute: 1 });
  for (const at of [0, 1, 2]) await exporter.send(nth(at));
  const waiting = exporter.send(nth(3));
  await until(() => rest.asleep() === 1);
  await exporter.stop();
  expect(await waiting).toEqual({ kind: 'failed', retryable: true, error: 'stopped' });
  expect(to.requests).toHaveLength(3);
});

test('webhook: what fails is sent again under the same id and with a new signature', async () => {
  const { exporter, to, clock } = await started();
  to.answer = (response) => {
    response.statusCode = 503;
    response.setHeader('retry-after', '7');
    response.end();
  };
  expect(await exporter.send(bad)).toMatchObject({ kind: 'failed', retryable: true, retryAfterMs: 7_000 });
  to.answer = (response) => void response.end();
  clock.advance(60_000);
  expect(await exporter.send(bad)).toEqual({ kind: 'sent' });
  const [first, second] = to.requests;
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.body).toBe(first?.body);
  expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
  expect(isGenuine(second?.headers ?? {}, second?.body ?? '', secret, clock.nowMs() / 1_000)).toBe(true);
});

for (const { status, retryable } of [
  { status: 400, retryable: false },
  { status: 413, retryable: false },
  { status: 401, retryable: true },
  { status: 404, retryable: true },
  { status: 302, retryable: true },
]) {
  test(`webhook: ${status} is ${retryable ? 'about the address' : 'about the message'}, and no redirect is followed`, async () => {
    const elsewhere = await receiver();
    const { exporter, to } = await started();
    to.answer = (response) => void response.writeHead(status, { location: `http://127.0.0.1:${elsewhere.port}/` }).end();
    expect(await exporter.send(bad)).toMatchObject({ kind: 'failed', retryable });
    expect([to.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
  });
}

test('webhook: a revision with the same verdict is not news, one with another verdict is', async () => {
  const { exporter, to } = await started({ only: { ...only, verdicts: ['fail', 'pass'] } });
  await exporter.send(bad);
  await exporter.send(scoredRun({ tool_error: scored(0.3), validity: scored(1) }, run({ revision: 2 })));
  expect(to.requests).toHaveLength(1);
  await exporter.send(scoredRun({ tool_error: scored(0.9), validity: scored(1) }, run({ revision: 3 })));
  expect(to.requests).toHaveLength(2);
  expect(data(to.requests[1])['runs']).toMatchObject([{ revision: 3, verdicts: [{ name: 'tool_error', passed: true }] }]);
});

test('webhook: a verdict on a session is sent as such', async () => {
  const of = run({ trace: agentTrace({ agent: 'a', sessionId: 's-1' }), session: { revision: 2, turns: 3, leftOut: 0 } });
  const verdict = {
    ...evaluation('goal_reached', scored(0), of),
    key: { tenant: of.tenant, targetKind: 'session', targetId: 's-1', name: 'goal_reached' },
  } as const;
  const [json, slack] = [await started(), await started({ body: 'slack' })];
  for (const { exporter } of [json, slack]) await exporter.send({ run: of, evaluations: [verdict], decisions: [] });
  expect(data(json.to.requests[0])['runs']).toMatchObject([
    { revision: 2, session_id: 's-1', verdicts: [{ name: 'goal_reached', about: 'session' }] },
  ]);
  expect(slack.to.requests[0]?.body.replaceAll('\u200b', '')).toContain('• goal_reached of the session fail 0.00');
});

test.each([
  [2 / 3, '0.66'],
  [0.29, '0.29'],
  [0.999, '0.99'],
])('webhook: a channel reads the score %d as %s', async (score, text) => {
  const { exporter, to } = await started({ body: 'slack' });
  await exporter.send(scoredRun({ tool_error: scored(score, { label: 'fail', passed: false }) }));
  expect(to.requests[0]?.body.replaceAll('\u200b', '')).toContain(` ${text}: It is`);
});

test('webhook: a channel gets a text, in which nothing of a trace is a command', async () => {
  const { exporter, to } = await started({ body: 'slack', link: 'https://traces.example/{trace_id}' });
  const evil = { ...scored(0.25), explanation: '<!channel> *now*\n& <https://evil.example|click>' };
  await exporter.send(scoredRun({ tool_error: evil }, run({ trace: agentTrace({ agent: '<@U123> `x`' }) })));
  const { text, ...rest } = JSON.parse(to.requests[0]?.body ?? '') as { readonly text: string };
  expect(rest).toEqual({ unfurl_links: false, unfurl_media: false });
  const [head, line, ...more] = text.replaceAll('\u200b', '').split('\n');
  expect(head).toBe('*&lt;@U123&gt; `x`* <https://traces.example/4bf92f3577b34da6a3ce929d0e0e4736|trace 4bf92f3577b34da6a3ce929d0e0e4736>');
  expect(line).toBe('• tool_error fail 0.25: &lt;!channel&gt; *now* &amp; &lt;https://evil.example|click&gt;');
  expect(more).toEqual([]);
  await exporter.send(scoredRun({ a: scored(0), b: scored(0), c: scored(0), d: scored(0), e: scored(0) }, run({ revision: 2 })));
  expect((JSON.parse(to.requests[1]?.body ?? '') as { readonly text: string }).text.split('\n').map((one) => one.slice(0, 12))).toEqual([
    '*travel-agen',
    '• a fail 0.0',
    '• b fail 0.0',
    '• c fail 0.0',
    '• and 2 more',
  ]);
});

test('webhook: with any number of verdicts, a message stays small', async () => {
  for (const body of ['json', 'slack'] as const) {
    const { exporter, to } = await started({ body });
    const long = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`e${at}`, scored(0, { explanation: '\ud800<&'.repeat(50_000) })]),
    );
    const all = Array.from({ length: 60 }, (_, at) =>
      exporter.send(
        scoredRun(
          long,
          run({ spanId: spanId(0x2000 + at), trace: agentTrace({ agent: 'a'.repeat(100_000), sessionId: 's'.repeat(100_000) }) }),
        ),
      ),
    );
    await Promise.all(all);
    for (const request of to.requests) expect(request.body.length).toBeLessThan({ json: 300_000, slack: 40_000 }[body]);
    expect(to.requests.every(({ body: text }) => text.isWellFormed())).toBe(true);
  }
});

const refused = [
  '127.0.0.1',
  '10.1.2.3',
  '172.31.0.1',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '198.18.0.1',
  '::1',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fd00::1',
  'fec0::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '::ffff:10.0.0.1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
  '100::1',
];
const taken = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'];
test('webhook: addresses inside are distinguished from those outside, in every spelling', () => {
  expect(refused.filter(isPublicAddress)).toEqual([]);
  expect(taken.filter((address) => !isPublicAddress(address))).toEqual([]);
});

for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost']) {
  test(`webhook: nothing goes to ${host} unless the entry allows it`, async () => {
    const to = await receiver();
    const { exporter } = await started({ url: `http://${host}:${to.port}/`, privateAddresses: false });
    const outcome = await exporter.send(bad);
    expect(outcome).toMatchObject({ kind: 'failed', retryable: true, error: 'ADDRESS_NOT_PUBLIC' });
    expect(to.requests).toEqual([]);
  });
}

test('webhook: a name that leads inside is refused, also when one of its addresses does not, and is asked about once: what was looked at is what is connected to', async () => {
  const asked: string[] = [];
  let addresses: readonly string[] = ['169.254.169.254'];
  const { exporter, to, clock } = await started({ url: 'http://rebinding.example/hook', privateAddresses: false }, (name, done) => {
    asked.push(name);
    done(addresses);
  });
  for (const inside of [['169.254.169.254'], ['8.8.8.8', '127.0.0.1'], ['::ffff:192.168.1.1'], []]) {
    addresses = inside;
    clock.advance(60_000);
    expect(await exporter.send(bad)).toMatchObject({
      kind: 'failed',
      retryable: true,
      error: inside.length === 0 ? 'ENOTFOUND' : 'ADDRESS_NOT_PUBLIC',
    });
  }
  expect(asked).toEqual(Array.from({ length: 4 }, () => 'rebinding.example'));
  expect(to.requests).toEqual([]);
});

test('webhook: an alert is sent at once, signed, and a receiver that is away is tried again with the same id', async () => {
  const { exporter, to, clock } = await started();
  const notice = {
    alert: 'tools',
    when: 'tool_error.rate < 0.9 over 1h',
    agent: 'a',
    kind: 'firing',
    sinceMs: clock.nowMs(),
    atMs: clock.nowMs(),
    figure: 0.5,
    threshold: 0.9,
    explanation: 'So it is.',
    runsPath: '/runs',
  } as const;
  to.answer = (response) => void response.writeHead(503).end();
  expect(await exporter.notify?.(notice)).toMatchObject({ kind: 'failed', retryable: true });
  to.answer = (response) => void response.end();
  clock.advance(60_000);
  expect(await exporter.notify?.(notice)).toEqual({ kind: 'sent' });
  const [first, second] = to.requests;
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(JSON.parse(second?.body ?? '')).toMatchObject({ type: 'tracejury.alert', data: { alert: 'tools', state: 'firing' } });
  expect(isGenuine(second?.headers ?? {}, second?.body ?? '', secret, clock.nowMs() / 1_000)).toBe(true);
});

test('webhook: an alert goes to no private address either', async () => {
  const { exporter, to } = await started({ privateAddresses: false });
  const outcome = await exporter.notify?.({
    alert: 'a',
    when: 'cost per run > 1',
    agent: undefined,
    kind: 'over',
    sinceMs: 0,
    atMs: 0,
    figure: undefined,
    threshold: 1,
    explanation: '',
    runsPath: '/runs',
  });
  expect(outcome).toMatchObject({ kind: 'failed' });
  expect(to.requests).toEqual([]);
});

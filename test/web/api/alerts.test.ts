/** The routes of alerts over real requests: who may silence and acknowledge what, and what is refused. */
import { afterEach, expect, onTestFinished, test } from 'vitest';
import type { AlertNotes, AlertRow, AlertWanted } from '../../../src/model/alert.ts';
import type { Tenant } from '../../../src/model/ids.ts';
import type { ConsoleListener } from '../../../src/web/console.ts';
import { emptyApi, openConsole } from '../../builders/console-listener.ts';
import { running } from '../../service/running.ts';

const open: ConsoleListener[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.stop()));
});

const tokens = [
  { name: 'reader', value: 'reads-and-nothing-else', may: ['read'] },
  { name: 'ana', value: 'reads-and-annotates-too', may: ['read', 'annotate'] },
  { name: 'boss', value: 'does-everything-here', may: ['read', 'annotate', 'operate'] },
  { name: 'north', value: 'sees-its-own-tenant', may: ['read'], sees: 'own' },
] as const;
const valueOf = (name: string): string => tokens.find((token) => token.name === name)?.value ?? '';

function row(name: string, tenant: string | undefined, more: Partial<AlertRow> = {}): AlertRow {
  return {
    name,
    tenant: tenant as Tenant | undefined,
    when: 'run errors > 5%',
    agent: 'support',
    state: 'firing',
    sinceMs: 1_000,
    lookedAtMs: 2_000,
    firingMs: 1_000,
    figure: 0.5,
    threshold: 0.05,
    unit: 'share',
    runs: 40,
    runsPath: '/runs?agent=support&status=error',
    explanation: 'run errors: 50 %.',
    version: undefined,
    against: undefined,
    to: ['hook'],
    untold: 0,
    silence: undefined,
    acknowledged: undefined,
    ...more,
  };
}

async function host(more: Partial<AlertNotes> = {}) {
  const asked: unknown[] = [];
  const known = ({ alert, only }: AlertWanted): boolean =>
    (alert === 'crashed' && only === undefined) || (alert === 'north' && only !== 'south');
  const alertNotes: AlertNotes = {
    async silence(wanted, given) {
      asked.push(['silence', wanted, given]);
      return known(wanted) ? 'done' : 'unknown';
    },
    async acknowledge(wanted, given) {
      asked.push(['acknowledge', wanted, given]);
      return known(wanted) ? 1 : 'unknown';
    },
    async lift(wanted, kind) {
      asked.push(['lift', wanted, kind]);
      return known(wanted);
    },
    ...more,
  };
  const alerts = (): readonly AlertRow[] => [row('crashed', undefined), row('north', 'north', { state: 'ok' })];
  const { url, listener } = await openConsole({ tokens, api: { ...(await emptyApi()), alerts, alertNotes } });
  open.push(listener);
  return {
    asked,
    async call(path: string, { method = 'GET', token = 'boss', body }: { method?: string; token?: string; body?: unknown } = {}) {
      const answer = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${valueOf(token)}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as { alerts?: { name: string }[]; error?: { code: string } } };
    },
  };
}

const silence = { seconds: 3_600, reason: 'replaced' };
const rights: readonly { readonly method: string; readonly path: string; readonly body?: object; readonly may: readonly string[] }[] = [
  { method: 'GET', path: '/alerts', may: ['reader', 'ana', 'boss', 'north'] },
  { method: 'POST', path: '/alerts/north/silence', body: silence, may: ['boss'] },
  { method: 'DELETE', path: '/alerts/north/silence', may: ['boss'] },
  { method: 'POST', path: '/alerts/north/acknowledge', body: {}, may: ['ana', 'boss'] },
  { method: 'DELETE', path: '/alerts/north/acknowledge', may: ['ana', 'boss'] },
];
for (const { method, path, body, may } of rights)
  for (const { name: token } of tokens)
    test(`alerts api: ${token} ${may.includes(token) ? 'may' : 'may not'} ${method} ${path}`, async () => {
      const { call, asked } = await host();
      const { status } = await call(path, { method, token, ...(body === undefined ? {} : { body }) });
      expect(status === 200).toBe(may.includes(token));
      if (status !== 200) expect([status, asked]).toEqual([401, []]);
    });

test('alerts api: a token that sees one tenant sees only alerts of that tenant, and tenant narrows a change', async () => {
  const { call } = await host();
  expect((await call('/alerts', { token: 'north' })).body.alerts?.map(({ name }) => name)).toEqual(['north']);
  for (const [path, status] of [
    ['/alerts/crashed/silence?tenant=north', 404],
    ['/alerts/north/silence?tenant=north', 200],
    ['/alerts/north/silence?tenant=south', 404],
  ] as const)
    expect([path, (await call(path, { method: 'POST', body: silence })).status]).toEqual([path, status]);
});

test('alerts api: the state filters, and the body names agent, person and note', async () => {
  const { call, asked } = await host();
  expect((await call('/alerts?state=firing')).body.alerts?.map(({ name }) => name)).toEqual(['crashed']);
  await call('/alerts/crashed/silence', { method: 'POST', body: { ...silence, agent: null } });
  await call('/alerts/crashed/acknowledge', { method: 'POST', body: { agent: 'support', note: 'on it', by: 'somebody else' } });
  await call('/alerts/crashed/silence?agent=', { method: 'DELETE' });
  expect(asked).toEqual([
    ['silence', { alert: 'crashed', agent: '', only: undefined }, { by: 'boss', note: 'replaced', untilMs: 3_600_000 }],
    ['acknowledge', { alert: 'crashed', agent: 'support', only: undefined }, { by: 'boss', note: 'on it' }],
    ['lift', { alert: 'crashed', agent: '', only: undefined }, 'silence'],
  ]);
});

for (const { title, path, body, status, more = {} } of [
  { title: 'a silence without a reason', path: 'silence', body: { seconds: 60 }, status: 400 },
  { title: 'a silence without an end', path: 'silence', body: { reason: 'x' }, status: 400 },
  { title: 'a silence of more than 30 days', path: 'silence', body: { seconds: 2_592_001, reason: 'x' }, status: 400 },
  { title: 'a silence in the past', path: 'silence', body: { seconds: 0, reason: 'x' }, status: 400 },
  { title: 'a reason of a book', path: 'silence', body: { seconds: 60, reason: 'x'.repeat(501) }, status: 400 },
  { title: 'an unknown member', path: 'silence', body: { ...silence, forever: true }, status: 400 },
  { title: 'one silence too many', path: 'silence', body: silence, status: 409, more: { silence: async () => 'full' as const } },
  { title: 'an alert that does not fire', path: 'acknowledge', body: {}, status: 409, more: { acknowledge: async () => 0 } },
])
  test(`alerts api: ${title} is refused`, async () => {
    const { call } = await host(more);
    expect((await call(`/alerts/crashed/${path}`, { method: 'POST', body })).status).toBe(status);
  });

test('service: an alert is silenced and the silence lifted over the API, in the store of a service', async () => {
  const own = await running('evaluators: [ tool_error ]\nalerts: [ { name: a, when: run errors > 5%, agent: x } ]\n');
  onTestFinished(own.stop);
  const path = `${own.console}/api/v1/alerts/a/silence`;
  const body = JSON.stringify({ seconds: 60, reason: 'replaced' });
  const silenced = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(await silenced.json()).toMatchObject({
    alerts: [{ name: 'a', agent: 'x', silence: { by: 'console', reason: 'replaced', all_agents: true } }],
  });
  expect(await (await fetch(path, { method: 'DELETE' })).json()).toMatchObject({ alerts: [{ name: 'a', silence: null }] });
  expect((await fetch(path, { method: 'DELETE' })).status).toBe(404);
});

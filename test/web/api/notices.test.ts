/** The notices of a service, case by case. */
import { expect, test } from 'vitest';
import { manualClock } from '../../../src/model/clock.ts';
import type { EntryStatus } from '../../../src/model/exporter-status.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { noticeRoutes } from '../../../src/web/api/notices.ts';
import type { ApiDeps } from '../../../src/web/api/route.ts';
import { anyVisit, emptyApi } from '../../builders/console-listener.ts';
import { serviceStatus } from '../../builders/service-status.ts';

const remark = {
  file: 'tracejury.yaml',
  line: 3,
  column: 1,
  key: 'closing.settle',
  problem: 'a duration is missing',
  todo: 'Write 500ms.',
};
const configuration = serviceStatus().configuration();

async function notices(given: Partial<ApiDeps>): Promise<readonly JsonObject[]> {
  const quiet = { ...(await emptyApi()), clock: manualClock(1_700_000_000_000) };
  const answer = (await noticeRoutes[0]?.handle({ ...quiet, ...given }, {}, null, anyVisit)) as { readonly notices: readonly JsonObject[] };
  return answer.notices;
}

function scores(status: Partial<Extract<EntryStatus['status'], { readonly sends: 'scores' }>>): ApiDeps['exporters'] {
  const usual = {
    sends: 'scores',
    circuit: 'closed',
    retryAtMs: undefined,
    toSend: 0,
    sending: 0,
    notStored: 0,
    oldestAtMs: undefined,
    fault: undefined,
    sentAtMs: undefined,
    lastFailure: undefined,
  } as const;
  return {
    statuses: () => [{ name: 'phoenix', kind: 'phoenix', isConfigured: true, status: { ...usual, ...status } }],
    recount: async () => undefined,
  };
}

const budget = { judge: 'main', evaluator: undefined, limit: 'usd_per_day', most: 20, spent: 20.5, reserved: 0 } as const;

function attempts(outcome: string, need: string | null, count: number): JsonObject {
  return { agent: 'support', dialect: 'openinference', name: 'tool_call_validity', outcome, reason: null, need, count };
}

function unrecognised(scope: string): ReturnType<ApiDeps['unrecognised']>[number] {
  return { tenant: '' as never, service: 'shop', scope, spans: 7, names: ['GET /'], keys: [], dialects: [], missing: 'No.', todo: 'Do.' };
}

const cases: readonly {
  readonly title: string;
  readonly given: Partial<ApiDeps>;
  readonly code: string;
  readonly severity: string;
  readonly message: string;
}[] = [
  {
    title: 'a full disk',
    given: { status: serviceStatus({ fullFolder: () => '/data' }) },
    code: 'disk_full',
    severity: 'error',
    message: '/data',
  },
  {
    title: 'a refused configuration',
    given: { status: serviceStatus({ configuration: () => ({ ...configuration, refused: [remark] }) }) },
    code: 'configuration_refused',
    severity: 'error',
    message: 'closing.settle, line 3: a duration is missing.',
  },
  {
    title: 'keys that wait for a restart',
    given: { status: serviceStatus({ configuration: () => ({ ...configuration, waiting: ['listen.console'] }) }) },
    code: 'restart_needed',
    severity: 'warning',
    message: 'listen.console',
  },
  {
    title: 'a warning of the configuration',
    given: { status: serviceStatus({ configuration: () => ({ ...configuration, warnings: [remark] }) }) },
    code: 'configuration_warning',
    severity: 'info',
    message: '1 warning',
  },
  {
    title: 'runs that the store dropped in the last hour',
    given: {
      status: serviceStatus({
        lastHour: {
          'tracejury.store.items': [
            { labels: { 'tracejury.outcome': 'dropped' }, value: 3 },
            { labels: { 'tracejury.outcome': 'written' }, value: 90 },
          ],
        },
      }),
    },
    code: 'runs_dropped',
    severity: 'error',
    message: '3 scored runs',
  },
  {
    title: 'scores that an exporter dropped in the last hour',
    given: {
      status: serviceStatus({
        lastHour: {
          'tracejury.exporter.items': [{ labels: { 'tracejury.exporter': 'phoenix', 'tracejury.outcome': 'dropped' }, value: 1 }],
        },
      }),
    },
    code: 'scores_dropped',
    severity: 'error',
    message: 'phoenix dropped 1 score',
  },
  {
    title: 'an open circuit',
    given: { exporters: scores({ circuit: 'open', toSend: 1_200, fault: 'HTTP 401' }) },
    code: 'exporter_down',
    severity: 'error',
    message: 'phoenix sends nothing: HTTP 401. 1,200 scores wait.',
  },
  {
    title: 'an exporter whose oldest score is old',
    given: { exporters: scores({ toSend: 2, oldestAtMs: 1_700_000_000_000 - 1_200_000 }) },
    code: 'exporter_behind',
    severity: 'warning',
    message: 'phoenix is behind. 2 scores wait. The oldest is 20 min old.',
  },
  {
    title: 'a spent budget',
    given: { budgets: () => [{ ...budget, share: 0 }] },
    code: 'budget_spent',
    severity: 'warning',
    message: 'The judge main',
  },
  {
    title: 'a judge that does not answer',
    given: { status: serviceStatus({ values: { 'tracejury.judge.circuit': [{ labels: { 'tracejury.judge': 'main' }, value: 2 }] } }) },
    code: 'judge_down',
    severity: 'error',
    message: 'The judge main',
  },
  {
    title: 'a judge that did not answer its first question',
    given: {
      judgeOutages: () => [
        {
          judge: 'main',
          sinceMs: 1_700_000_000_000,
          fault: 'judge_unavailable: no connection',
          todo: 'Check base_url, and that the endpoint runs.',
        },
      ],
    },
    code: 'judge_down',
    severity: 'error',
    message: 'The judge main has not answered since 2023-11-14 22:13 UTC: judge_unavailable: no connection.',
  },
  {
    title: 'an endpoint of an evaluator that does not answer',
    given: {
      judgeOutages: () => [{ judge: 'http:mine', sinceMs: 0, fault: 'http_timed_out: no whole answer in time', todo: 'Raise timeout.' }],
    },
    code: 'judge_down',
    severity: 'error',
    message: 'The endpoint of the evaluator mine has not answered since',
  },
  {
    title: 'a judge that failed ten times in a row',
    given: {
      status: serviceStatus({ values: { 'tracejury.judge.circuit': [{ labels: { 'tracejury.judge': 'main' }, value: 2 }] } }),
      judgeOutages: () => [{ judge: 'main', sinceMs: 0, fault: 'judge_unavailable: status 401', todo: 'Check api_key.' }],
    },
    code: 'judge_down',
    severity: 'error',
    message: 'status 401. The service tries it once a minute.',
  },
  {
    title: 'an overloaded service',
    given: { status: serviceStatus({ values: { 'tracejury.stress.level': [{ labels: {}, value: 1 }] } }) },
    code: 'load_shed',
    severity: 'warning',
    message: 'The service is overloaded.',
  },
  {
    title: 'load that was shed in the last hour',
    given: {
      status: serviceStatus({ lastHour: { 'tracejury.stress.shed': [{ labels: { 'tracejury.what': 'judge' }, value: 12 }] } }),
    },
    code: 'load_shed',
    severity: 'warning',
    message: 'The service was overloaded in the last hour: 12 questions to judges were not asked.',
  },
  {
    title: 'an evaluator that could score nothing',
    given: { evaluability: () => [attempts('skipped', 'tool_definitions', 40)] },
    code: 'not_scorable',
    severity: 'warning',
    message: 'The evaluator tool_call_validity scored none of 40 runs: 40 lack tool definitions.',
  },
  {
    title: 'spans without an agent',
    given: { unrecognised: () => [unrecognised('http')] },
    code: 'unrecognised_spans',
    severity: 'warning',
    message: 'No agent is recognised in 7 spans of shop (scope http).',
  },
  {
    title: 'spans without an agent, of several scopes',
    given: { unrecognised: () => [unrecognised('http'), unrecognised('pg')] },
    code: 'unrecognised_spans',
    severity: 'warning',
    message: 'No agent is recognised in 14 spans of shop (scopes http, pg).',
  },
  {
    title: 'spans without an agent beside agents of other services',
    given: {
      unrecognised: () => [unrecognised('http')],
      status: serviceStatus({ values: { 'tracejury.runs': [{ labels: {}, value: 3 }] } }),
    },
    code: 'unrecognised_spans',
    severity: 'info',
    message: 'No agent is recognised in 7 spans of shop (scope http).',
  },
];

for (const { title, given, code, severity, message } of cases)
  test(`notices: ${title}`, async () => {
    const found = await notices(given);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ code, severity });
    expect(found[0]?.['message']).toContain(message);
    expect(String(found[0]?.['todo'])).toMatch(/\.$/);
    expect(String(found[0]?.['link'])).toMatch(/^(?:\/|docs\/)/);
  });

const quiets: readonly { readonly title: string; readonly given: Partial<ApiDeps> }[] = [
  { title: 'a service without any fault', given: {} },
  { title: 'an exporter that sends', given: { exporters: scores({ toSend: 3, oldestAtMs: 1_700_000_000_000 - 1_000 }) } },
  { title: 'a budget that is nearly spent', given: { budgets: () => [{ ...budget, share: 0.01 }] } },
  {
    title: 'a judge that is tried again',
    given: { status: serviceStatus({ values: { 'tracejury.judge.circuit': [{ labels: {}, value: 0 }] } }) },
  },
  { title: 'an evaluator with too few runs to say so', given: { evaluability: () => [attempts('skipped', 'tool_definitions', 9)] } },
  { title: 'an evaluator that found nothing to evaluate', given: { evaluability: () => [attempts('skipped', null, 40)] } },
  {
    title: 'an evaluator that scored one run',
    given: { evaluability: () => [attempts('skipped', 'tool_definitions', 40), attempts('scored', null, 1)] },
  },
];

for (const { title, given } of quiets)
  test(`notices: nothing to say of ${title}`, async () => {
    expect(await notices(given)).toEqual([]);
  });

test('notices: the most severe come first', async () => {
  const found = await notices({
    exporters: scores({ circuit: 'open', fault: 'HTTP 401' }),
    status: serviceStatus({ configuration: () => ({ ...configuration, warnings: [remark], waiting: ['journal.url'] }) }),
  });
  expect(found.map(({ severity }) => severity)).toEqual(['error', 'warning', 'info']);
});

test('notices: a replica that is silent is named, and a store that takes no writes makes no replica silent', async () => {
  const replica = (id: string, isOwn: boolean, isAlive: boolean, skew = 0) =>
    ({ id, host: 'h', version: '1', configuration: 'c', startedAt: 1, seenAt: 2, skew, isOwn, isAlive, tasks: [] }) as const;
  const said = async (...replicas: readonly ReturnType<typeof replica>[]) =>
    (await notices({ status: serviceStatus({ replicas: async () => replicas }) })).map(({ code, message }) => [code, message]);
  expect(await said(replica('one', true, true), replica('other', false, false))).toEqual([
    ['replica_silent', '1 replica gave no sign of life for 30 seconds: h other. Runs that were open there wait in its journal.'],
  ]);
  expect(await said(replica('one', true, false), replica('other', false, false))).toEqual([
    ['replica_silent', 'The store took no sign of life of this replica for 30 seconds, so it is unknown which replicas run.'],
  ]);
  expect(await said(replica('one', true, true, 300_400_000), replica('two', false, true, -6e6), replica('ok', false, true, 5e6))).toEqual([
    [
      'clocks_differ',
      'The clock of 2 replicas differs from that of the database by more than 5 seconds: h one (+300 s), h two (-6 s). Times of verdicts, days of budgets and conditions of alerts follow it.',
    ],
  ]);
});

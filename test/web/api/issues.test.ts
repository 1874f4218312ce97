/** Issues over HTTP in a whole service: runs with failures, who may decide on them, and what is refused. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonText, type JsonObject, type JsonValue } from '../../../src/model/json.ts';
import { eventually, running, sendAgentRun, type Running } from '../../service/running.ts';

const tokens = [
  { name: 'reader', value: 'reads-and-nothing-else', may: ['ingest', 'read'] },
  { name: 'ann', value: 'reads-and-annotates-too', may: ['read', 'annotate'] },
] as const;
let service: Running;
let issues: readonly JsonObject[];

beforeAll(async () => {
  service = await running('evaluators: [ tool_error, run_error ]', { tokens: jsonText(tokens) });
  for (const agent of ['support', 'support', 'travel'])
    await sendAgentRun(service.otlp, {
      agent,
      fails: true,
      resource: { 'service.version': '1.3', 'deployment.environment.name': 'production' },
      user: `user of ${agent}`,
      headers: { authorization: `Bearer ${tokens[0].value}` },
    });
  issues = await eventually(async () => {
    const found = (await asked('/issues')).body['issues'] as readonly JsonObject[];
    return found.reduce((sum, { runs }) => sum + Number(runs), 0) === 3 ? found : undefined;
  }, 'an issue of each agent');
});
afterAll(() => service.stop());

interface Asking {
  readonly method?: string;
  readonly body?: JsonValue;
  readonly as?: (typeof tokens)[number]['name'];
}

async function asked(
  path: string,
  { method = 'GET', body, as = 'ann' }: Asking = {},
): Promise<{ readonly status: number; readonly body: JsonObject }> {
  const response = await fetch(`${service.console}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${tokens.find(({ name }) => name === as)?.value ?? ''}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: jsonText(body) }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

const idOf = (agent: string): string => String(issues.find((one) => one['agent'] === agent)?.['id']);
const patch = (agent: string, body: JsonObject, more: Asking = {}): Promise<{ readonly status: number; readonly body: JsonObject }> =>
  asked(`/issues/${idOf(agent)}`, { method: 'PATCH', body, ...more });

describe('issues: API', () => {
  test('failures of one agent with one signature are one issue', () => {
    expect(issues.map(({ agent, tool, state, runs, evaluator }) => ({ agent, tool, state, runs, evaluator }))).toEqual([
      { agent: 'support', tool: expect.any(String), state: 'open', runs: 2, evaluator: 'tool_error' },
      { agent: 'travel', tool: expect.any(String), state: 'open', runs: 1, evaluator: 'tool_error' },
    ]);
  });

  test('one issue has its runs and versions', async () => {
    const { status, body } = await asked(`/issues/${idOf('support')}`);
    expect(status).toBe(200);
    expect(body['issue']).toMatchObject({ agent: 'support', runs: 2, sessions: 1 });
    expect(body['runs']).toHaveLength(2);
    expect(body['versions']).toEqual([{ version: '1.3', runs: 2 }]);
    expect(body['runs']).toEqual(
      Array.from({ length: 2 }, (): unknown =>
        expect.objectContaining({ version: '1.3', input: 'Where is A-1?', explanation: expect.stringContaining('mail server down') }),
      ),
    );
    const found = await asked(`/runs?issue=${idOf('support')}&user=user+of+support&environment=production`);
    expect(found.body['runs']).toMatchObject(Array(2).fill({ user_id: 'user of support', environment: 'production' }));
    expect((await asked('/runs?user=user+of+support&environment=staging')).body['runs']).toEqual([]);
    expect((await asked('/issues/0123456789ab')).status).toBe(404);
    expect((await asked('/issues/other')).status).toBe(400);
  });

  test('the differences of an issue come with the number of compared runs', async () => {
    const { status, body } = await asked(`/issues/${idOf('support')}/differences`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ runs: 2, other_runs: 0, tested: 0, differences: [] });
    expect([body['users'], body['users_most']]).toEqual([1, [{ user: 'user of support', runs: 2 }]]);
    expect((await asked('/issues/0123456789ab/differences')).status).toBe(404);
    expect((await asked(`/issues/${idOf('support')}/differences?tenant=nobody`)).status).toBe(404);
  });

  test('a list takes filters and pages', async () => {
    const agents = async (query: string): Promise<unknown> =>
      ((await asked(`/issues?${query}`)).body['issues'] as readonly JsonObject[]).map(({ agent }) => agent);
    expect(await agents('agent=travel')).toEqual(['travel']);
    expect(await agents('evaluator=run_error')).toEqual([]);
    expect(await agents('state=resolved')).toEqual([]);
    expect(await agents('since_version=9')).toEqual([]);
    expect(await agents('since=2999-01-01')).toEqual([]);
    expect((await asked('/issues?since_version=9')).body['since_version']).toEqual({
      version: '9',
      runs: 0,
      first_seen: null,
      new: 0,
      regressed: 0,
    });
    expect(await agents('since_version=1.3&agent=support')).toEqual(['support']);
    expect((await asked('/issues?since_version=1.3&agent=support')).body['since_version']).toEqual({
      version: '1.3',
      runs: 2,
      first_seen: expect.stringMatching(/^20/),
      new: 1,
      regressed: 0,
    });
    expect((await asked('/issues')).body['since_version']).toBeNull();
    const page = (await asked('/issues?limit=1')).body;
    expect(page['issues']).toHaveLength(1);
    expect(await agents(`limit=1&cursor=${String(page['next'])}`)).toEqual(['travel']);
  });

  test('runs are found by their issue', async () => {
    const runs = (await asked(`/runs?issue=${idOf('support')}`)).body['runs'] as readonly JsonObject[];
    expect(runs.map(({ agent }) => agent)).toEqual(['support', 'support']);
    expect((await asked('/runs?issue=x')).status).toBe(400);
  });

  test('a decision has the name of its token, and a token that only reads decides nothing', async () => {
    expect((await patch('travel', { state: 'resolved' }, { as: 'reader' })).status).toBe(401);
    const { status, body } = await patch('travel', { state: 'resolved', version: '2.0', note: 'fixed', by: 'eve' });
    expect(status).toBe(200);
    expect(body['issue']).toMatchObject({ state: 'resolved', fixed_in: '2.0', changed_by: 'ann', note: 'fixed' });
    expect((await patch('travel', { state: 'ignored', until_runs: 100 })).body['issue']).toMatchObject({
      state: 'ignored',
      fixed_in: null,
      ignored_until_runs: 100,
    });
    expect((await patch('travel', { state: 'open' })).body['issue']).toMatchObject({ state: 'open', ignored_until_runs: null });
  });

  test.each([
    { name: 'a version without resolved', body: { state: 'ignored', version: '2' }, status: 422, code: 'unfit_member' },
    { name: 'two fixes', body: { state: 'resolved', version: '2', next_version: true }, status: 422, code: 'unfit_member' },
    { name: 'merged without a target', body: { state: 'merged' }, status: 422, code: 'unfit_member' },
    { name: 'a time that is none', body: { state: 'ignored', until: 'tomorrow' }, status: 422, code: 'not_a_time' },
    { name: 'a target of another agent', body: { state: 'merged', into: '0123456789ab' }, status: 409, code: 'not_merged' },
    { name: 'a state that people do not set', body: { state: 'regressed' }, status: 400, code: undefined },
  ])('refused: $name', async ({ body, status, code }) => {
    const answer = await patch('support', body);
    expect(answer.status).toBe(status);
    if (code !== undefined) expect(answer.body).toMatchObject({ error: { code } });
  });
});

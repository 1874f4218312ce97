/** `tracejury issues` over a store file and over a running service: the same lines and exit codes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noTenant } from '../../../src/model/ids.ts';
import { issueId } from '../../../src/model/store/issue-store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { command, type CommandEnd } from '../../builders/command.ts';
import { run, scored, scoredRun } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';
import { running, type Running } from '../../service/running.ts';

const minuteMs = 60_000;
const startMs = Date.now() - 180 * minuteMs;
const queues = 'queues: [ { name: refunds, ask: [ { evaluator: tool_error } ] } ]\n';
const faultOf = (signature: string) => ({ name: 'tool_error', tool: 'refund', signature });
const idOf = (signature: string, agent = 'support'): string => issueId({ ...faultOf(signature), tenant: noTenant, agent });

/** Runs by minute of their start. `late` begins with the canary of 1.3, in the version before it. */
const runs = [
  { at: 0, version: '1.2', faults: ['old'] },
  { at: 60, version: '1.2', faults: [] },
  { at: 61, version: '1.3', faults: ['new'] },
  { at: 62, version: '1.3', faults: ['new', 'known', 'back'] },
  { at: 63, version: '1.2', faults: ['late'] },
  { at: 64, version: '1.4', faults: [] },
  { at: 65, version: '2', agent: 'travel', faults: ['new'] },
] as const;

/** Issues of version 7 of several agents, each with two runs, and one with a single run: it is the last one of the list. */
function manyIssues() {
  const [agents, perAgent, faultsOfRun] = [6, 400, 100];
  const parts = Array.from({ length: (agents * perAgent) / faultsOfRun }, (_, part) => ({
    agent: `many ${part % agents}`,
    signatures: Array.from({ length: faultsOfRun }, (_none, at) => `${part} ${at}`),
  }));
  return [...parts, ...parts, { agent: 'many 0', signatures: ['rare'] }].map(({ agent, signatures }, number) => {
    const start = BigInt(startMs) * 1_000_000n;
    const given = run({
      traceId: traceId(1_000 + number),
      trace: agentTrace({ agent }),
      startUnixNano: start,
      endUnixNano: start,
      serviceVersion: '7',
    });
    return { ...scoredRun({ tool_error: scored(0) }, given), faults: signatures.map(faultOf) };
  });
}

let folder = '';
let service: Running;

async function stored(file: string): Promise<void> {
  const store = await sqliteStore(file);
  await store.write(
    runs.map(({ at, version, faults, ...more }, number) => {
      const start = BigInt(startMs + at * minuteMs) * 1_000_000n;
      const trace = agentTrace({ agent: 'agent' in more ? more.agent : 'support', input: `Refund | number ${number}\u001b[2J` });
      const given = run({
        traceId: traceId(number + 1),
        trace,
        startUnixNano: start,
        endUnixNano: start + 1_000_000n,
        serviceVersion: version,
      });
      return { ...scoredRun({ tool_error: scored(faults.length === 0 ? 1 : 0) }, given), faults: faults.map(faultOf) };
    }),
  );
  const changedAt = (startMs + 64 * minuteMs) * 1_000;
  for (const [signature, state] of [
    ['known', 'ignored'],
    ['back', 'regressed'],
  ] as const) {
    const issue = await store.issues.issue(idOf(signature));
    if (issue === undefined) throw new Error('there is no issue');
    await store.issues.change(issue, { state, changedAt, by: '', note: '', isTold: true });
  }
  await store.stop();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tracejury-issues-'));
  await stored(join(folder, 'file.db'));
  await stored(join(folder, 'served.db'));
  writeFileSync(join(folder, 'config.yaml'), `store: { url: "sqlite:${join(folder, 'file.db')}" }\n${queues}`);
  service = await running(`store: { url: "sqlite:${join(folder, 'served.db')}" }\n${queues}`);
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

const places = {
  'a store file': () => ['-c', join(folder, 'config.yaml')],
  'a service': () => ['--url', service.console],
} as const;

describe.each(Object.keys(places) as (keyof typeof places)[])('%s', (place) => {
  const issues = (...words: readonly string[]): Promise<CommandEnd> => command(['issues', ...words, ...places[place]()], { USER: 'ann' });
  const listed = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await issues(...words)).out
      .split('\n')
      .map((line) => line.replace(/^.*: /, ''))
      .toSorted();

  test('issues: a list with filters, as text and as JSON', async () => {
    expect((await issues('--agent', 'support', '--state', 'ignored')).out).toMatch(
      /^[0-9a-f]{12} {2}ignored +1 run {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}support: refund: known$/,
    );
    expect(await listed('list')).toEqual(['back', 'known', 'late', 'new', 'new', 'old']);
    expect(await listed('list', '--agent', 'travel', '--tool', 'refund')).toEqual(['new']);
    expect(await listed('list', '--evaluator', 'other')).toEqual(['']);
    expect(await listed('list', '--since', '150m')).toEqual(['back', 'known', 'late', 'new', 'new']);
    expect((await issues('--limit', '2')).err).toContain('There are more than 2 issues');
    const [line = ''] = (await issues('--state', 'ignored', '--format', 'json')).out.split('\n');
    expect(JSON.parse(line)).toMatchObject({ id: idOf('known'), title: 'refund: known', state: 'ignored' });
  });

  test.each<{ readonly name: string; readonly words: readonly string[]; readonly code: number; readonly err: string }>([
    { name: 'new ones', words: ['--since-version', '1.3', '--fail-on', 'new'], code: 1, err: '1 new.' },
    { name: 'both', words: ['--since-version', '1.3', '--fail-on', 'new,regressed'], code: 1, err: '1 new, 1 regressed.' },
    {
      name: 'of an evaluator without any',
      words: ['--since-version', '1.3', '--fail-on', 'new', '--evaluator', 'other'],
      code: 0,
      err: '',
    },
    { name: 'none since', words: ['--since-version', '1.4', '--fail-on', 'new'], code: 0, err: '' },
    {
      name: 'a version without a run',
      words: ['--since-version', '9', '--fail-on', 'new'],
      code: 1,
      err: 'no run of version 9 of support',
    },
    { name: 'a version of another agent', words: ['--since-version', '2', '--fail-on', 'new'], code: 1, err: 'no run of version 2' },
  ])('issues: the gate after a release, $name', async ({ words, code, err }) => {
    expect(await issues('--agent', 'support', ...words)).toMatchObject({ code, err: expect.stringContaining(err) });
  });

  test('issues: the gate counts the runs of the version', async () => {
    expect((await issues('--agent', 'support', '--since-version', '1.3')).out).toMatch(
      /\nVersion 1\.3, 2 runs since \d{4}-\d\d-\d\d \d\d:\d\d: 1 new, 1 regressed\.$/,
    );
  });

  test('issues: one issue with its examples, as text and as Markdown', async () => {
    const { code, out } = await issues('show', idOf('new'));
    expect(code).toBe(0);
    expect(out).toContain('refund: new\n\nissue ');
    expect(out).toMatch(/^runs +2 runs; 33\.3 % of the judged runs \(/m);
    expect(out).toMatch(/^ {2}1\.3 {2}2$/m);
    expect(out).toMatch(new RegExp(`^ {2}\\d{4}-\\S+ \\S+ {2}${traceId(4)}/[0-9a-f]{16} {2}1\\.3$`, 'm'));
    expect(out).toMatch(/^ {4}input {8}Refund \| number 3\\u001b\[2J$/m);
    const markdown = (await issues('show', idOf('new'), '--markdown')).out;
    expect(markdown).toContain('## refund: new\n\n- issue: ');
    expect(markdown).toContain('| 1.3 | 2 |');
    expect(markdown).toContain('  - input: Refund \\| number 3');
    if (place === 'a service') expect(markdown).toContain(`](${service.console}/runs/${traceId(4)}/`);
  });

  test('issues: decisions have a person and a note', async () => {
    const state = async (signature: string): Promise<string> =>
      /^state +(.*)$/m.exec((await issues('show', idOf(signature))).out)?.[1] ?? '';
    expect(await issues('resolve', idOf('old'), '--in', '1.3', '--note', 'pool doubled')).toMatchObject({ code: 0 });
    expect(await state('old')).toMatch(/^resolved in version 1\.3, by ann at /);
    expect((await issues('show', idOf('old'))).out).toMatch(/^note +pool doubled$/m);
    await issues('resolve', idOf('old'), '--next', '--by', 'bob');
    expect(await state('old')).toMatch(/^resolved in the next version, by bob at /);
    await issues('ignore', idOf('old'), '--until', '2199-01-31', '--runs', '100');
    expect(await state('old')).toMatch(/^ignored until 2199-01-31 00:00 or it has more than 100 runs, by ann/);
    await issues('open', idOf('old'));
    expect(await state('old')).toMatch(/^open, by ann/);
    expect(await issues('merge', idOf('old'), '--into', idOf('new', 'travel'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('An issue is merged into another one of the same agent and evaluator'),
    });
    expect((await issues('merge', idOf('old'), '--into', idOf('late'))).out).toContain('merged');
    expect(await state('old')).toContain(`merged into ${idOf('late')}`);
  });

  test('issues: runs of an issue go into a queue', async () => {
    expect(await command(['queue', 'add', 'refunds', '--issue', idOf('new'), ...places[place]()], { USER: 'ann' })).toMatchObject({
      code: 0,
      out: 'refunds: 2 added',
    });
  });

  test('issues: runs are found by their issue', async () => {
    if (place === 'a service') return;
    const { out } = await command(['runs', '--where', `issue=${idOf('new')}`, '--format', 'json', ...places[place]()]);
    expect(out.split('\n').map((line) => (JSON.parse(line) as { readonly trace_id: string }).trace_id)).toEqual([traceId(4), traceId(3)]);
  });

  test.each<{ readonly name: string; readonly words: readonly string[]; readonly want: string }>([
    { name: 'another action', words: ['close'], want: '"close" is not one of list, show, resolve, ignore, open, merge.' },
    { name: 'no id', words: ['show'], want: 'Name the issue by its id' },
    { name: 'an id that is none', words: ['show', 'x'], want: '"x" is not the id of an issue' },
    { name: 'an issue that is not there', words: ['show', '0123456789ab'], want: 'There is no such issue.' },
    { name: 'two fixes', words: ['resolve', '0123456789ab', '--in', '1', '--next'], want: '--in and --next exclude each other.' },
    { name: 'no target', words: ['merge', '0123456789ab'], want: '--into names the issue that takes the runs.' },
    { name: 'a time that is over', words: ['ignore', '0123456789ab', '--until', '2020-01-31'], want: 'is not in the future.' },
    { name: 'another word', words: ['--fail-on', 'open', '--since-version', '1'], want: '--fail-on takes new, regressed' },
    { name: 'a gate without a version', words: ['--fail-on', 'new'], want: '--fail-on needs --since-version' },
    { name: 'a gate with a state', words: ['--fail-on', 'new', '--since-version', '1', '--state', 'open'], want: 'Leave --state out.' },
    { name: 'another state', words: ['--state', 'closed'], want: '--state takes one of open, resolved' },
  ])('issues: $name', async ({ words, want }) => {
    expect(await issues(...words)).toMatchObject({ code: 2, err: expect.stringContaining(want) });
  });
});

test('issues: the gate looks at every issue, however many have more impact', async () => {
  const store = await sqliteStore(join(folder, 'many.db'));
  await store.write(manyIssues());
  const rare = await store.issues.issue(idOf('rare', 'many 0'));
  if (rare === undefined) throw new Error('there is no issue');
  await store.issues.change(rare, { state: 'regressed', changedAt: startMs * 1_000, by: '', note: '', isTold: true });
  await store.stop();
  const config = join(folder, 'many.yaml');
  writeFileSync(config, `store: { url: "sqlite:${join(folder, 'many.db')}" }\n`);
  const gate = (...words: readonly string[]): Promise<CommandEnd> =>
    command(['issues', '--since-version', '7', '--fail-on', 'regressed', ...words, '-c', config]);
  expect(await gate('--limit', '1')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/: 2400 new, 1 regressed\.$/),
    err: expect.stringContaining('The gate does not hold: 1 regressed.'),
  });
  expect(await gate('--agent', 'many 1')).toMatchObject({ code: 0 });
});

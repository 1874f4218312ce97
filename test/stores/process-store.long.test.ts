/** Process models of agents, in every store. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { halvedProcess, mergedProcess } from '../../src/analytics/process-learning.ts';
import { noTenant, type Tenant } from '../../src/model/ids.ts';
import { processesMax, type ProcessKey } from '../../src/model/store/process-store.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { processOf, runOf } from '../builders/process-runs.ts';
import { closedLater, folder, members, open } from './members.ts';

const key = (version: string, more: Partial<ProcessKey> = {}): ProcessKey => ({ tenant: noTenant, agent: 'support', version, ...more });
const some = processOf([[runOf(['lookup', 'refund'], { id: 1 }), 3]]);
const policy = { runsMax: 10, freezes: true };

describe.each(members)('%s', (member) => {
  test('processes: what is learnt adds up until the model is frozen', async () => {
    const { processes } = await open(member);
    expect(await processes.read(key('1'))).toBeUndefined();
    expect(await processes.add(key('1'), some, { ...policy, at: 100 })).toMatchObject({
      runs: 3,
      isFrozen: false,
      beganAt: 100,
      changedAt: 100,
    });
    await processes.add(key('1'), some, { ...policy, at: 200 });
    const sum = mergedProcess(some, some, some, some);
    await processes.add(key('1'), some, { ...policy, at: 300 });
    const frozen = await processes.add(key('1'), some, { ...policy, at: 400 });
    expect(frozen).toEqual({ ...key('1'), runs: 12, isFrozen: true, beganAt: 100, changedAt: 400, model: sum });
    expect(await processes.add(key('1'), some, { ...policy, at: 500 })).toEqual(frozen);
    expect(await processes.read(key('1'))).toEqual(frozen);
  });

  test('processes: a model that is not frozen is halved', async () => {
    const { processes } = await open(member);
    const sum = mergedProcess(some, some, some, some);
    const stored = await processes.add(key('1'), sum, { runsMax: 10, freezes: false, at: 1 });
    expect(stored).toMatchObject({ runs: 6, isFrozen: false, model: halvedProcess(sum) });
  });

  test('processes: learnt at the same time, nothing is lost', async () => {
    const { processes } = await open(member);
    await Promise.all(Array.from({ length: 20 }, (_, at) => processes.add(key('1'), some, { runsMax: 1_000, freezes: true, at })));
    expect(await processes.read(key('1'))).toMatchObject({ runs: 60 });
  });

  test('processes: tenants, agents and versions are apart, and the last used comes first', async () => {
    const { processes } = await open(member);
    const keys = [key('1'), key('2'), key('1', { agent: 'travel' }), key('1', { tenant: 'acme' as Tenant }), key('', { agent: '' })];
    for (const [at, one] of keys.entries()) await processes.add(one, some, { ...policy, at });
    const listed = async (query: { readonly tenant?: Tenant; readonly agent?: string }): Promise<readonly string[]> =>
      (await processes.list({ ...query, limit: 10 })).map(({ tenant, agent, version }) => `${tenant}/${agent}/${version}`);
    expect(await listed({})).toEqual(['//', 'acme/support/1', '/travel/1', '/support/2', '/support/1']);
    expect(await listed({ agent: 'support', tenant: noTenant })).toEqual(['/support/2', '/support/1']);
    await processes.used([key('1'), key('none')], 50);
    expect(await listed({ agent: 'support', tenant: noTenant })).toEqual(['/support/1', '/support/2']);
    expect(await processes.list({ limit: 2 })).toHaveLength(2);
  });

  test('processes: one that is removed is begun anew, and the others stay', async () => {
    const { processes } = await open(member);
    for (const version of ['1', '2']) await processes.add(key(version), some, { ...policy, at: 1 });
    expect(await processes.remove(key('1'))).toBe(true);
    expect(await processes.remove(key('1'))).toBe(false);
    expect(await processes.read(key('1'))).toBeUndefined();
    expect(await processes.read(key('2'))).toMatchObject({ runs: 3 });
    expect(await processes.add(key('1'), some, { ...policy, at: 9 })).toMatchObject({ runs: 3, beganAt: 9 });
  });

  test('processes: the former version is the one that was begun last before', async () => {
    const { processes } = await open(member);
    for (const [version, at] of [
      ['1', 10],
      ['2', 20],
      ['3', 30],
    ] as const)
      await processes.add(key(version), some, { ...policy, at });
    await processes.add(key('9', { agent: 'travel' }), some, { ...policy, at: 29 });
    const before = async (version: string, beganAt: number): Promise<string | undefined> =>
      (await processes.before({ ...key(version), beganAt }))?.version;
    expect(await before('3', 30)).toBe('2');
    expect(await before('2', 20)).toBe('1');
    expect(await before('1', 10)).toBeUndefined();
  });
});

test('processes: those that were not used for longest go beyond the limit', async () => {
  const { processes } = await open('sqlite in memory');
  for (let at = 0; at < processesMax; at++) await processes.add(key(String(at)), some, { ...policy, at });
  await processes.used([key('0')], processesMax);
  await processes.add(key('new'), some, { ...policy, at: processesMax + 1 });
  expect(await processes.list({ limit: processesMax + 10 })).toHaveLength(processesMax);
  expect(await processes.read(key('0'))).toBeDefined();
  expect(await processes.read(key('1'))).toBeUndefined();
});

test('processes: a file keeps them', async () => {
  const file = join(folder(), 'tracejury.db');
  const first = await sqliteStore(file);
  const stored = await first.processes.add(key('1'), some, { ...policy, at: 1 });
  await first.stop();
  expect(await closedLater(await sqliteStore(file)).processes.read(key('1'))).toEqual(stored);
});

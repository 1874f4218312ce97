/** A flood of names of one tenant, in every store: what another tenant has stays whole. */
import { describe, expect, test } from 'vitest';
import { noTenant, type Tenant, tenant } from '../../src/model/ids.ts';
import { annotationsPerTraceMax, type Annotation } from '../../src/model/store/annotation-store.ts';
import { alertAgentsMax } from '../../src/service/alert-watch.ts';
import { rollupAgentsMax } from '../../src/stores/sql/rollup-sums.ts';
import { agentTrace, spanId } from '../builders/agent-trace.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';
import { members, open } from './members.ts';
import { traceId } from './numbered.ts';

const [flood, victim] = [tenant('flood'), tenant('victim')];
const start = 1_795_651_200_000_000;
const day = 86_400_000_000;

let last = 0;
function item(of: Tenant, agent: string, version = '1') {
  last++;
  const at = BigInt(start + last) * 1_000n;
  return scoredRun(
    { tool_error: scored(1) },
    run({
      tenant: of,
      traceId: traceId(last),
      spanId: spanId(last),
      serviceVersion: version,
      trace: agentTrace({ agent }),
      startUnixNano: at,
      endUnixNano: at + 1_000_000n,
    }),
  );
}

/** The names of the flood come first in each order. */
const agents = Array.from({ length: rollupAgentsMax + 200 }, (_, at) => `aaa-${String(at).padStart(5, '0')}`);

describe.each(members)('%s', (member) => {
  async function flooded() {
    const store = await open(member);
    for (let at = 0; at < agents.length; at += 500)
      await store.write(agents.slice(at, at + 500).flatMap((agent) => [item(flood, agent), item(flood, agent)]));
    await store.write([item(victim, 'shop')]);
    while (await store.versions.refresh({ now: start + day, keepFrom: start - day }));
    return store;
  }

  test('floods: agents of one tenant leave the sums of another one whole, for it and for all', async () => {
    const store = await flooded();
    const query = { from: start, to: start + day, now: start + day, byAgent: true };
    const mine = await store.rollups('run', { ...query, tenant: victim });
    expect(mine.rows.map(({ agent, counts }) => [agent, counts.runs])).toEqual([['shop', 1]]);
    const all = await store.rollups('run', query);
    expect(all.rows.find(({ agent }) => agent === 'shop')?.counts.runs).toBe(1);
    expect(all.rows.find(({ agent }) => agent === 'other')?.counts.runs).toBe(400);
  });

  test('floods: agents of one tenant leave the versions and the alerts of another one whole', async () => {
    const store = await flooded();
    const query = { from: start, kinds: ['run'], allVersions: true } as const;
    const mine = await store.versions.figures({ ...query, tenant: victim });
    expect(mine.map(({ agent, runs }) => [agent, runs])).toEqual([['shop', 1]]);
    const looked = await store.versions.figures({ ...query, topAgents: alertAgentsMax });
    // The first agent of each tenant, by runs, comes before the second one of any.
    expect(looked.slice(0, 2).map(({ agent }) => agent)).toContain('shop');
    expect(looked).toHaveLength(alertAgentsMax + 1);
  });

  test('floods: annotations on a trace, and in wait, of one tenant leave room for another one', async () => {
    const store = await open(member);
    const said = (of: Tenant, at: number): Annotation => ({
      tenant: of,
      traceId: traceId(7),
      spanId: undefined,
      name: `name ${at}`,
      by: 'ann',
      kind: 'human',
      label: 'good',
      score: undefined,
      passed: undefined,
      explanation: '',
      at,
    });
    const fates = await store.annotations.write(
      Array.from({ length: annotationsPerTraceMax + 1 }, (_, at) => said(flood, at)),
      1,
    );
    expect([fates[0], fates.at(-1)]).toEqual(['waiting', 'too_many']);
    expect(await store.annotations.write([said(victim, 1)], 1)).toEqual(['waiting']);
  });

  test('floods: items of one tenant in a queue leave room for another one', async () => {
    const store = await open(member);
    const items = [...Array.from({ length: 6 }, () => item(flood, 'a')), item(victim, 'shop')];
    await store.write(items);
    const outcomes = await store.queues.add({
      queue: 'q',
      items: items.map(({ run: { tenant: of, traceId: trace, spanId: span } }) => ({ tenant: of, traceId: trace, spanId: span, why: '' })),
      addedBy: 'rule',
      at: 1,
      dueAt: undefined,
      itemsMax: 5,
      reopens: false,
    });
    expect(outcomes).toEqual(['added', 'added', 'added', 'added', 'added', 'full', 'added']);
  });

  test('floods: without tenants the bounds hold as they do for one', async () => {
    const store = await open(member);
    await store.write([item(noTenant, 'a')]);
    while (await store.versions.refresh({ now: start + day, keepFrom: start - day }));
    const { rows } = await store.rollups('run', { from: start, to: start + day, now: start + day, byAgent: true });
    expect(rows.map(({ agent }) => agent)).toEqual(['a']);
  });
});

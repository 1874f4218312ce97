import { expect, test } from 'vitest';
import { claimRecord } from '../../../src/journals/kafka/requests.ts';
import { sentClaims } from '../../../src/journals/kafka/sent-claims.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { manualSleep, settled } from '../../builders/manual-sleep.ts';

const record = claimRecord('team a', { partition: 0, nowMs: 0 });

/** Claims to a topic that takes a claim when it is asked for the n-th time. Each rest takes its time by the clock. */
function claimsOf({ takesAt, joinsUntil = Infinity }: { readonly takesAt: number; readonly joinsUntil?: number }) {
  const [clock, lost] = [manualClock(), [] as (readonly [string, boolean])[]];
  let asked = 0;
  const claim = sentClaims({
    send: async () => (++asked >= takesAt ? undefined : 'failed'),
    isWanted: () => asked < joinsUntil,
    onLost: (key, isWanted) => lost.push([key, isWanted]),
    clock,
    sleep: async (ms) => clock.advance(ms),
    rests: { firstRestMs: 200, longestRestMs: 5_000 },
  });
  return { claim, lost, asked: () => asked };
}

test('claims: a claim that the topic refuses is sent again until the topic takes it', async () => {
  const { claim, lost, asked } = claimsOf({ takesAt: 7 });
  claim('a', record);
  await settled();
  expect([asked(), lost]).toEqual([7, []]);
});

test('claims: after ten minutes a claim is given up, and counts as lost', async () => {
  const { claim, lost, asked } = claimsOf({ takesAt: Infinity });
  claim('a', record);
  await settled();
  expect(lost).toEqual([['a', true]]);
  expect(asked()).toBeLessThan(140);
});

test('claims: a process that does not join the trace any more leaves the claim to the one that does', async () => {
  const { claim, lost, asked } = claimsOf({ takesAt: Infinity, joinsUntil: 3 });
  claim('a', record);
  await settled();
  expect([asked(), lost]).toEqual([3, [['a', false]]]);
});

test('claims: at most 500 wait at one time, and those beyond are lost', async () => {
  const lost: string[] = [];
  const { sleep, wakeAll } = manualSleep();
  let isTaken = false;
  const claim = sentClaims({
    send: async () => (isTaken ? undefined : 'failed'),
    isWanted: () => true,
    onLost: (key) => lost.push(key),
    clock: manualClock(),
    sleep,
    rests: {},
  });
  for (let trace = 0; trace < 502; trace++) claim(`${trace}`, record);
  expect(lost).toEqual(['500', '501']);
  await settled();
  isTaken = true;
  await wakeAll();
  claim('later', record);
  await settled();
  expect(lost).toHaveLength(2);
});

import { expect, test } from 'vitest';
import { byteBudget } from '../../src/receivers/byte-budget.ts';

function leases(bytesMax: number) {
  return byteBudget({ bytesMax, telemetry: { add: () => undefined, record: () => undefined, set: () => undefined } });
}

test('in flight: doors share the bytes, and one may keep some free for the others', () => {
  const of = leases(100);
  const [modest, other] = [of({ keepFreeBytes: 20 }), of({ keepFreeBytes: 0 })];
  const first = modest();
  expect([first.take(80), first.take(1)]).toEqual([true, false]);
  const second = other();
  expect([second.take(20), second.take(1)]).toEqual([true, false]);
  second.release();
  expect(modest().take(1)).toBe(false);
  first.release();
  first.release();
  expect([other().take(50), modest().take(31), modest().take(30)]).toEqual([true, false, true]);
});

test('in flight: a request counts from its first bytes, also when it announces none, until it is released, and takes nothing more then', () => {
  const all = leases(100);
  const door = all({ keepFreeBytes: 0 });
  const [first, second, refused] = [door(), door(), door()];
  expect([first.take(0), second.take(60), second.take(10), refused.take(50)]).toEqual([true, true, true, false]);
  expect(all.requests()).toBe(2);
  first.release();
  refused.release();
  expect(first.take(1)).toBe(false);
  expect(all.requests()).toBe(1);
  second.release();
  second.release();
  expect([all.requests(), all.fill()]).toEqual([0, 0]);
});

test('in flight: a sender that takes little may have what a door keeps free', () => {
  const door = leases(100)({ keepFreeBytes: 20 });
  expect([door().take(80), door().take(1), door(true).take(20), door(true).take(1)]).toEqual([true, false, true, false]);
});

/** Requests without room wait in the order of their arrival, within bounds, and each of them ends in one way. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HoldRequest, Outlook } from '../../../src/model/ingest.ts';
import { heldRequests } from '../../../src/pipeline/overload/held-requests.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { manualSleep, settled } from '../../builders/manual-sleep.ts';
import { propertyRuns } from '../../builders/property-runs.ts';

function room({ requestsMax = 4, holdMs = 1_000 } = {}) {
  const sleeper = manualSleep();
  const telemetry = metricRegistry();
  const held = heldRequests({ sleep: sleeper.sleep, telemetry, requestsMax, holdMs });
  const ends: string[] = [];
  const gone = new Map<string, () => void>();
  const free = new Map<string, number>();
  const points = (metric: string): readonly string[] =>
    (telemetry.snapshot().find(({ name }) => name === metric)?.points ?? []).flatMap((point) =>
      point.kind === 'number' ? [`${Object.values(point.labels).join(' ')} ${point.value}`.trim()] : [],
    );
  return {
    held,
    sleeper,
    ends,
    gone,
    points,
    /** Makes room for further requests of a lane. */
    free(lane: string, requests: number) {
      free.set(lane, (free.get(lane) ?? 0) + requests);
    },
    enter(name: string, more: Partial<HoldRequest<string>> = {}) {
      const lane = more.lane ?? 'http';
      const end = held.enter<string>({
        lane,
        sender: name,
        outlook: () => 'soon',
        whenGone: (left) => gone.set(name, left),
        take() {
          const left = free.get(lane) ?? 0;
          if (left === 0) return undefined;
          free.set(lane, left - 1);
          return name;
        },
        ...more,
      });
      void Promise.resolve(end).then(({ kind }) => ends.push(`${name} ${kind}`));
    },
  };
}

describe('held requests', () => {
  test('with room, a request waits for nothing', async () => {
    const at = room();
    at.free('http', 1);
    at.enter('a');
    await settled();
    expect([at.ends, at.sleeper.slept, at.points('tracejury.receiver.holds')]).toEqual([['a taken'], [], []]);
  });

  test('the oldest is taken first, and a later request does not overtake it', async () => {
    const at = room();
    at.enter('a');
    at.enter('b');
    at.free('http', 1);
    at.enter('c');
    at.held.letIn();
    await settled();
    expect(at.ends).toEqual(['a taken']);
    at.free('http', 2);
    at.held.letIn();
    await settled();
    expect(at.ends).toEqual(['a taken', 'b taken', 'c taken']);
    expect(at.points('tracejury.receiver.held')).toEqual(['0']);
  });

  test('a lane without room does not stop another one', async () => {
    const at = room();
    at.enter('a');
    at.enter('b', { lane: 'grpc' });
    at.free('grpc', 1);
    at.held.letIn();
    await settled();
    expect(at.ends).toEqual(['b taken']);
  });

  test('while a lane is open, a request that does not fit holds up no other', async () => {
    const at = room();
    let outlook: Outlook = 'soon';
    let fits = false;
    const large: Partial<HoldRequest<string>> = { outlook: () => outlook, take: () => (fits ? 'large' : undefined) };
    const small: Partial<HoldRequest<string>> = { outlook: () => outlook, take: () => (outlook === 'open' ? 'small' : undefined) };
    at.enter('large', large);
    at.enter('held small', small);
    outlook = 'open';
    at.enter('new small', small);
    at.held.letIn();
    await settled();
    expect(at.ends).toEqual(['new small taken', 'held small taken']);
    fits = true;
    at.held.letIn();
    await settled();
    expect(at.ends.at(-1)).toBe('large taken');
  });

  test('a request is refused after its time, which a deadline shortens', async () => {
    const at = room();
    at.enter('a');
    at.enter('b', { waitMsMax: 250 });
    expect(at.sleeper.slept).toEqual([1_000, 250]);
    await at.sleeper.wakeOf(250);
    expect(at.ends).toEqual(['b refused']);
    await at.sleeper.wakeAll();
    expect(at.ends).toEqual(['b refused', 'a refused']);
    expect(at.points('tracejury.receiver.holds')).toEqual(['refused 2']);
  });

  test.each([
    { name: 'a client that leaves', end: 'gone', act: (at: ReturnType<typeof room>) => at.gone.get('a')?.() },
    { name: 'a stop', end: 'refused', act: (at: ReturnType<typeof room>) => at.held.stop() },
  ])('$name frees the place', async ({ end, act }) => {
    const at = room({ requestsMax: 1 });
    at.enter('a');
    act(at);
    at.enter('b');
    await settled();
    expect([at.ends, at.sleeper.asleep(), at.held.isHolding()]).toEqual([[`a ${end}`], 1, true]);
  });

  test('without a place, or without hope, a request is refused at once', async () => {
    const at = room({ requestsMax: 4 });
    at.enter('hopeless', { outlook: () => 'later' });
    for (const name of ['a', 'b', 'c']) at.enter(name, { sender: 'one' });
    at.enter('d');
    at.enter('e');
    at.enter('f');
    await settled();
    expect(at.ends).toEqual(['hopeless refused', 'c refused', 'f refused']);
    expect(at.points('tracejury.receiver.holds')).toEqual(['no_place 2']);
  });

  test('in any course of events, each request ends once, lanes keep their order, and no place is lost', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('enter' as const), lane: fc.constantFrom('http', 'grpc') }),
      fc.record({ kind: fc.constant('free' as const), lane: fc.constantFrom('http', 'grpc') }),
      fc.record({ kind: fc.constant('gone' as const), at: fc.nat(20) }),
      fc.record({ kind: fc.constant('time' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const at = room({ requestsMax: 3 });
        let entered = 0;
        for (const one of steps) {
          if (one.kind === 'enter') at.enter(`${one.lane} ${entered++}`, { lane: one.lane });
          else if (one.kind === 'gone') [...at.gone.values()][one.at]?.();
          else if (one.kind === 'time') await at.sleeper.wakeAll();
          else {
            at.free(one.lane, 1);
            at.held.letIn();
          }
        }
        at.held.stop();
        await settled();
        expect(at.ends).toHaveLength(entered);
        expect([at.held.isHolding(), at.sleeper.asleep()]).toEqual([false, 0]);
        for (const lane of ['http', 'grpc']) {
          const order = at.ends.filter((end) => end.startsWith(lane) && end.endsWith('taken')).map((end) => Number(end.split(' ')[1]));
          expect(order).toEqual(order.toSorted((one, other) => one - other));
        }
      }),
      { numRuns: propertyRuns({ short: 100, long: 5_000 }) },
    );
  });
});

/** The guard follows the real memory: it spares less when memory is tight and more when there is room, and collects garbage when it is scarce. */
import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { memoryGuard } from '../../src/service/memory-guard.ts';

const mib = 1024 * 1024;

/** A process in which a byte on the wire takes `factor` bytes, and what is let go stays resident until garbage is collected. */
function simulated({
  factor,
  restMib = 150,
  garbageMib = 0,
}: {
  readonly factor: number;
  readonly restMib?: number;
  readonly garbageMib?: number;
}) {
  const clock = manualClock();
  let collectedAtMs = Infinity;
  const state = { held: 0, garbage: garbageMib * mib, rest: restMib * mib, collected: 0, inSteps: 0, often: true };
  const guard = memoryGuard({
    clock,
    memory: {
      residentBytes: () => state.rest + state.held * factor + state.garbage,
      collect() {
        state.collected++;
        state.garbage = 0;
      },
      collectInSteps() {
        state.inSteps++;
        collectedAtMs = clock.nowMs() + 300;
      },
      collectOften(often) {
        state.often = often;
      },
    },
    residentBytesMax: 512 * mib,
    heldBytesMax: 128 * mib,
    heldBytes: () => state.held,
    relieve() {
      const spared = Math.min(state.held, guard.spareBytesMax());
      state.garbage += (state.held - spared) * factor;
      state.held = spared;
    },
  });
  return {
    state,
    guard,
    pass(seconds: number, bytesPerSecond = 0) {
      let highest = 0;
      for (let measure = 0; measure < seconds * 10; measure++) {
        clock.advance(100);
        if (clock.nowMs() >= collectedAtMs) {
          state.garbage = 0;
          collectedAtMs = Infinity;
        }
        state.held = Math.min(guard.spareBytesMax(), state.held + bytesPerSecond / 10);
        highest = Math.max(highest, guard.measure());
      }
      return highest;
    },
  };
}

const factors = [1, 2, 4, 8];
for (const factor of factors) {
  test(`memory guard: at ${factor} bytes in memory for one on the wire the process stays within its bound`, () => {
    const of = simulated({ factor });
    expect(of.pass(120, 5 * mib)).toBeLessThan(1);
    // Nothing is wasted either.
    expect(of.state.held * factor).toBeGreaterThan(factor === 1 ? 120 * mib : 150 * mib);
  });
}

test('memory guard: when there is room again, as much is spared as before', () => {
  const of = simulated({ factor: 1, restMib: 480 });
  of.pass(30, mib);
  expect(of.guard.spareBytesMax()).toBeLessThan(10 * mib);
  of.state.rest = 100 * mib;
  of.pass(60, mib);
  expect(of.guard.spareBytesMax()).toBe(128 * mib);
});

test('memory guard: garbage is collected when memory is scarce, not before', () => {
  const roomy = simulated({ factor: 1, garbageMib: 200 });
  roomy.pass(10);
  expect(roomy.state.collected).toBe(0);
  const scarce = simulated({ factor: 1, garbageMib: 340 });
  expect(scarce.pass(0.1)).toBeCloseTo(150 / 512);
  expect(scarce.state.collected).toBe(1);
});

test('memory guard: what was let go is collected in steps, beside other work, while memory is tight and not scarce', () => {
  const of = simulated({ factor: 4 });
  expect(of.pass(120, 10 * mib)).toBeLessThan(0.92);
  expect([of.state.collected, of.state.inSteps > 0]).toEqual([0, true]);
});

test('memory guard: where collecting brings nothing it is tried ever more rarely', () => {
  const of = simulated({ factor: 1, restMib: 600 });
  of.pass(600);
  expect(of.state.collected).toBeGreaterThan(5);
  expect(of.state.collected).toBeLessThan(16);
});

test('memory guard: what grows after collecting brought nothing is garbage that is collected all the same', () => {
  const of = simulated({ factor: 1, restMib: 475 });
  of.pass(120);
  expect(of.state.collected).toBeGreaterThan(3);
  const before = of.state.collected;
  let highest = 0;
  for (let second = 0; second < 30; second++) {
    of.state.garbage += 10 * mib;
    highest = Math.max(highest, of.pass(1));
  }
  expect(highest).toBeLessThan(1);
  expect(of.state.collected - before).toBeLessThan(15);
});

test('memory guard: a process that is large for other reasons keeps a few traces, and is not collected in steps for them', () => {
  const of = simulated({ factor: 1, restMib: 400 });
  of.pass(600, mib);
  expect([of.state.inSteps, of.state.collected]).toEqual([0, 0]);
  expect(of.state.held).toBe(8 * mib);
});

test('memory guard: garbage is collected in steps before memory is scarce, so that nothing has to wait for it', () => {
  const of = simulated({ factor: 1, restMib: 300 });
  for (let second = 0; second < 120; second++) {
    of.state.garbage += 8 * mib;
    expect(of.pass(1)).toBeLessThan(0.92);
  }
  expect([of.state.collected, of.state.inSteps > 3]).toEqual([0, true]);
});

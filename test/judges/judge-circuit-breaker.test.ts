/** A judge that does not answer gets a rest, and is found again. */
import { expect, test } from 'vitest';
import type { Answer } from '../../evaluators/evaluator.ts';
import { judgeCircuitBreaker, isCircuitOpen } from '../../src/judges/judge-chain.ts';
import { manualClock } from '../../src/model/clock.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';

const yes: Answer = { kind: 'answered', value: true, truncated: false };
const error = (text: string): Answer => ({ kind: 'failed', error: text });
const gone = error('judge_unavailable: no connection');

function bench() {
  const sleep = manualSleep();
  const telemetry = metricRegistry();
  const own = judgeCircuitBreaker({
    name: 'main',
    telemetry,
    clock: manualClock(),
    sleep: sleep.sleep,
    random: () => 1,
    signal: new AbortController().signal,
  });
  let asked = 0;
  const circuit = () =>
    telemetry
      .snapshot()
      .find(({ name }) => name === 'tracejury.judge.circuit')
      ?.points.map((point) => (point.kind === 'number' ? point.value : -1))[0];
  return {
    own,
    sleep,
    circuit,
    asked: () => asked,
    through: (answer: Answer | Promise<Answer>) =>
      own.run(async () => {
        asked++;
        return await answer;
      }),
    async fail(times: number, answer = gone) {
      for (let at = 0; at < times; at++) await this.through(answer);
    },
  };
}

test('guard: ten failures in a row close the door, and one before an answer does not count', async () => {
  const to = bench();
  await to.fail(9);
  await to.through(yes);
  await to.fail(9);
  expect([to.own.places(4), to.circuit()]).toEqual([4, 0]);
  await to.fail(1);
  expect([to.own.places(4), to.circuit(), to.sleep.slept]).toEqual([0, 2, [1_000]]);
  expect(isCircuitOpen(await to.through(yes))).toBe(true);
  expect(to.asked()).toBe(20);
});

for (const { name, answer, places } of [
  { name: 'a time-out', answer: error('judge_timed_out: no whole answer in time'), places: 0 },
  { name: 'an exhausted account', answer: error('judge_out_of_quota: status 429'), places: 0 },
  { name: 'an unusable answer', answer: error('judge_answer_invalid: no JSON'), places: 4 },
  { name: 'a question that was not paid for', answer: error('over_budget: no room'), places: 4 },
  { name: 'a place that was not free', answer: error('judge_overloaded: too many questions are waiting'), places: 4 },
]) {
  test(`guard: ${name} ${places === 0 ? 'is a sign of a missing judge' : 'is no such sign'}`, async () => {
    const to = bench();
    await to.fail(12, answer);
    expect(to.own.places(4)).toBe(places);
  });
}

test('guard: an unasked question does not hide that the judge is missing', async () => {
  const to = bench();
  await to.fail(9);
  await to.through(error('over_budget: no room'));
  await to.fail(1);
  expect(to.own.places(4)).toBe(0);
});

test('guard: after its rest one question is asked, and only one; its answer opens the door', async () => {
  const to = bench();
  await to.fail(10);
  await to.sleep.wakeAll();
  expect([to.own.places(4), to.circuit()]).toEqual([1, 1]);
  let answer: (answer: Answer) => void = () => undefined;
  const probe = to.through(new Promise<Answer>((resolve) => (answer = resolve)));
  await settled();
  expect(isCircuitOpen(await to.through(yes))).toBe(true);
  answer(yes);
  expect([await probe, to.own.places(4), to.circuit(), to.asked()]).toEqual([yes, 4, 0, 11]);
});

test('guard: a probe that fails rests for longer', async () => {
  const to = bench();
  await to.fail(10);
  await to.sleep.wakeAll();
  await to.fail(1);
  expect([to.own.places(4), to.sleep.slept]).toEqual([0, [1_000, 2_000]]);
});

test('guard: another client is asked at once', async () => {
  const to = bench();
  await to.fail(10);
  to.own.forget();
  expect([await to.through(yes), to.own.places(4), to.circuit()]).toEqual([yes, 4, 0]);
});

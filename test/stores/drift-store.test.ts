/** Looks of judges at fixed sets of runs, in every store. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { driftMeasurementsMax, type DriftMeasurement } from '../../src/model/store/drift-store.ts';
import { folder, members, open, openFile } from './members.ts';

function look(series: number, number: number, given: Partial<DriftMeasurement> = {}): DriftMeasurement {
  return {
    name: 'done',
    series: {
      number: series,
      beganAt: series * 1_000,
      asked: { model: 'm', version: 1 },
      because: series === 1 ? [] : ['model n, before m'],
    },
    look: number,
    state: 'kept',
    beganAt: series * 1_000 + number,
    endedAt: series * 1_000 + number + 1,
    runs: 2,
    answers: [
      { run: 'a', word: 'pass', tries: 1 },
      { run: 'b', word: 'error', tries: 2 },
    ],
    result:
      number === 0
        ? undefined
        : {
            counts: { stayedPass: 1, stayedFail: 0, toPass: 0, toFail: 0 },
            planned: undefined,
            word: 'no_change_shown',
            shown: 'passes_less',
          },
    ...given,
  };
}

const places = (looks: readonly DriftMeasurement[]): readonly string[] =>
  looks.map(({ series, look: number }) => `${series.number}.${number}`);

describe.each(members)('%s', (member) => {
  test('drift: a look is read as written, open or ended', async () => {
    const { judgeDrift } = await open(member);
    const [open0, whole] = [
      look(1, 2, { state: 'open', endedAt: undefined, answers: [], result: undefined }),
      look(1, 1, {
        result: { counts: { stayedPass: 3, stayedFail: 2, toPass: 1, toFail: 4 }, planned: 12, word: 'passes_less', shown: 'passes_less' },
      }),
    ];
    for (const one of [look(1, 0), whole, open0]) await judgeDrift.write(one);
    expect(await judgeDrift.looks({ name: 'done', limit: 10 })).toEqual([open0, whole, look(1, 0)]);
    expect(await judgeDrift.looks({ name: 'done', state: 'kept', limit: 1 })).toEqual([whole]);
    expect(await judgeDrift.looks({ name: 'other', limit: 10 })).toEqual([]);
  });

  test('drift: the same look once more takes the place of the one before', async () => {
    const { judgeDrift } = await open(member);
    await judgeDrift.write(look(1, 0, { state: 'open', endedAt: undefined, answers: [] }));
    await judgeDrift.write(look(1, 0));
    expect(await judgeDrift.looks({ name: 'done', limit: 10 })).toEqual([look(1, 0)]);
  });

  test('drift: a baseline is the one of its series, and counts only when it is kept', async () => {
    const { judgeDrift } = await open(member);
    await judgeDrift.write(look(1, 0));
    await judgeDrift.write(look(2, 0, { state: 'unfinished' }));
    await judgeDrift.write(look(1, 0, { name: 'another' }));
    expect(await judgeDrift.baseline('done', 1)).toEqual(look(1, 0));
    expect(await judgeDrift.baseline('done', 2)).toBeUndefined();
    expect(await judgeDrift.baseline('done', 3)).toBeUndefined();
    expect(await judgeDrift.names()).toEqual(['another', 'done']);
  });

  test('drift: of one evaluator the newest looks stay, and with them the baseline that they are compared with', async () => {
    const { judgeDrift } = await open(member);
    for (const one of [look(1, 0), look(1, 1), look(2, 0), look(1, 0, { name: 'other' })]) await judgeDrift.write(one);
    for (let number = 1; number <= driftMeasurementsMax; number++) await judgeDrift.write(look(2, number, { answers: [] }));
    const kept = await judgeDrift.looks({ name: 'done', limit: 1_000 });
    expect(kept).toHaveLength(driftMeasurementsMax + 1);
    expect([places(kept)[0], places(kept).at(-2), places(kept).at(-1)]).toEqual([`2.${driftMeasurementsMax}`, '2.1', '2.0']);
    expect(await judgeDrift.looks({ name: 'other', limit: 10 })).toHaveLength(1);
  });
});

test('drift: looks are there after a restart', async () => {
  const file = join(folder(), 'tracejury.db');
  const first = await openFile(file);
  await first.judgeDrift.write(look(1, 0));
  await first.stop();
  expect(await (await openFile(file)).judgeDrift.looks({ name: 'done', limit: 10 })).toEqual([look(1, 0)]);
});

import { expect, test } from 'vitest';
import { progressBar } from '../../src/cli/terminal.ts';

test('progress: the time left follows from the pace, without what was done before', () => {
  const written: string[] = [];
  let nowMs = 0;
  const bar = progressBar({ isTTY: true, write: (text) => written.push(text) }, 110, { nowMs: () => nowMs, before: 10 });
  bar.show(10);
  nowMs = 2_000;
  bar.show(11);
  nowMs = 100_000;
  bar.show(60);
  nowMs = 300_000;
  bar.show(110);
  expect(written.map((text) => /\d+\/110.*$/.exec(text)?.[0].split('\u001b')[0])).toEqual([
    '10/110',
    '11/110, about 3 min 18 s left',
    '60/110, about 1 min 40 s left',
    '110/110',
  ]);
});

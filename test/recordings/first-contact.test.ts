/** First contact counts equal recordings, claims, wrong claims and missing values of a folder of recordings. */
import { expect, test } from 'vitest';
import { firstContact } from './first-contact-report.ts';
import { ownRecordings } from './read.ts';
import type { Recording } from './read.ts';

const read = ownRecordings().filter(({ name }) => name === 'ag2/sequential' || name === 'ag2/toolerror');

function asked(change: object, [first, ...others]: readonly Recording[]): readonly Recording[] {
  const [trace] = first?.expected.traces ?? [];
  if (first === undefined || trace === undefined) throw new Error('no such recording');
  return [{ ...first, expected: { ...first.expected, traces: [{ ...trace, ...change }] } }, ...others];
}

test('first contact: the last line holds the totals, above it each instrumentation and field has a row', () => {
  const { lines, wrong, rows } = firstContact(read);
  expect(lines.at(-1)).toMatch(/^2 of 2 recordings equal; 0 of \d+ claims wrong \(0\.0 %\), \d+ values missing$/);
  expect(lines.filter((line) => /^\| (?:ag2|input|all) \|/.test(line)).map((line) => line.split(' | ').length)).toEqual([6, 6, 7, 7]);
  expect(wrong).toEqual([]);
  expect(rows.map(({ instrumentation, scenarios }) => [instrumentation, Object.keys(scenarios)])).toEqual([
    ['ag2', ['sequential', 'toolerror']],
  ]);
});

test('first contact: a value that the agent did not have is a wrong claim of its field, and the recording is not equal', () => {
  const { lines, wrong, rows } = firstContact(asked({ input: 'another question' }, read));
  expect(lines.at(-1)).toMatch(/^1 of 2 recordings equal; 1 of /);
  expect(lines.find((line) => line.startsWith('| ag2 |'))).toMatch(/\| input 1 \|$/);
  expect(wrong).toEqual([expect.stringMatching(/^ag2\/sequential {2}input: expected another question, told /)]);
  expect(rows[0]?.scenarios['sequential']).toMatchObject({ equal: false, wrong: 1 });
});

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compared, keptDocuments } from './documents.ts';
import { brokenPromises, type Account } from './trial.ts';

const whole: Account = {
  acknowledged: 40,
  lost: 0,
  other: 0,
  doubled: 0,
  revised: 0,
  unasked: 0,
  askedAgain: 0,
  sentAgain: 0,
  unsent: 0,
  silentMs: 100,
  examples: [],
};

const accounts: readonly {
  readonly name: string;
  readonly more: Partial<Account>;
  /** The first list is for faults after which work in hand may come again. */
  readonly broken: readonly [mayComeAgain: readonly string[], once: readonly string[]];
}[] = [
  { name: 'nothing', more: {}, broken: [[], []] },
  { name: 'no load', more: { acknowledged: 0 }, broken: [['No run was acknowledged.'], ['No run was acknowledged.']] },
  { name: 'a judge that was not asked', more: { unasked: 3, silentMs: 60_000 }, broken: [[], []] },
  { name: 'a loss', more: { lost: 2 }, broken: [['2 runs are lost.'], ['2 runs are lost.']] },
  {
    name: 'another verdict',
    more: { other: 1, documents: 'folder' },
    broken: [
      ['1 runs are other than one process has them: folder has documents of both.'],
      ['1 runs are other than one process has them: folder has documents of both.'],
    ],
  },
  {
    name: 'two runs and a score too few',
    more: { doubled: 1, unsent: 1 },
    broken: [
      ['1 runs or verdicts are there twice.', '1 scores never came to the backend.'],
      ['1 runs or verdicts are there twice.', '1 scores never came to the backend.'],
    ],
  },
  {
    name: 'work that is done again',
    more: { revised: 1, askedAgain: 2, sentAgain: 3 },
    broken: [[], ['1 runs were evaluated again.', '2 questions were asked again.', '3 scores came to the backend again.']],
  },
];
for (const { name, more, broken } of accounts) {
  test(`faults of replicas: ${name} breaks the promises that it breaks`, () => {
    const fault = { name: 'f', summary: '', suffer: async () => undefined };
    const account = { ...whole, ...more };
    expect([
      brokenPromises({ ...fault, inHand: 'may come again' }, account),
      brokenPromises({ ...fault, inHand: 'once' }, account),
    ]).toEqual(broken);
  });
}

test('faults of replicas: both documents of a run that is other are kept, with a line for each member', () => {
  const folder = keptDocuments([{ id: 'a1', is: '{"model":"m","status":"ok"}', was: 'null' }]);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(readdirSync(folder)).toEqual(['a1-one-process.json', 'a1-replicas.json']);
  expect(readFileSync(join(folder, 'a1-replicas.json'), 'utf8')).toBe('{\n  "model": "m",\n  "status": "ok"\n}\n');
  expect(readFileSync(join(folder, 'a1-one-process.json'), 'utf8')).toBe('null\n');
});

const decisions = [{ name: 'judged', decision: 'overload' }];
const documents: readonly { readonly name: string; readonly one: object; readonly other: object; readonly isSame: boolean }[] = [
  { name: 'that differ', one: { model: 'm' }, other: {}, isSame: false },
  {
    name: 'without an answer of the judge in one of them, for want of time',
    one: { verdicts: [], decisions },
    other: { verdicts: [{ name: 'judged' }], decisions: [{ name: 'judged', decision: 'scored' }] },
    isSame: true,
  },
  {
    name: 'that differ beside the answer of the judge',
    one: { verdicts: [], decisions },
    other: { model: 'm', verdicts: [], decisions: [] },
    isSame: false,
  },
  { name: 'without content in one of them, for want of time', one: { content_gone: {} }, other: { input: 'x' }, isSame: true },
];
for (const { name, one, other, isSame } of documents) {
  test(`faults of replicas: documents ${name} are ${isSame ? 'the same' : 'other'}`, () => {
    const [have, want] = compared(JSON.stringify(one), JSON.stringify(other));
    expect(have === want).toBe(isSame);
  });
}

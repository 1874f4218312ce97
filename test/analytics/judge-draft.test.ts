import { expect, test } from 'vitest';
import { type DraftLabel, draftLabel, draftRuns, type Halves, halvesOf, tooFewLabels } from '../../src/analytics/judge-draft.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { run } from '../builders/scored-run.ts';

/** Letters, as long numbers are alike to a fingerprint. */
const word = (at: number): string => `${String.fromCharCode(97 + (at % 26))}${'x'.repeat(Math.floor(at / 26))}`;

function label(at: number, members: Partial<DraftLabel> & { readonly input?: string } = {}): DraftLabel {
  const { input = `question ${word(at)}`, passed = at % 2 === 0, notes = [], session } = members;
  return draftLabel({ run: run({ trace: agentTrace({ input, finalResponse: `answer ${word(at)}` }) }), passed, notes, session });
}

const labels = (count: number, of: (at: number) => DraftLabel = (at) => label(at)): readonly DraftLabel[] =>
  Array.from({ length: count }, (_, at) => of(at));
const inputsOf = (half: readonly DraftLabel[]): readonly (string | undefined)[] => half.map(({ texts }) => texts['input']);

const common = <Value>(one: readonly Value[], other: readonly Value[]): readonly Value[] => one.filter((value) => other.includes(value));

test('halvesOf: a half depends on neither the order nor other labels', () => {
  const [some, more] = [halvesOf(labels(60)), halvesOf(labels(90).toReversed())];
  expect(some.draft.length).toBeGreaterThan(18);
  expect(some.held.length).toBeGreaterThan(18);
  expect(inputsOf(more.draft)).toEqual(expect.arrayContaining([...inputsOf(some.draft)]));
  expect(inputsOf(more.held)).toEqual(expect.arrayContaining([...inputsOf(some.held)]));
});

test('halvesOf: near-duplicates of an input are in one half', () => {
  const twice = labels(120, (at) => label(at, { input: at % 2 === 0 ? `Question ${word(at >> 1)}!` : `question ${word(at >> 1)}` }));
  const { draft, held, shared, sameInputs } = halvesOf(twice);
  const plain = (half: readonly DraftLabel[]) => inputsOf(half).map((input) => input?.toLowerCase().replace('!', ''));
  expect(common(plain(draft), plain(held))).toEqual([]);
  expect({ shared, sameInputs, all: draft.length + held.length }).toEqual({ shared: 0, sameInputs: false, all: 120 });
});

test('halvesOf: a session is in one half, and an input that both halves would have is left out of the check', () => {
  const { draft, held, shared } = halvesOf(labels(200, (at) => label(at, { session: `s${at % 40}`, input: `question ${word(at % 50)}` })));
  const sessions = (half: readonly DraftLabel[]) => half.map(({ session }) => session);
  expect(common(sessions(draft), sessions(held))).toEqual([]);
  expect(common(inputsOf(draft), inputsOf(held))).toEqual([]);
  expect(shared).toBeGreaterThan(0);
  expect(draft.length + held.length + shared).toBe(200);
});

test('halvesOf: runs that all have one input are divided by their answers, and that is reported', () => {
  const { draft, held, sameInputs } = halvesOf(labels(60, (at) => label(at, { input: 'Summarise the day.' })));
  expect(sameInputs).toBe(true);
  expect(Math.min(draft.length, held.length)).toBeGreaterThan(18);
});

const half = (pass: number, fail: number): readonly DraftLabel[] => labels(pass + fail, (at) => label(at, { passed: at < pass }));
for (const { name, halves, lacks } of [
  { name: 'enough', halves: { draft: half(3, 3), held: half(5, 5) }, lacks: [] },
  { name: 'an example too few', halves: { draft: half(3, 2), held: half(5, 5) }, lacks: ['labels of fail: 2 in the half for the draft'] },
  {
    name: 'a check too small',
    halves: { draft: half(3, 3), held: half(4, 5) },
    lacks: ['labels of pass: 3 in the half for the draft (3 are needed), 4 in'],
  },
  { name: 'nothing', halves: { draft: [], held: [] }, lacks: ['labels of pass: 0', 'labels of fail: 0'] },
] satisfies readonly { readonly name: string; readonly halves: Pick<Halves, 'draft' | 'held'>; readonly lacks: readonly string[] }[])
  test(`tooFewLabels: ${name}`, () => {
    const told = tooFewLabels(halves);
    expect(told === undefined).toBe(lacks.length === 0);
    for (const lack of lacks) expect(told).toContain(lack);
  });

test('draftRuns: as many of each kind, and those with a note first', () => {
  const draft = labels(40, (at) => label(at, { notes: at >= 36 ? ['because'] : [] }));
  const chosen = draftRuns(draft, 3);
  expect(chosen.map(({ passed, notes }) => [passed, notes.length])).toEqual([
    [true, 1],
    [true, 1],
    [true, 0],
    [false, 1],
    [false, 1],
    [false, 0],
  ]);
});

test('draftLabel: texts and notes are bounded, and a part that the run lacks is absent', () => {
  const trace = agentTrace({ input: `${'x'.repeat(8_992)} Is it?`, finalResponse: '', toolCalls: [call({ name: 'weather' })] });
  const { texts, notes } = draftLabel({
    run: run({ trace }),
    passed: true,
    notes: [' ', ...labels(9).map(() => 'n'.repeat(9_000))],
    session: undefined,
  });
  expect(Object.keys(texts)).toEqual(['input', 'tool_calls']);
  expect(texts['input']).toBe(`${'x'.repeat(750)} [cut: 7499 characters] ${'x'.repeat(743)} Is it?`);
  expect(notes).toHaveLength(5);
  expect(notes[0]?.length).toBeLessThan(1_600);
});

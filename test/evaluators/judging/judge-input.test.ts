import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blockMax, judgeInput, judgeInputHistory, judgeInputList, judgeInputPieces } from '../../../evaluators/judging/judge-input.ts';
import { agentTrace } from '../../builders/agent-trace.ts';

/** The block, and the words about the cut. */
const most = blockMax + 100;

test('shown: a text keeps its length up to the bound, and is marked beyond it', () => {
  expect(judgeInput('input', 'x'.repeat(blockMax))).toMatchObject({ title: 'input', text: 'x'.repeat(blockMax), isCut: false });
  expect(judgeInput('input', 'x'.repeat(blockMax + 1))).toMatchObject({
    title: 'input',
    text: `${'x'.repeat(blockMax)} [cut: 1 more characters]`,
    isCut: true,
  });
});

test('shown: short pieces are whole beside a long one, which takes what room is left', () => {
  const { text, isCut } = judgeInputList('texts', ['first', 'x'.repeat(100_000), 'last']);
  expect(isCut).toBe(true);
  expect(text).toMatch(/^1\. first\n2\. x{29000,} \[cut: \d+ more characters\]\n3\. last$/);
  expect(text.length).toBeLessThan(most);
});

test('shown: for any pieces, the block keeps its bound, each piece its beginning, and nothing is cut unmarked', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 20_000 }), { maxLength: 100 }), (lengths) => {
      const pieces = lengths.map((length, at) => ({ before: `<${at}>`, text: 'x'.repeat(length), after: '\n' }));
      const { text, isCut } = judgeInputPieces('pieces', pieces);
      expect(text.length).toBeLessThan(most);
      for (const at of lengths.keys()) expect(text).toContain(`<${at}>`);
      const whole = pieces
        .map((piece) => `${piece.before}${piece.text}${piece.after}`)
        .join('')
        .trimEnd();
      expect(isCut).toBe(text !== whole);
      if (whole.length + 50 * pieces.length < blockMax) expect(isCut).toBe(false);
    }),
    { numRuns: 200 },
  );
});

const said = (role: string, text: string) => ({ role, text, calls: [] });
const histories = [
  { name: 'messages that are not known', messages: undefined, want: [] },
  { name: 'a single message of the user', messages: [said('system', 's'), said('user', 'u')], want: [] },
  {
    name: 'what was said before the last message of the user',
    messages: [
      said('system', 's'),
      said('user', 'a'),
      said('assistant', ' '),
      said('assistant', 'b'),
      said('user', 'u'),
      said('assistant', 'c'),
    ],
    want: [{ title: 'earlier messages', text: 'user: a\nassistant: b', isCut: false }],
  },
] as const;
for (const { name, messages, want } of histories) {
  test(`shown: of ${name} the earlier messages are ${want.length === 0 ? 'none' : 'those'}`, () => {
    expect(
      judgeInputHistory(agentTrace(messages === undefined ? {} : { messages: messages.map((one) => ({ ...one, calls: [] })) })),
    ).toMatchObject(want);
  });
}

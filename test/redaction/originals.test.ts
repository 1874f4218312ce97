import { expect, test } from 'vitest';
import { originals } from '../../src/redaction/run.ts';

const secret = 'The word is "swordfish"\nand no other';

test.each([
  { name: 'unchanged', text: 'It said The word is "sword…', want: 'It said [redacted]…' },
  { name: 'on one line', text: 'The word is "swordfish" and n… of 40', want: '[redacted]… of 40' },
  { name: 'as JSON', text: String.raw`{"a":"The word is \"swordf…`, want: '{"a":"[redacted]…' },
  { name: 'with a line break as JSON', text: String.raw`The word is \"swordfish\"\nand…`, want: '[redacted]…' },
  { name: 'in two cuts', text: 'The wor… and The word…', want: '[redacted]… and [redacted]…' },
  { name: 'whole, as the search for matches has left it', text: 'The word', want: 'The word' },
  { name: 'too short to reveal anything', text: 'The…', want: 'The…' },
])('originals: the beginning of one before a cut, $name', ({ text, want }) => {
  const known = originals();
  known.add(secret, '[redacted]');
  expect(known.withoutBeginnings(text)).toBe(want);
});

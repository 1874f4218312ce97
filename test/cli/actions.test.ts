/** The table of actions of a command finds the action and counts its arguments. */
import { expect, test } from 'vitest';
import { commandOfActions } from '../../src/cli/actions.ts';
import { type Command, UsageError } from '../../src/cli/command.ts';
import { runCommandLine } from '../../src/cli/run.ts';

const described = { usage: '', summary: '', options: [], examples: [] } as const;
const given: string[][] = [];
const made: Command = {
  name: 'thing',
  usage: 'list|join …',
  summary: '',
  load: async () => ({
    examples: [],
    options: {},
    ...commandOfActions([
      { name: 'list', ...described, argumentsMax: 0, run: () => 0 },
      {
        name: 'join',
        ...described,
        argumentsMax: 2,
        run(_input, words) {
          if (words.length < 2) throw new UsageError('Name two.');
          given.push([...words]);
          return 1;
        },
      },
    ]),
  }),
};

async function ended(...words: readonly string[]): Promise<{ readonly code: number; readonly err: string }> {
  const err: string[] = [];
  const line = { words: ['thing', ...words], commands: [made], version: '', env: {}, say: () => undefined };
  return { code: await runCommandLine({ ...line, complain: (text) => err.push(text) }), err: err.join('\n') };
}

test('actions: the action gets what stands behind its name, and its exit code is that of the command', async () => {
  expect(await ended('list')).toEqual({ code: 0, err: '' });
  expect(await ended('join', 'a', 'b')).toEqual({ code: 1, err: '' });
  expect(given).toEqual([['a', 'b']]);
});

test.each<{ readonly words: readonly string[]; readonly says: string }>([
  { words: [], says: 'Name the action: list, join.' },
  { words: ['erase'], says: '"erase" is not one of list, join. Run' },
  { words: ['lst'], says: '"lst" is not one of list, join. Did you mean list?' },
  { words: ['list', 'a'], says: 'There are too many arguments, from "a" on.' },
  { words: ['join', 'a', 'b', 'c'], says: 'There are too many arguments, from "c" on.' },
  { words: ['join', 'a'], says: 'Name two.' },
])('actions: $words', async ({ words, says }) => {
  expect(await ended(...words)).toMatchObject({ code: 2, err: expect.stringContaining(says) });
});

/** Notes of one process to the others about the tools of a session. */
import { expect, test } from 'vitest';
import { sessionNotes } from '../../../src/journals/kafka/session-notes.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant } from '../../../src/model/ids.ts';
import type { JournalPartitionStore } from '../../../src/model/store/journal-partition-store.ts';
import { settled } from '../../builders/manual-sleep.ts';
import { memoryStore } from '../../builders/memory-store.ts';

async function storeOfTwo(): Promise<JournalPartitionStore> {
  const { journalPartitions } = await memoryStore();
  const take = (owner: string, partitions: readonly number[]) =>
    journalPartitions.take(
      partitions.map((partition) => ({ topic: 'spans', partition })),
      { owner, at: 0 },
    );
  await take('own', [0]);
  await take('other', [1, 2]);
  return journalPartitions;
}

test.each([
  { name: 'sent', refusals: [undefined, undefined], more: [], sends: [['1'], ['2']] },
  { name: 'refused', refusals: ['busy', undefined], more: ['3'], sends: [['1'], ['1', '2', '3']] },
])('session notes: a note while others are $name goes to one partition of each other process', async ({ refusals, more, sends }) => {
  const store = await storeOfTwo();
  const sent: string[][] = [];
  const answers: ((refusal: string | undefined) => void)[] = [];
  const publish = sessionNotes({
    owner: 'own',
    topic: () => 'spans',
    store: () => store,
    clock: manualClock(),
    send(records) {
      sent.push(records.map(({ value }) => (JSON.parse(value.toString()) as { readonly key: string }).key));
      return new Promise((resolve) => answers.push(resolve));
    },
  });
  const tell = (key: string): void => publish({ tenant: noTenant, key, tools: [], isWanted: false });
  tell('1');
  await settled();
  tell('2');
  for (const [at, refusal] of refusals.entries()) {
    answers[at]?.(refusal);
    await settled();
    if (refusal !== undefined) for (const key of more) tell(key);
    await settled();
  }
  expect(sent).toEqual(sends);
});

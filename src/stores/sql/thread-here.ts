/** A database that answers between two turns of the caller's. */
import { openedId, type Database } from './answers.ts';
import type { SqlThread } from './connection.ts';

export function threadHere({ answer }: Database): SqlThread {
  let isOpen = true;
  const ask: SqlThread['ask'] = async (question) => {
    if (!isOpen) throw new Error('the store is closed');
    const given = await answer({ ...question, id: openedId });
    if (given.kind === 'failed') throw new Error(given.message);
    return given;
  };
  return {
    ask,
    async stop() {
      if (!isOpen) return;
      await ask({ kind: 'close' });
      isOpen = false;
    },
  };
}

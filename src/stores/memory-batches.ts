/** Which questions are in batches, and what came back, in a store that ends with the process. */
import type { JudgeBatchStore, KeptBatch } from '../model/store/batch-store.ts';

export function memoryBatches(): JudgeBatchStore {
  const batches = new Map<string, KeptBatch>();
  const answers = new Map<string, { readonly text: string; readonly at: number }>();
  return {
    async prepare(batch) {
      batches.set(batch.id, { ...batch, questions: [...batch.questions].sort(), remoteId: undefined });
      for (const question of batch.questions) answers.delete(question);
    },
    async submitted(id, remoteId) {
      const batch = batches.get(id);
      if (batch !== undefined) batches.set(id, { ...batch, remoteId });
    },
    async end(id, given, at) {
      const known = new Set(batches.get(id)?.questions ?? []);
      for (const { question, text } of given) if (known.has(question)) answers.set(question, { text, at });
      batches.delete(id);
    },
    unfinished: async (judge) =>
      [...batches.values()]
        .filter((batch) => batch.judge === judge)
        .sort((one, other) => one.preparedAt - other.preparedAt || (one.id < other.id ? -1 : 1)),
    answer: async (question) => answers.get(question)?.text,
    async forget({ before, rows }) {
      for (const [id, { preparedAt }] of batches) if (preparedAt < before) batches.delete(id);
      const newest = [...answers].sort(
        ([question, one], [otherQuestion, other]) => other.at - one.at || (question < otherQuestion ? -1 : 1),
      );
      for (const [nth, [question, { at }]] of newest.entries()) if (at < before || nth >= rows) answers.delete(question);
    },
  };
}

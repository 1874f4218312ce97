import { expect, test } from 'vitest';
import { roughBytes } from '../../src/model/size-estimate.ts';
import type { StoreItem } from '../../src/model/store/store.ts';
import { itemBytes, slimItem } from '../../src/stores/blob-codec.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';

const long = 'x'.repeat(100_000);
const sized: readonly { readonly name: string; readonly item: StoreItem }[] = [
  { name: 'an explanation', item: scoredRun({ a: scored(1, { explanation: long }) }) },
  { name: 'details', item: scoredRun({ a: scored(1, { details: { seen: Array.from({ length: 5_000 }, () => 'evidence') } }) }) },
  { name: 'attributes of the resource', item: scoredRun({ a: scored(1) }, run({ resourceAttributes: { text: long } })) },
  { name: 'content', item: scoredRun({ a: scored(1) }, run({ trace: agentTrace({ input: long }) })) },
];
test.each(sized)('item bytes: $name counts about as much as it takes', ({ item }) => {
  const own = slimItem(item);
  const [estimated, walked] = [itemBytes(own), roughBytes(own)];
  expect(estimated).toBeGreaterThan(walked * 0.7);
  expect(estimated).toBeLessThan(walked * 3);
});

test('item bytes: an item that waits for a judge is weighed with its whole run', () => {
  const job = { name: 'j', evaluator: 'j', evaluatorKind: 'judge', queueKey: 'p', optionsHash: 'h', probability: 1, offeredAt: 1 } as const;
  const item = { ...scoredRun({}, run({ trace: agentTrace({ input: long }) })), jobs: [job] };
  expect(itemBytes(slimItem(item))).toBe(roughBytes(item));
});

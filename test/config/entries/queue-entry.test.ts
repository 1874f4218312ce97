import { expect, test } from 'vitest';
import { configFrom } from '../../builders/stored-runs.ts';

test('queues: the values of the file, with defaults for the others', () => {
  const { queues } = configFrom(`queues:
  - name: refunds
    when: agent = support and tool_error < 1
    sample: 0.05
    ask: [ { evaluator: tool_error }, { label: tone, values: [ good, bad ] }, { score: helpful, min: 1, max: 5 }, { score: sure }, { text: why } ]
    people: 2
    due: 24h
    order: informative
    lease: 5m
    blind: false
  - { name: by-hand, ask: [ { text: note } ] }
`);
  expect(queues).toMatchObject([
    {
      name: 'refunds',
      whenText: 'agent = support and tool_error < 1',
      when: { kind: 'and' },
      sample: 0.05,
      max: 500,
      ask: [
        { kind: 'evaluator', name: 'tool_error' },
        { kind: 'label', name: 'tone', values: ['good', 'bad'] },
        { kind: 'score', name: 'helpful', min: 1, max: 5 },
        { kind: 'score', name: 'sure', min: 0, max: 1 },
        { kind: 'text', name: 'why' },
      ],
      people: 2,
      dueMs: 86_400_000,
      order: 'informative',
      leaseMs: 300_000,
      blind: false,
    },
    {
      name: 'by-hand',
      when: undefined,
      whenText: undefined,
      sample: 1,
      people: 1,
      dueMs: undefined,
      order: 'oldest',
      leaseMs: 900_000,
      blind: true,
    },
  ]);
});

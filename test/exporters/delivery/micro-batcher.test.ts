/** Items that are sent at one time share a request, and a refusal is only of the item that it is about. */
import { describe, expect, test } from 'vitest';
import type { ExportOutcome } from '../../../src/exporters/exporter.ts';
import { microBatcher } from '../../../src/exporters/delivery/micro-batcher.ts';

const sent: ExportOutcome = { kind: 'sent' };
const refused: ExportOutcome = { kind: 'failed', retryable: false, error: 'status 400' };
const busy: ExportOutcome = { kind: 'failed', retryable: true, error: 'status 503' };

interface Case {
  readonly name: string;
  readonly items: number;
  /** The answer to a request with these items. */
  readonly answer: (items: readonly number[]) => ExportOutcome;
  readonly requests: readonly (readonly number[])[];
  readonly outcomes: readonly ExportOutcome[];
}

const cases: readonly Case[] = [
  { name: 'one goes by itself', items: 1, answer: () => sent, requests: [[0]], outcomes: [sent] },
  {
    name: 'several go together, up to the bound',
    items: 5,
    answer: () => sent,
    requests: [
      [0, 1, 2],
      [3, 4],
    ],
    outcomes: [sent, sent, sent, sent, sent],
  },
  { name: 'what may be taken later may all be taken later', items: 2, answer: () => busy, requests: [[0, 1]], outcomes: [busy, busy] },
  {
    name: 'one that is refused does not take the others with it',
    items: 3,
    answer: (items) => (items.includes(1) ? refused : sent),
    requests: [[0, 1, 2], [0], [1], [2]],
    outcomes: [sent, refused, sent],
  },
  { name: 'one that is refused by itself is refused', items: 1, answer: () => refused, requests: [[0]], outcomes: [refused] },
  {
    name: 'a backend that goes away while they are sent one by one',
    items: 2,
    answer: (items) => (items.length > 1 ? refused : busy),
    requests: [[0, 1], [0], [1]],
    outcomes: [busy, busy],
  },
];

describe('together', () => {
  for (const { name, items, answer, requests, outcomes } of cases) {
    test(`together: ${name}`, async () => {
      const seen: (readonly number[])[] = [];
      const send = microBatcher<number>({ itemsMax: 3, requestsMax: 1, send: async (batch) => (seen.push(batch), answer(batch)) });
      expect(await Promise.all(Array.from({ length: items }, (_, item) => send(item)))).toEqual(outcomes);
      expect(seen).toEqual(requests);
    });
  }

  test('together: where the answer has the outcome of each, nothing is sent again', async () => {
    let requests = 0;
    const send = microBatcher<number>({
      itemsMax: 3,
      requestsMax: 1,
      send: async (batch) => (requests++, batch.map((item) => (item === 1 ? refused : sent))),
    });
    expect(await Promise.all([0, 1, 2].map((item) => send(item)))).toEqual([sent, refused, sent]);
    expect(requests).toBe(1);
  });

  test('together: no more requests at a time than allowed, and what comes meanwhile waits for its turn', async () => {
    let underWay = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    const send = microBatcher<number>({
      itemsMax: 1,
      requestsMax: 2,
      send: async () => {
        most = Math.max(most, ++underWay);
        await new Promise<void>((end) => ends.push(end));
        underWay--;
        return sent;
      },
    });
    const all = Promise.all([0, 1, 2, 3, 4].map((item) => send(item)));
    for (let ended = 0; ended < 5;) {
      const end = ends.shift();
      if (end === undefined) await new Promise((resolve) => setImmediate(resolve));
      else {
        end();
        ended++;
      }
    }
    expect(await all).toEqual([sent, sent, sent, sent, sent]);
    expect(most).toBe(2);
  });
});

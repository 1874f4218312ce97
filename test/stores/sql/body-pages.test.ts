import { expect, test } from 'vitest';
import { bodyPage, pageCharsMax } from '../../../src/stores/sql/body-pages.ts';
import { brief } from '../../../src/stores/compression.ts';

/** Rows whose bodies are these numbers of characters, and the number of rows that were read. */
function table(lengths: readonly number[]) {
  const bodies = new Map<number, Uint8Array>();
  const bodyOf = (length: number): Uint8Array => {
    const body = bodies.get(length) ?? brief('x'.repeat(length), 512);
    bodies.set(length, body);
    return body;
  };
  const rows = lengths.map((length, at) => ({ place: (at + 1) * 10, body: bodyOf(length) }));
  let read = 0;
  return {
    count: () => read,
    page: async (limit: number, after?: number) => {
      const page = await bodyPage(
        { limit, after },
        {
          read: async (behind = 0, count) => {
            const some = rows.filter(({ place }) => place > behind).slice(0, count);
            read += some.length;
            return some;
          },
          placeOf: ({ place }) => place,
        },
      );
      return [page.rows.map(({ row }) => row.place), page.next] as const;
    },
  };
}

test('body pages: a page ends at its limit, and the next one goes on behind it', async () => {
  const { page } = table([1, 1, 1]);
  expect(await page(2)).toEqual([[10, 20], 20]);
  expect(await page(2, 20)).toEqual([[30], undefined]);
  expect(await page(3)).toEqual([[10, 20, 30], undefined]);
  expect(await table([]).page(3)).toEqual([[], undefined]);
});

test('body pages: a page ends where its texts would be too long, and has at least one row', async () => {
  const half = pageCharsMax / 2;
  const { page } = table([half, half, 1, pageCharsMax + 1, 1]);
  expect(await page(100)).toEqual([[10, 20], 20]);
  expect(await page(100, 20)).toEqual([[30], 30]);
  expect(await page(100, 30)).toEqual([[40], 40]);
  expect(await page(100, 40)).toEqual([[50], undefined]);
});

test('body pages: no more rows are read than a page may hold, and some', async () => {
  const { page, count } = table(Array.from({ length: 1_000 }, () => pageCharsMax / 4));
  expect((await page(1_000))[0]).toHaveLength(4);
  expect(count()).toBeLessThanOrEqual(50);
});

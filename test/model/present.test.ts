import { expect, test } from 'vitest';
import { present } from '../../src/model/present.ts';

interface Members {
  readonly name: string;
  readonly note?: string;
  readonly size?: number | null;
}

test('only members that are undefined are left out', () => {
  const cases: readonly (readonly [Members, readonly string[]])[] = [
    [present({ name: 'a', note: undefined, size: undefined }), ['name']],
    [present({ name: '', note: '', size: 0 }), ['name', 'note', 'size']],
    [present({ size: null, note: undefined, name: 'b' }), ['size', 'name']],
  ];
  for (const [made, keys] of cases) expect(Object.keys(made)).toEqual(keys);
});

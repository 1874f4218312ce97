/** Texts that users or their programs see, kept as files. `npx vitest -u` writes them anew: a change of one is a change of the product. */
import { join } from 'node:path';
import { expect } from 'vitest';

const folder = join(import.meta.dirname, '../fixtures/goldens');

export async function expectGolden(text: string, name: string): Promise<void> {
  await expect(text.endsWith('\n') ? text : `${text}\n`).toMatchFileSnapshot(join(folder, name));
}

/** Twenty thousand damaged bodies. A failure names its seed, its case, and a file for `npm run check -- hostile --replay FILE`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fuzz, replay } from './fuzz.ts';
import { damaged, randomFrom, recordedBodies } from './mutations.ts';
import { openTarget } from './target.ts';

test('hostile: twenty thousand damaged bodies are read or refused, and counted by their answers', async () => {
  const target = await openTarget();
  const { accepted, refused, faults } = await fuzz(target, { cases: 20_000, seed: 20_261 });
  await target.stop();
  expect(faults).toEqual([]);
  // Were nearly all refused, or nearly none, little would be tried.
  expect(Math.min(accepted, refused)).toBeGreaterThan(1_000);
});

test('hostile: one seed gives the same damage, another one another', () => {
  const bodies = recordedBodies();
  const run = (seed: number): readonly string[] => {
    const random = randomFrom(seed);
    return bodies.slice(0, 50).map((body) => damaged(body, bodies, random).toString('hex'));
  };
  expect(run(7)).toEqual(run(7));
  expect(run(7)).not.toEqual(run(8));
});

test('hostile: a kept body is read again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-replay-'));
  const path = join(folder, '1-2.traces.json.hex');
  writeFileSync(path, Buffer.from('{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}').toString('hex'));
  expect(replay(path)).toBe('0 accepted, 1 rejected');
  expect(replay('something.hex')).toMatch(/not named/);
  rmSync(folder, { recursive: true });
});

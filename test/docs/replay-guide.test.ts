/** The guide on replays names what the command can say and take. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replayRuns } from '../../src/cli/commands/replay.ts';
import { judgeModes, notAskedReasons } from '../../src/cli/replay/judge-modes.ts';
import { goneTexts } from '../../src/cli/replay/stored-runs.ts';
import { parseRunFilter } from '../../src/cli/run-filter.ts';
import { runConditionNames } from '../../src/model/store/run-filter.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/replay.md'), 'utf8');

test('docs: the guide on replays lists every reason, key and judge mode', () => {
  const words = [...Object.keys(goneTexts), 'may_still_change', ...runConditionNames, ...judgeModes];
  expect(words.filter((word) => !guide.includes(`\`${word}\``))).toEqual([]);
  expect(Object.keys(notAskedReasons).sort()).toEqual([...judgeModes].sort());
});

test('docs: the guide on replays shows options that the command has, and filters that it reads', () => {
  const shown = new Set([...guide.matchAll(/--([a-z][a-z-]+)/g)].map(([, name = '']) => name));
  expect([...shown].filter((name) => !Object.hasOwn(replayRuns.options, name))).toEqual([]);
  const hidden = Object.keys(replayRuns.options).filter((name) => !shown.has(name) && name !== 'config');
  expect(hidden).toEqual([]);
  const filters = [...guide.matchAll(/--where '([^']+)'/g)].map(([, text = '']) => text);
  expect(filters.length).toBeGreaterThan(0);
  for (const text of filters) expect(Object.keys(parseRunFilter([text])).length).toBeGreaterThan(0);
});

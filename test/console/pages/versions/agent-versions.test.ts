import { expect, test } from 'vitest';
import { agentsOf, namedChanges, ratePoints, type VersionFigures } from '../../../../src/console/pages/versions/agent-versions.ts';

const rate = (name: string, point: number | null) => ({ name, measure: 'pass_rate', rate: { point, low: point, high: point } });
const version = (name: string, day: number, own: Partial<VersionFigures> = {}): VersionFigures => ({
  agent: 'support',
  version: name,
  first_seen: `2026-11-${String(day).padStart(2, '0')}T00:00:00Z`,
  last_seen: `2026-11-${String(day + 1).padStart(2, '0')}T00:00:00Z`,
  runs: 10,
  cost_per_run: null,
  median_seconds: null,
  p95_seconds: null,
  models: [],
  prompts: [],
  evaluators: [],
  ...own,
});

test('agent versions: agents by their newest run, versions by their first one', () => {
  const agents = agentsOf([version('1', 3), version('2', 5), version('9', 4, { agent: 'other', last_seen: '2026-11-20T00:00:00Z' })]);
  expect(agents.map(({ agent, newest, runs }) => [agent, newest.version, runs])).toEqual([
    ['other', '9', 10],
    ['support', '2', 20],
  ]);
});

test('agent versions: charts go from the oldest version to the newest, and a version without a rate is a gap', () => {
  const found = ratePoints([
    version('3', 9, { evaluators: [rate('a', 0.9), rate('b', 0.5)] }),
    version('1', 1, { evaluators: [rate('a', 1), rate('none', null)] }),
    version('2', 4),
  ]);
  expect(found.map(({ name }) => name)).toEqual(['b', 'a']);
  expect(found[1]?.points.map(({ label, point }) => [label, point])).toEqual([
    ['1', 1],
    ['2', null],
    ['3', 0.9],
  ]);
});

test('agent versions: a change is a new name, a gone one, or a share that differs by a tenth', () => {
  const before = [
    { name: 'kept', runs: 90 },
    { name: 'gone', runs: 10 },
  ];
  const now = [
    { name: 'kept', runs: 950 },
    { name: 'new', runs: 50 },
  ];
  expect(namedChanges(before, now)).toEqual([
    { name: 'gone', before: 0.1, now: 0 },
    { name: 'new', before: 0, now: 0.05 },
  ]);
  expect(namedChanges(before, before)).toEqual([
    // Nothing differs.
  ]);
});

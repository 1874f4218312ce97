import { expect, test } from 'vitest';
import { chosenProcess, processDataOf, processSteps, stepsMax, toolsMax } from '../../../../src/console/pages/versions/process-steps.ts';

test('process steps: the share is among the steps from the same tool', () => {
  const steps = processSteps({
    runs: 100,
    tools: [{ name: 'lookup', runs: 100, calls: 100 }],
    transitions: [
      { from: 'lookup', to: null, times: 97, runs: 97 },
      { from: 'lookup', to: 'lookup', times: 3, runs: 3 },
      { from: null, to: 'lookup', times: 100, runs: 100 },
      { from: 'lookup', to: 'never', times: 0, runs: 2 },
    ],
  });
  expect(steps.map(({ fromName, toName, share, isRare }) => [fromName, toName, share, isRare])).toEqual([
    [null, 'lookup', 1, false],
    ['lookup', null, 0.97, false],
    ['lookup', 'lookup', 0.03, true],
  ]);
});

test('process steps: of many tools the most called ones are shown, each with a way in and out', () => {
  const names = Array.from({ length: 60 }, (_, at) => `t${String(at).padStart(2, '0')}`);
  const data = {
    runs: 100,
    tools: names.map((name, at) => ({ name, runs: 100, calls: 100 - at })),
    transitions: names.flatMap((from) => names.map((to, at) => ({ from, to, times: 100 - at, runs: 10 }))),
  };
  const { nodes, edges, toolsLeftOut, stepsLeftOut } = chosenProcess(data);
  expect(nodes).toHaveLength(toolsMax + 2);
  expect(edges).toHaveLength(stepsMax);
  expect([toolsLeftOut, stepsLeftOut]).toEqual([60 - toolsMax, 3_600 - stepsMax]);
  for (const { id, kind } of nodes) {
    if (kind !== 'tool') continue;
    expect(edges.some(({ from }) => from === id)).toBe(true);
    expect(edges.some(({ to }) => to === id)).toBe(true);
  }
});

test('process steps: tools named like the ends, or like each other with spaces, stay apart', () => {
  const names = ['start', 'end', 'end ', ' end', '["start",null]@1', 'tool start'];
  const { nodes } = chosenProcess({ runs: 1, tools: names.map((name) => ({ name, runs: 1, calls: 1 })), transitions: [] });
  expect(new Set(nodes.map(({ id }) => id)).size).toBe(names.length + 2);
});

test('process steps: an answer of another form gives no process', () => {
  expect(processDataOf({ runs: 1, tools: [], transitions: [] })).toBeDefined();
  for (const model of [undefined, null, 'x', {}, { runs: 1, tools: {}, transitions: [] }]) expect(processDataOf(model)).toBeUndefined();
});

import type { Profiler } from 'node:inspector';
import { expect, test } from 'vitest';
import { timeByArea } from './areas.ts';

const root = 'file:///project/';

/** Each node hangs below the one whose name it gives. */
const calls: readonly { readonly name: string; readonly url?: string; readonly below?: string; readonly micros: number }[] = [
  { name: '(root)', micros: 0 },
  { name: '(idle)', below: '(root)', micros: 500 },
  { name: '(garbage collector)', below: '(root)', micros: 30 },
  { name: 'onread', url: 'node:internal/net', below: '(root)', micros: 7 },
  { name: 'take', url: `${root}src/stores/memory.ts`, below: 'onread', micros: 11 },
  { name: 'jsonText', url: `${root}src/model/json.ts`, below: 'take', micros: 13 },
  { name: 'stringify', url: '', below: 'jsonText', micros: 17 },
  { name: 'evaluate', url: `${root}evaluators/tool-error.ts`, below: 'take', micros: 19 },
  { name: 'valueOf', url: 'file:///elsewhere/src/stores/valueOf.ts', below: '(root)', micros: 23 },
];

test('time belongs to the nearest folder of the project, that of the model to its caller, and waiting to none', () => {
  const ids = new Map(calls.map(({ name }, at) => [name, at + 1]));
  const nodes = calls.map(({ name, url = '' }, at): Profiler.ProfileNode => ({
    id: at + 1,
    callFrame: { functionName: name, scriptId: '0', url, lineNumber: 0, columnNumber: 0 },
    children: calls.flatMap((other) => (other.below === name ? (ids.get(other.name) ?? []) : [])),
  }));
  const profile: Profiler.Profile = {
    nodes,
    startTime: 0,
    endTime: 0,
    samples: calls.map((_, at) => at + 1),
    timeDeltas: calls.map(({ micros }) => micros),
  };
  expect(timeByArea(profile, root)).toEqual(
    [
      { area: 'what is stored', micros: 11 + 13 + 17 },
      { area: 'Node: HTTP, streams, timers', micros: 7 + 23 },
      { area: 'collecting garbage', micros: 30 },
      { area: 'rules', micros: 19 },
    ].toSorted((one, other) => other.micros - one.micros),
  );
});

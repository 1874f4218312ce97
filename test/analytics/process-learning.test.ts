import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readProcessModel } from '../../evaluators/process/model-json.ts';
import { halvedProcess, learnt, mergedProcess, observedProcess, processLearner } from '../../src/analytics/process-learning.ts';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { emptyProcess, processLimits, type ProcessModel } from '../../src/model/process-model.ts';
import { quantileOf } from '../../src/statistics/quantile-sketch.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { processOf, runOf } from '../builders/process-runs.ts';

const observed = (trace: AgentTrace): ProcessModel => observedProcess(trace) ?? emptyProcess;

test('one run: tools, steps, orders and arguments', () => {
  const found = observed(
    agentTrace({
      startUnixNano: 0n,
      endUnixNano: 1_500_000_000n,
      tokens: { input: 90, output: 10 },
      toolCalls: [
        call({ name: 'a', turn: 1, arguments: { id: 1, tags: ['x', null] } }),
        call({ name: 'b', turn: 2, arguments: null }),
        call({ name: 'c', turn: 2 }),
        call({ name: 'a', turn: 3, arguments: { id: 'one' } }),
      ],
    }),
  );
  expect(found).toMatchObject({ runs: 1, beyond: { tools: 0, transitions: 0, orders: 0 } });
  expect(found.tools.find(({ name }) => name === 'a')).toEqual({
    name: 'a',
    runs: 1,
    calls: 2,
    most: 2,
    shaped: 2,
    beyond: 0,
    paths: [
      { path: 'id', calls: 2, types: { number: 1, string: 1 } },
      { path: 'tags', calls: 1, types: { array: 1 } },
      { path: 'tags[]', calls: 1, types: { string: 1, null: 1 } },
    ],
  });
  expect(found.tools.map(({ name, shaped }) => [name, shaped])).toEqual([
    ['a', 2],
    ['b', 0],
    ['c', 1],
  ]);
  const steps = found.transitions.map(({ from, to, runs, times }) => `${from ?? '('} ${to ?? ')'} ${runs} ${times}`);
  expect(steps.toSorted()).toEqual(['( a 1 1', 'a ) 1 1', 'a b 1 1', 'a c 1 0', 'b a 1 0', 'b c 1 1', 'c a 1 1', 'c b 1 0']);
  expect(found.orders.map(({ first, then }) => `${first}${then}`).toSorted()).toEqual(['ab', 'ac', 'ba', 'ca']);
  expect(quantileOf(found.calls, 0.5)).toBe(4);
  expect(quantileOf(found.duration, 0.5)).toBe(1_500);
  expect(quantileOf(found.tokens, 0.5)).toBe(100);
});

const someTrace = fc
  .array(fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })), {
    maxLength: 5,
  })
  .chain((steps) => fc.dictionary(fc.constantFrom('x', 'y'), fc.jsonValue({ maxDepth: 2 })).map((given) => runOf(steps, given as never)));

test('models add up in any order and any grouping', () => {
  fc.assert(
    fc.property(fc.array(someTrace, { maxLength: 6 }), fc.nat(6), (traces, cut) => {
      const models = traces.map(observed);
      const whole = mergedProcess(...models);
      expect(mergedProcess(mergedProcess(...models.slice(cut)), mergedProcess(...models.slice(0, cut)))).toEqual(whole);
      expect(traces.reduce((model, trace) => learnt(model, trace), emptyProcess)).toEqual(whole);
      expect(whole.runs).toBe(traces.length);
    }),
  );
});

test('what enters a tool also leaves it', () => {
  fc.assert(
    fc.property(fc.array(someTrace, { maxLength: 6 }), (traces) => {
      const { tools, transitions } = mergedProcess(...traces.map(observed));
      const times = (end: 'from' | 'to', name: string | null): number =>
        transitions.filter((one) => one[end] === name).reduce((sum, one) => sum + one.times, 0);
      for (const { name, calls } of tools) expect([times('from', name), times('to', name)]).toEqual([calls, calls]);
      expect([times('from', null), times('to', null)]).toEqual([traces.length, traces.length]);
    }),
  );
});

test('a model is JSON and back', () => {
  fc.assert(
    fc.property(fc.array(someTrace, { maxLength: 4 }), (traces) => {
      const model = mergedProcess(...traces.map(observed));
      expect(readProcessModel(JSON.parse(JSON.stringify(model)))).toEqual({ kind: 'read', model });
    }),
  );
});

test('a model keeps within its limits and counts the rest', () => {
  const learner = processLearner();
  for (let at = 0; at < 400; at++) {
    const given = Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [`key_${at}_${nth}`, nth]));
    learner.add(
      observed(
        runOf(
          Array.from({ length: 20 }, (_, nth) => `tool_${(at * 7 + nth * nth) % 150}`),
          given,
        ),
      ),
    );
  }
  const { runs, tools, transitions, orders, beyond } = learner.model();
  expect(runs).toBe(400);
  expect(tools).toHaveLength(processLimits.tools);
  expect(tools.reduce((sum, { paths }) => sum + paths.length, 0)).toBe(processLimits.paths);
  expect(transitions.length).toBeLessThanOrEqual(processLimits.transitions);
  expect(orders).toHaveLength(processLimits.orders);
  expect(Math.min(beyond.tools, beyond.transitions, beyond.orders)).toBeGreaterThan(0);
  expect(tools.some((tool) => tool.beyond > 0)).toBe(true);
});

test('a run with more tools than a model holds is not learnt', () => {
  const wide = runOf(Array.from({ length: processLimits.tools + 1 }, (_, at) => `t${at}`));
  expect(observedProcess(wide)).toBeUndefined();
  expect(learnt(emptyProcess, wide)).toBe(emptyProcess);
});

test('names that must not be kept, and long ones, are beyond the model', () => {
  const trace = runOf(['lookup', 'x'.repeat(201)], { 'jane@example.org': 1, city: 'Paris' });
  const found = observedProcess(trace, { mayKeep: (name) => !name.includes('jane') });
  expect(found?.tools.map(({ name, beyond, paths }) => ({ name, beyond, paths: paths.map(({ path }) => path) }))).toEqual([
    { name: 'lookup', beyond: 1, paths: ['city'] },
  ]);
  expect(found?.beyond).toEqual({ tools: 1, transitions: 2, orders: 0 });
});

test('huge arguments end the walk, and their absence proves nothing', () => {
  const given = { list: Array.from({ length: 2_000 }, (_, at) => at) };
  expect(observed(runOf(['a'], given)).tools[0]).toMatchObject({ beyond: 1, paths: [{ path: 'list' }, { path: 'list[]' }] });
});

test('half a model forgets what was seen once and keeps what is always so', () => {
  const half = halvedProcess(
    processOf([
      [runOf(['a', 'b'], { id: 1 }), 101],
      [runOf(['a', 'once', 'b'], { id: 1 }), 1],
    ]),
  );
  expect(half.runs).toBe(51);
  expect(half.tools.map(({ name, runs }) => [name, runs])).toEqual([
    ['a', 51],
    ['b', 51],
  ]);
  expect(half.tools[0]).toMatchObject({ shaped: 51, paths: [{ path: 'id', calls: 51 }] });
  const some = halvedProcess(
    processOf([
      [runOf(['a'], { id: 1 }), 60],
      [runOf(['a'], { id: 1, note: 'x' }), 41],
    ]),
  );
  expect(some.tools[0]?.paths.map(({ path, calls }) => [path, calls])).toEqual([
    ['id', 50],
    ['note', 20],
  ]);
  expect(half.transitions.map(({ from, to }) => [from, to])).toEqual([
    [null, 'a'],
    ['a', 'b'],
    ['b', null],
  ]);
});

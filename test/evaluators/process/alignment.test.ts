import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alignment } from '../../../evaluators/process/alignment.ts';
import { processGraph, type ProcessGraph } from '../../../evaluators/process/graph.ts';
import { blocksOf, type Block } from '../../../evaluators/process/trajectory.ts';
import { emptyProcess, type ProcessModel } from '../../../src/model/process-model.ts';
import { processOf, runOf } from '../../builders/process-runs.ts';
import { propertyRuns } from '../../builders/property-runs.ts';

const exact = { smoothing: 0, rare: 0 };

function graphOf(model: ProcessModel, options = exact): ProcessGraph {
  const graph = processGraph(model, options);
  if (graph === undefined) throw new Error('the graph leads nowhere');
  return graph;
}

function movesOf(steps: Parameters<typeof runOf>[0], graph: ProcessGraph): readonly string[] {
  const found = alignment(blocksOf(runOf(steps)), graph);
  return (found?.moves ?? []).map((move) =>
    move.kind === 'missing' ? `-${move.tool}` : `${move.kind === 'extra' ? '+' : ''}${move.placed.call.name}`,
  );
}

const line = graphOf(processOf([[runOf(['a', 'b', 'c']), 1]]));
const parallel = graphOf(processOf([[runOf(['a', ['b', 'c'], 'd']), 1]]));
const loop = graphOf(processOf([[runOf(['a', 'b', 'b', 'c']), 1]]));

const rows = [
  { name: 'a normal run', graph: line, run: ['a', 'b', 'c'], moves: ['a', 'b', 'c'] },
  { name: 'a call too much', graph: line, run: ['a', 'x', 'b', 'c'], moves: ['a', '+x', 'b', 'c'] },
  { name: 'a call too few', graph: line, run: ['a', 'c'], moves: ['a', '-b', 'c'] },
  { name: 'no call at all', graph: line, run: [], moves: ['-a', '-b', '-c'] },
  { name: 'a run that ends too early', graph: line, run: ['a', 'b'], moves: ['a', 'b', '-c'] },
  { name: 'a loop that the process has', graph: loop, run: ['a', 'b', 'b', 'b', 'c'], moves: ['a', 'b', 'b', 'b', 'c'] },
  { name: 'a loop that the process has not', graph: line, run: ['a', 'b', 'b', 'c'], moves: ['a', 'b', '+b', 'c'] },
  { name: 'calls at the same time, learnt so', graph: parallel, run: ['a', ['c', 'b'], 'd'], moves: ['a', 'b', 'c', 'd'] },
  { name: 'one after the other, learnt at the same time', graph: parallel, run: ['a', 'c', 'b', 'd'], moves: ['a', 'c', 'b', 'd'] },
  { name: 'at the same time, learnt one after the other', graph: line, run: ['a', ['c', 'b']], moves: ['a', 'b', 'c'] },
];

test.each(rows)('$name is aligned with the fewest moves', ({ graph, run, moves }) => {
  expect(movesOf(run, graph).toSorted()).toEqual(moves.toSorted());
});

const tools = ['a', 'b', 'c'] as const;
const tool = fc.constantFrom(...tools);
const someRun = fc.array(fc.oneof(tool, tool, tool, fc.array(tool, { minLength: 1, maxLength: 3 })), {
  maxLength: 3,
});

test('no word of the graph is nearer to the run than the alignment', () => {
  fc.assert(
    fc.property(fc.array(someRun, { minLength: 1, maxLength: 3 }), someRun, (learnt, given) => {
      const graph = graphOf(processOf(learnt.map((steps) => [runOf(steps), 1])));
      const blocks = blocksOf(runOf(given));
      const found = alignment(blocks, graph);
      expect(found?.cost).toBe(nearestWord(blocks, graph));
      expect(found?.moves.filter(({ kind }) => kind !== 'normal')).toHaveLength(found?.cost ?? -1);
      expect(
        isWord(
          found?.moves.flatMap((move) => (move.kind === 'extra' ? [] : [move.kind === 'missing' ? move.tool : move.placed.call.name])),
          graph,
        ),
      ).toBe(true);
    }),
    { numRuns: propertyRuns({ short: 100, long: 2_000 }) },
  );
});

test('what it was learnt from costs nothing', () => {
  fc.assert(
    fc.property(fc.array(someRun, { minLength: 1, maxLength: 4 }), (learnt) => {
      const graph = graphOf(processOf(learnt.map((steps) => [runOf(steps), 1])));
      for (const steps of learnt) expect(alignment(blocksOf(runOf(steps)), graph)?.cost).toBe(0);
    }),
    { numRuns: propertyRuns({ short: 100, long: 2_000 }) },
  );
});

test('a run that takes more than one may is not searched', () => {
  const wide = Array.from({ length: 40 }, (_, at) => `t${at}`);
  expect(alignment(blocksOf(runOf([wide])), line)).toBeUndefined();
  expect(alignment(blocksOf(runOf(Array.from({ length: 25_000 }, () => 'a'))), line)).toBeUndefined();
});

test('a graph without a way to the end is none', () => {
  expect(processGraph({ ...emptyProcess, runs: 3, tools: [], transitions: [] }, exact)).toBeUndefined();
});

/** The least number of calls to leave out or to put in, over all orders of the run and all words of the graph. */
function nearestWord(blocks: readonly Block[], graph: ProcessGraph): number {
  const orders = blocks.reduce<readonly (readonly string[])[]>(
    (before, block) => {
      const own = permutations(block.map(({ call }) => call.name));
      return before.flatMap((one) => own.map((other) => [...one, ...other]));
    },
    [[]],
  );
  const calls = orders[0]?.length ?? 0;
  let [best, frontier] = [Number.POSITIVE_INFINITY, [{ node: 0, word: [] as readonly string[] }]];
  for (let length = 0; frontier.length > 0 && length - calls < best; length++) {
    for (const { node, word } of frontier)
      if (graph.mayEnd[node] === true) for (const order of orders) best = Math.min(best, calls + length - 2 * common(order, word));
    frontier = frontier.flatMap(({ node, word }) =>
      (graph.successors[node] ?? []).map((next) => ({ node: next, word: [...word, graph.names[next] ?? ''] })),
    );
  }
  return best;
}

function permutations(items: readonly string[]): readonly (readonly string[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

/** Length of the longest common subsequence. */
function common(one: readonly string[], other: readonly string[]): number {
  let row = other.map(() => 0).concat(0);
  for (const left of one) {
    const next = [0];
    other.forEach((right, at) => next.push(left === right ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0)));
    row = next;
  }
  return one.length === 0 ? 0 : (row.at(-1) ?? 0);
}

function isWord(word: readonly string[] | undefined, { nodes, successors, mayEnd }: ProcessGraph): boolean {
  let node = 0;
  for (const name of word ?? ['?']) {
    const next = nodes.get(name);
    if (next === undefined || successors[node]?.includes(next) !== true) return false;
    node = next;
  }
  return mayEnd[node] === true;
}

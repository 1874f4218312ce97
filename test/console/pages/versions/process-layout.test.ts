import { expect, test } from 'vitest';
import { nodeSize, processLayout } from '../../../../src/console/pages/versions/process-layout.ts';
import type { ProcessData } from '../../../../src/console/pages/versions/process-steps.ts';
import { seededRandom } from '../../../../src/statistics/seeded-random.ts';

const tool = (name: string, runs = 100) => ({ name, runs, calls: runs });
const step = (from: string | null, to: string | null, times = 100) => ({ from, to, times, runs: times });

const support: ProcessData = {
  runs: 100,
  tools: [tool('verify'), tool('lookup'), tool('refund', 60), tool('ticket', 40)],
  transitions: [
    step(null, 'verify'),
    step('verify', 'lookup'),
    step('lookup', 'refund', 60),
    step('lookup', 'ticket', 40),
    step('refund', null, 60),
    step('ticket', null, 40),
    step('refund', 'lookup', 3),
    step('refund', 'refund', 2),
  ],
};

test('process layout: steps lead down, and the tools of a choice stand side by side', () => {
  const { nodes } = processLayout(support);
  const y = (name: string): number => nodes.find((node) => node.name === name)?.y ?? Number.NaN;
  expect(y('Start')).toBeLessThan(y('verify'));
  expect(y('verify')).toBeLessThan(y('lookup'));
  expect(y('lookup')).toBeLessThan(y('refund'));
  expect(y('refund')).toBe(y('ticket'));
  expect(y('End')).toBeGreaterThan(y('ticket'));
});

test('process layout: a rare step that closes a circle goes back, a frequent one does not', () => {
  const { edges } = processLayout(support);
  const back = edges.filter(({ isBack }) => isBack).map(({ fromName, toName }) => [fromName, toName]);
  expect(back).toEqual([
    ['refund', 'lookup'],
    ['refund', 'refund'],
  ]);
});

test('process layout: no process is a start and an end', () => {
  const { nodes, edges, width, height } = processLayout({ runs: 0, tools: [], transitions: [] });
  expect(nodes.map(({ name }) => name)).toEqual(['Start', 'End']);
  expect(edges).toEqual([]);
  expect(width).toBeGreaterThan(nodeSize.width);
  expect(height).toBeGreaterThan(2 * nodeSize.height);
});

test('process layout: in any process, boxes do not overlap and everything is inside the picture', () => {
  const random = seededRandom(2026);
  for (let round = 0; round < 40; round++) {
    const names = Array.from({ length: 1 + Math.floor(random() * 60) }, (_, at) => `tool ${at}`);
    const any = (): string | null => (random() < 0.1 ? null : (names[Math.floor(random() * names.length)] ?? null));
    const data: ProcessData = {
      runs: 500,
      tools: names.map((name) => tool(name, 1 + Math.floor(random() * 500))),
      transitions: Array.from({ length: Math.floor(random() * 300) }, () => step(any(), any(), Math.floor(random() * 500))),
    };
    const { nodes, edges, width, height } = processLayout(data);
    for (const [at, node] of nodes.entries()) {
      expect(node.x - node.width / 2).toBeGreaterThanOrEqual(0);
      expect(node.x + node.width / 2).toBeLessThanOrEqual(width);
      expect(node.y + node.height / 2).toBeLessThanOrEqual(height);
      for (const other of nodes.slice(at + 1))
        expect(Math.abs(node.y - other.y) >= nodeSize.height || Math.abs(node.x - other.x) >= nodeSize.width).toBe(true);
    }
    for (const { path } of edges) expect(path).not.toMatch(/NaN|Infinity/);
  }
});

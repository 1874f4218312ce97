/** The facts of two dialects about one span become one set. */
import { expect, test } from 'vitest';
import type { Collector, SpanFacts } from '../../../collectors/collector.ts';
import { collectors } from '../../../collectors/index.ts';
import { joined, spanReadingOf } from '../../../src/pipeline/assembly/span-facts.ts';
import { span } from '../../builders/spans.ts';

const told: SpanFacts = { role: 'agent', agentName: 'planner' };
const guess: SpanFacts = { role: 'agent', agentName: 'invoke', agentNameIsGuess: true };
const nameless: SpanFacts = { role: 'agent' };

const names: readonly {
  readonly name: string;
  readonly first: SpanFacts;
  readonly second: SpanFacts;
  readonly agent: string;
  readonly isGuess: boolean;
}[] = [
  { name: 'a stated name of the second wins over a guess of the first', first: guess, second: told, agent: 'planner', isGuess: false },
  { name: 'a stated name of the first has no doubt of the second', first: told, second: guess, agent: 'planner', isGuess: false },
  { name: 'the first of two stated names counts', first: told, second: { ...told, agentName: 'other' }, agent: 'planner', isGuess: false },
  { name: 'of two guesses the first counts', first: guess, second: { ...guess, agentName: 'run' }, agent: 'invoke', isGuess: true },
  { name: 'a guess is better than no name', first: nameless, second: guess, agent: 'invoke', isGuess: true },
  { name: 'a guess stays one beside a dialect without a name', first: guess, second: nameless, agent: 'invoke', isGuess: true },
];
for (const { name, first, second, agent, isGuess } of names) {
  test(`span-facts: ${name}`, () => {
    const { agentName, agentNameIsGuess = false } = joined(first, second);
    expect([agentName, agentNameIsGuess]).toEqual([agent, isGuess]);
  });
}

test.each([
  { name: 'whose result names the tool is a call', message: { tool_call_id: 'c1', name: 'search', content: 'r' }, role: 'tool' },
  { name: 'whose result names none is a step', message: { content: 'r' }, role: 'step' },
])('span-facts: a task of OpenLLMetry with the name of a class $name', ({ message, role }) => {
  const task = span({
    id: 1,
    name: 'execute_tool DynamicStructuredTool',
    attributes: {
      'traceloop.span.kind': 'task',
      'gen_ai.operation.name': 'execute_tool',
      'traceloop.entity.name': 'DynamicStructuredTool',
      'traceloop.entity.input': '{"args":["{\\"x\\":1}"]}',
      'traceloop.entity.output': JSON.stringify({ lc: 1, type: 'constructor', id: ['m', 'ToolMessage'], kwargs: message }),
    },
  });
  expect(spanReadingOf({ collectors, records: new Map() }, task).facts.role).toBe(role);
});

test('span-facts: messages that say something win over empty ones, and only over these', () => {
  const empty: SpanFacts = { outputMessages: [{ role: 'assistant', requested: [], results: [] }] };
  const answer = (text: string): SpanFacts => ({ outputMessages: [{ role: 'assistant', text, requested: [], results: [] }] });
  expect(joined(empty, answer('a')).outputMessages).toEqual(answer('a').outputMessages);
  expect(joined(answer('a'), answer('b')).outputMessages).toEqual(answer('a').outputMessages);
  expect(joined(answer('a'), empty).outputMessages).toEqual(answer('a').outputMessages);
});

const acme = (told: SpanFacts): Collector => ({
  id: 'acme',
  summary: 'An SDK.',
  recognisedBy: { keys: ['acme.version'] },
  wants: { keys: [], prefixes: [] },
  read: () => told,
});

const call = span({
  id: 1,
  attributes: {
    'acme.version': '1',
    'acme.span.kind': 'tool',
    'acme.tool.name': 'find_order',
    'acme.tool.arguments': '{"id":1}',
    'acme.tool.result': '{"ok":true}',
  },
});

test.each<{ readonly name: string; readonly told: SpanFacts; readonly tool: SpanFacts['tool']; readonly dialects: readonly string[] }>([
  {
    name: 'fills what a collector of an SDK leaves open',
    told: { role: 'tool', tool: { name: 'look_up' } },
    tool: { name: 'look_up', arguments: { id: 1 }, result: { ok: true } },
    dialects: ['acme', 'generic'],
  },
  {
    name: 'reports a span that a collector of an SDK is silent about',
    told: {},
    tool: { name: 'find_order', arguments: { id: 1 }, result: { ok: true } },
    dialects: ['acme', 'generic'],
  },
  {
    name: 'ignores a call that a collector of an SDK reads whole',
    told: { role: 'tool', tool: { name: 'look_up', arguments: {}, result: null, inputSchema: {} } },
    tool: { name: 'look_up', arguments: {}, result: null, inputSchema: {} },
    dialects: ['acme'],
  },
])('span-facts: the reader by evidence $name', ({ told, tool, dialects }) => {
  const reading = spanReadingOf({ collectors: [acme(told), ...collectors], records: new Map() }, call);
  expect(reading.facts.tool).toEqual(tool);
  expect(reading.dialects).toEqual(dialects);
});

/** Facts of one turn of a session about a tool hold in the others. */
import { describe, expect, test } from 'vitest';
import { tenant } from '../../../src/model/ids.ts';
import type { Span } from '../../../src/model/span.ts';
import { gathered } from '../../builders/gathered.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';

const minute = 60_000;
const offered = [{ name: 'find' }, { name: 'book' }];

interface Turn {
  readonly session?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly described?: string;
  readonly service?: string;
}

/** A turn that names two tools and describes the one that it calls. */
function turn(
  number: number,
  { session = 's', agent = 'travel', tool = 'find', described = `how to ${tool}`, service = 'shop' }: Turn = {},
): readonly Span[] {
  const common = { trace: number, resource: { 'service.name': service } };
  return [
    agentSpan({ ...common, id: 10 * number, agent, attributes: { 'gen_ai.conversation.id': session, 'gen_ai.tool.definitions': offered } }),
    toolSpan({ ...common, id: 10 * number + 1, parent: 10 * number, tool, attributes: { 'gen_ai.tool.description': described } }),
  ];
}

function told(
  spans: readonly (readonly Span[])[],
  pauseMs = minute,
): readonly (readonly [turn: number, revision: number, find: string | undefined, book: string | undefined])[] {
  const to = gathered();
  for (const own of spans) {
    to.spans(...own);
    to.pass(pauseMs);
  }
  to.pass(minute);
  return to.runs().map(({ spanId, revision, trace }) => {
    const [find, book] = ['find', 'book'].map((name) => trace.toolDefinitions.find((definition) => definition.name === name)?.description);
    return [Number.parseInt(spanId, 16) / 10, revision, find, book];
  });
}

describe('sessions', () => {
  test('sessions: turns that come together share their facts at once', () => {
    expect(told([[...turn(1), ...turn(2, { tool: 'book' })]])).toEqual([
      [1, 1, 'how to find', 'how to book'],
      [2, 1, 'how to find', 'how to book'],
    ]);
  });

  test('sessions: a later turn makes the next revision of an earlier one that named the tool', () => {
    expect(told([turn(1), turn(2, { tool: 'book' }), turn(3)])).toEqual([
      [1, 1, 'how to find', undefined],
      [2, 1, 'how to find', 'how to book'],
      [1, 2, 'how to find', 'how to book'],
      [3, 1, 'how to find', 'how to book'],
    ]);
  });

  test('sessions: turns that contradict each other give a third no fact about the tool', () => {
    const runs = told([turn(1), turn(2, { described: 'otherwise' }), turn(3, { tool: 'book' })]);
    expect(runs.findLast(([number]) => number === 3)).toEqual([3, 1, undefined, 'how to book']);
  });

  for (const other of [{ session: 'other' }, { agent: 'other' }, { service: 'other' }] as const) {
    test(`sessions: another ${Object.keys(other).join()} gives no fact`, () => {
      expect(told([turn(1), turn(2, { tool: 'book', ...other })])).toEqual([
        [1, 1, 'how to find', undefined],
        [2, 1, undefined, 'how to book'],
      ]);
    });
  }

  test('sessions: nor does another tenant under the same session id', () => {
    const to = gathered();
    to.spansOf(tenant('a'), ...turn(1));
    to.spansOf(tenant('b'), ...turn(2, { tool: 'book' }));
    to.pass(minute);
    expect(to.runs().map(({ trace }) => trace.toolDefinitions.filter(({ description }) => description !== undefined).length)).toEqual([
      1, 1,
    ]);
  });

  test('sessions: a turn that was given up is not revised', () => {
    expect(told([turn(1), turn(2, { tool: 'book' })], 61 * minute)).toEqual([
      [1, 1, 'how to find', undefined],
      [2, 1, 'how to find', 'how to book'],
    ]);
  });
});

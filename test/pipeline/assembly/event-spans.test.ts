/** Frameworks that send a span for every event: those of one call or one request count as one. */
import { describe, expect, test } from 'vitest';
import { assembled } from '../../builders/assembled.ts';
import { span, type Attributes, type SpanData } from '../../builders/spans.ts';

const event = (id: number, name: string, kind: string, attributes: Attributes, more: Partial<SpanData> = {}) =>
  span({ id, parent: 1, start: id, name, attributes: { 'acme.kind': kind, ...attributes }, ...more });
const root = span({ id: 1, start: 0, end: 100, name: 'shop', attributes: { 'acme.kind': 'agent', input: 'q', output: 'a' } });
const asks = (name: string, args: string): string =>
  `[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"${name}","args":${args}}]}]`;

describe('event-spans', () => {
  test('event-spans: beginning and end of a request are one request', () => {
    const [run] = assembled([
      root,
      event(2, 'backend.chat.start-1', 'llm', { 'input.value': '[{"role":"system","content":"be kind"},{"role":"user","content":"q"}]' }),
      event(3, 'backend.chat.finish-1', 'llm', {}),
      event(
        4,
        'backend.chat.success-1',
        'llm',
        { 'output.value': asks('find_order', '{"x":1}'), input_tokens: 7, output_tokens: 2 },
        { end: 9 },
      ),
    ]);
    expect(run?.trace).toMatchObject({ systemPrompt: 'be kind', tokens: { input: 7, output: 2 } });
    expect(run?.trace.modelCalls).toHaveLength(1);
    expect(run?.trace.modelCalls[0]?.endUnixNano).toBe(9_000_000n);
  });

  test.each([
    ['its name in the framework’s spelling is the model’s', 'acme.tool.findOrder', 'find_order'],
    ['a name in the model’s spelling', 'tool.find_order', 'find_order'],
    ['a name with dashes', 'tools.findOrder', 'find-order'],
  ])('event-spans: the events of a call are one call: %s', (_name, of, asked) => {
    const [run] = assembled([
      root,
      event(2, 'backend.chat.success-1', 'llm', { 'output.value': asks(asked, '{"x":1}'), input_tokens: 7, output_tokens: 2 }),
      event(3, `${of}.start-1`, 'tool', { 'tool.parameters': '{"x":1}' }),
      event(4, `${of}.success-1`, 'tool', { 'tool.parameters': '{"x":1}', 'output.value': '{"result":{"r":1}}' }),
      event(5, `${of}.finish-1`, 'tool', {}),
    ]);
    expect(run?.trace.toolCalls).toMatchObject([{ id: 'c1', name: asked, arguments: { x: 1 }, result: { r: 1 }, executed: true }]);
  });

  test('event-spans: calls at the same time have each its own end', () => {
    const [run] = assembled([
      root,
      event(2, 'tool.find.start-1', 'tool', { 'tool.parameters': '{"x":1}' }),
      event(3, 'tool.find.start-2', 'tool', { 'tool.parameters': '{"x":2}' }),
      event(4, 'tool.find.success-1', 'tool', { 'tool.parameters': '{"x":2}', 'output.value': '{"result":"two"}' }),
      event(5, 'tool.find.error-1', 'tool', { 'tool.parameters': '{"x":1}' }, { status: 'error', message: 'boom' }),
    ]);
    expect(run?.trace.toolCalls).toMatchObject([
      { name: 'find', arguments: { x: 1 }, error: { message: 'boom' } },
      { name: 'find', arguments: { x: 2 }, result: 'two' },
    ]);
  });

  test('event-spans: an end whose beginning is missing gives the call', () => {
    const [run] = assembled([root, event(2, 'tool.find.success-1', 'tool', { 'tool.parameters': '{"x":1}', 'output.value': '"r"' })]);
    expect(run?.trace.toolCalls).toMatchObject([{ name: 'find', arguments: { x: 1 }, result: 'r' }]);
  });

  test('event-spans: events of a tool whose calls have separate spans add none', () => {
    const [run] = assembled([
      root,
      event(2, 'tool.findOrder.start-1', 'tool', { 'tool.parameters': '{"x":1}' }),
      event(3, 'tool.findOrder.success-1', 'tool', { 'tool.parameters': '{"x":1}', 'output.value': '"r"' }),
      event(4, 'call', 'tool', { 'tool.name': 'find_order', input: '{"x":1}', output: '"r"' }),
    ]);
    expect(run?.trace.toolCalls).toMatchObject([{ name: 'find_order', result: 'r' }]);
  });
});

/**
 * The span that a tool call's verdict is attached to is the one that ran the tool. Recordings expect no span ids; the words of a span about
 * itself, read here without any collector, show whether it can be the one.
 */
import { expect, test } from 'vitest';
import { plainText } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { contentsOf, ownRecordings, play } from './read.ts';

const KIND = /(?:^|[._])(?:span[._]?(?:kind|type)|observation[._]?type|operation[._]?name|run_?type|node_?type|log_type|as_type)$/i;
const TOOL = /^"?(?:tool|execute_tool|tool_call|function_call|tool_use)"?$/i;
const MODEL = /^"?(?:llm|chat|generation|chat_model|text_completion|generate_content|completion|agent|invoke_agent)"?$/i;

/** Meanings of the attributes under a word for kinds. */
function says(span: Span, what: RegExp): boolean {
  return span.attributeKeys().some((key) => KIND.test(key) && what.test(plainText(textual(span, key))));
}

function textual(span: Span, key: string): string {
  const value = span.attribute(key);
  return typeof value === 'string' ? value : '';
}

/** The span has the tool's name, as its own or under some key. */
function names(span: Span, tool: string): boolean {
  return (
    span.name.endsWith(tool) ||
    span.attributeKeys().some((key) => /name$|tool$|entity/i.test(key) && textual(span, key).replaceAll('"', '').endsWith(tool))
  );
}

test('recordings: a tool call has the span that ran the tool, where one claims it', () => {
  const wrong = ownRecordings().flatMap((recording) => {
    const { spans } = contentsOf(recording);
    // A run that is spread over several traces has calls in all of them.
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const { runs } = play(recording);
    const taken = new Set(runs.flatMap((run) => run.trace.toolCalls.map(({ spanId }) => spanId)));
    return runs.flatMap((run) =>
      run.trace.toolCalls.flatMap(({ name, spanId }) => {
        const own = spanId === undefined ? undefined : byId.get(spanId);
        const isTool = own !== undefined && (says(own, TOOL) || own.name === name);
        // A client's span encloses the server's, and both are of one call.
        const better = spans.find(
          (span) =>
            span.traceId === run.traceId &&
            !taken.has(span.spanId) &&
            !taken.has(span.parentSpanId) &&
            says(span, TOOL) &&
            span.name.split(/[ :/]/).at(-1) === name,
        );
        const said = `${recording.name}: ${name} has ${spanId === undefined ? 'no span' : `the span ${own?.name ?? 'of nobody'}`}`;
        if (spanId !== undefined && own === undefined) return [said];
        if (own !== undefined && !isTool && (says(own, MODEL) || !names(own, name))) return [`${said}, which ran no tool`];
        if (!isTool && better !== undefined) return [`${said}, and ${better.spanId} ran it`];
        return [];
      }),
    );
  });
  expect([...new Set(wrong)]).toEqual([]);
});

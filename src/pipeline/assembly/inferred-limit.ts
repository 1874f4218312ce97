/**
 * The length at which an SDK cuts texts, where only the texts show it: no text of a run is longer, and several different ones have exactly that
 * length.
 */
import type { ToolCall } from '../../model/agent-trace.ts';
import type { JsonValue } from '../../model/json.ts';
import type { Mutable } from '../../model/mutable.ts';
import type { AttributeValue, Span } from '../../model/span.ts';
import type { Node } from './span-tree.ts';

/** Shorter texts are ids, hashes and names, which often have one length. */
const charsMin = 100;
/** This many different texts of one length are not a coincidence. */
const textsMin = 3;

/** `chars`: the length of the longest text in the run. Only such texts can be the remainder of a cut. */
export function inferredLimit(nodes: readonly Node[], chars: number): number | undefined {
  if (chars < charsMin) return undefined;
  const alike: Node[] = [];
  for (const node of nodes) {
    const longest = longestIn(node.span);
    if (longest > chars) return undefined;
    if (longest === chars) alike.push(node);
  }
  const texts = new Set<AttributeValue | undefined>();
  for (const { span } of alike) for (const key of span.attributeKeys()) if (lengthOf(span, key) === chars) texts.add(span.attribute(key));
  // Ids and signatures may be longer than all else, and have one length.
  return texts.size < textsMin || ![...texts].every(isInWords) ? undefined : chars;
}

/** The length of the longest text that may be what is left of a cut. */
export function longestReported(texts: readonly (JsonValue | undefined)[], calls: readonly ToolCall[]): number {
  let longest = 0;
  for (const text of texts) if (typeof text === 'string' && text.length > longest) longest = text.length;
  for (const { arguments: given, argumentsText = '', result } of calls) {
    if (given === null && argumentsText.length > longest) longest = argumentsText.length;
    if (typeof result === 'string' && result.length > longest) longest = result.length;
  }
  return longest;
}

function isInWords(text: AttributeValue | undefined): boolean {
  return typeof text === 'string' && /\s/.test(text);
}

function longestIn(span: Span): number {
  return span.longestText?.() ?? span.attributeKeys().reduce((longest, key) => Math.max(longest, lengthOf(span, key)), 0);
}

/** In ASCII a text has as many characters as bytes, so that it need not be decoded. */
function lengthOf(span: Span, key: string): number {
  const written = span.writtenText?.(key);
  if (written !== undefined) return written.end - written.start;
  const value = span.attribute(key);
  return typeof value === 'string' ? value.length : 0;
}

/** The calls, with texts of that length as what is left of their arguments and results. */
export function withCutTexts(calls: readonly ToolCall[], limit: number): readonly ToolCall[] {
  return calls.map((call) => {
    const cutArguments = call.arguments === null && call.argumentsText?.length === limit ? call.argumentsText : undefined;
    const cutResult = typeof call.result === 'string' && call.result.length === limit ? call.result : undefined;
    if (cutArguments === undefined && cutResult === undefined) return call;
    const { arguments: given, argumentsText, result, ...rest } = call;
    const left: Mutable<ToolCall> = { ...rest, truncated: { ...call.truncated } };
    if (cutArguments !== undefined) left.truncated = { ...left.truncated, arguments: cutArguments };
    else {
      if (given !== undefined) left.arguments = given;
      if (argumentsText !== undefined) left.argumentsText = argumentsText;
    }
    if (cutResult !== undefined) left.truncated = { ...left.truncated, result: cutResult };
    else if (result !== undefined) left.result = result;
    return left;
  });
}

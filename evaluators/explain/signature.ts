/**
 * Signatures of failed verdicts: the words that all verdicts of the same failure have in common. Failures with the same evaluator, agent, tool and signature are one issue.
 */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, textAt } from '../../src/model/json.ts';
import { templateMax } from '../../src/model/message-template.ts';
import type { ScoredVerdict } from '../../src/model/verdict.ts';
import type { Signature, Signatures } from '../evaluator.ts';
import { singleSpaced } from './explanation.ts';

/** Signatures of one verdict. */
export const signaturesMax = 10;
const listedToolsMax = 5;
const rowsMax = 50;

/** Distinct signatures of a failed verdict, at least one. */
export function signaturesOf(signatures: Signatures | undefined, verdict: ScoredVerdict, trace: AgentTrace): readonly Signature[] {
  const named = signatures?.(verdict, trace) ?? [];
  const all = named.length > 0 ? named : usual(verdict, trace);
  const distinct = new Map(all.map(({ tool, text }) => [`${tool}\n${text}`, { tool, text: bounded(text) }]));
  return [...distinct.values()].slice(0, signaturesMax);
}

/** Tools that were missing, out of order or unexpected; else the tools of the failed parts, or the label. */
function usual({ details, parts, label, evidence }: ScoredVerdict, { toolCalls }: AgentTrace): readonly Signature[] {
  // Verdicts also list unexpected calls that are allowed. Only the others are evidence.
  const isAllowed = (row: JsonObject): boolean => {
    const spanId = toolCalls[Number(member(row, 'index'))]?.spanId;
    return spanId !== undefined && !evidence.includes(spanId);
  };
  const lists = [
    ['missing', toolsIn(details, /^missing(?:_calls)?$/)],
    ['out of order', toolsIn(details, /^out_of_order$/)],
    ['unexpected', toolsIn(details, /^(?:extra|unexpected)_calls$/, isAllowed)],
  ] as const;
  const text = lists.flatMap(([word, tools]) => (tools.length === 0 ? [] : [`${word}: ${listedTools(tools)}`])).join('; ');
  if (text !== '') return [{ tool: '', text }];
  const failed = [...new Set(parts.filter(({ passed, tool }) => !passed && tool !== '').map(({ tool }) => tool))];
  return failed.length > 0 ? failed.map((tool) => ({ tool, text: label })) : [{ tool: '', text: label }];
}

function toolsIn(details: JsonObject, key: RegExp, isLeftOut: (row: JsonObject) => boolean = () => false): readonly string[] {
  const lists = Object.keys(details).filter((name) => key.test(name));
  const rows = lists.flatMap((name) => rowsIn(details, name));
  const names = rows.filter((row) => !isLeftOut(row)).map(nameOfTool);
  return [...new Set(names)].filter((name) => name !== '').toSorted();
}

function listedTools(tools: readonly string[]): string {
  return `${tools.slice(0, listedToolsMax).join(', ')}${tools.length > listedToolsMax ? `, and ${tools.length - listedToolsMax} more` : ''}`;
}

/** Objects of a list in the details, the first ones of a long list. */
export function rowsIn(details: JsonObject, key: string): readonly JsonObject[] {
  const list = member(details, key);
  return isJsonArray(list) ? list.slice(0, rowsMax).filter(isJsonObject) : [];
}

export function nameOfTool(row: JsonObject): string {
  return textIn(row, 'tool');
}

/** Texts of a list in the details. */
export function namesIn(details: JsonObject, key: string): readonly string[] {
  const list = member(details, key);
  return isJsonArray(list) ? list.filter((name) => typeof name === 'string') : [];
}

/** Empty when the member is not a text. */
export function textIn(row: JsonObject, key: string): string {
  return textAt(row, key) ?? '';
}

/** A place in JSON as a pointer, in which every position in a list is `*`. */
export function generalPath(path: string): string {
  return `/${path
    .split('.')
    .map((step) => (/^\d+$/.test(step) ? '*' : step))
    .join('/')}`;
}

function bounded(text: string): string {
  const line = singleSpaced(text.trim());
  return line.length <= templateMax ? line : `${line.slice(0, templateMax - 1).toWellFormed()}…`;
}

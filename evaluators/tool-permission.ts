/** Only permitted tools were called. Every call that the model asked for counts, whether it ran or not. */
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { callDetails, evidenceOf, noExpectation, noToolCalls, notCarried, partOf, placedCalls, tooLarge } from './calls.ts';
import type { PlacedCall } from './calls.ts';
import type { EvaluationContext, RuleEvaluator, Subject } from './evaluator.ts';
import { normalizeToolNamesSchema, underNormalizedNames } from './normalized-names.ts';
import { callName, count, listed, quoted } from './wording.ts';

export interface ToolPermissionOptions {
  /** Absent: all that are not denied. */
  readonly allow?: readonly string[];
  readonly deny: readonly string[];
  readonly normalizeToolNames: boolean;
}

const patterns = { type: 'array', maxItems: 1000, items: { type: 'string', minLength: 1, maxLength: 200 } };

export const toolPermission = {
  kind: 'rule',
  id: 'tool_permission',
  version: 1,
  summary: 'Only permitted tools were called.',
  needs: ['tool_calls'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { deny: [], normalizeToolNames: false },
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      allow: { ...patterns, description: 'Names of permitted tools; `*` stands for any characters. Left out: all that are not denied.' },
      deny: { ...patterns, description: 'Names of tools that must not be called; `*` stands for any characters. Wins over allow.' },
      normalize_tool_names: normalizeToolNamesSchema,
    },
  },
  source: 'DeepEval ToolPermissionMetric, with patterns',
  evaluate: (subject, options, context) => underNormalizedNames(subject, options.normalizeToolNames, (named) => evaluate(named, options, context), [...(options.allow ?? []), ...options.deny]),
} as const satisfies RuleEvaluator<ToolPermissionOptions>;

interface Breach {
  /** The pattern that denies it; undefined: nothing allows it. */
  readonly deniedBy: string | undefined;
}

function evaluate({ trace }: Subject, options: ToolPermissionOptions, context: EvaluationContext): Outcome {
  if (options.allow === undefined && options.deny.length === 0) return noExpectation('tools (allow, deny)');
  const stop = notCarried(trace) ?? tooLarge(trace, context);
  if (stop !== undefined) return stop;
  const calls = placedCalls(trace);
  if (calls.length === 0) return noToolCalls(trace);
  const byName = new Map<string, Breach | undefined>();
  for (const { call } of calls) if (!byName.has(call.name)) byName.set(call.name, breachOf(call.name, options));
  const breaches = calls.flatMap((placed) => {
    const breach = byName.get(placed.call.name);
    return breach === undefined ? [] : [{ placed, breach }];
  });
  const permitted = calls.length - breaches.length;
  return {
    kind: 'scored',
    score: permitted / calls.length,
    explanation: breaches.length === 0 ? `${calls.length === 1 ? 'The tool call was' : `All ${calls.length} tool calls were`} permitted.` : `${breaches.length} of ${count(calls.length, 'tool call')} ${breaches.length === 1 ? 'was' : 'were'} not permitted: ${listed(breaches.map(({ placed, breach }) => inWords(placed, breach)))}.`,
    evidence: evidenceOf(breaches.map(({ placed }) => placed)),
    parts: calls.map((placed) => {
      const breach = byName.get(placed.call.name);
      return partOf(placed, breach === undefined, breach === undefined ? 'The tool is permitted.' : `${inWords(placed, breach)}.`);
    }),
    details: { permitted, total: calls.length, breaches: breaches.map(({ placed, breach }): JsonObject => ({ ...callDetails(placed), ...(breach.deniedBy === undefined ? { reason: 'not_allowed' } : { reason: 'denied', pattern: breach.deniedBy }) })) },
  };
}

function breachOf(name: string, { allow, deny }: ToolPermissionOptions): Breach | undefined {
  const deniedBy = deny.find((pattern) => fits(pattern, name));
  if (deniedBy !== undefined) return { deniedBy };
  return allow === undefined || allow.some((pattern) => fits(pattern, name)) ? undefined : { deniedBy: undefined };
}

/** A star stands for any characters, also none. Pieces between stars are taken as early as they come, which is always enough. */
function fits(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

function inWords(placed: PlacedCall, { deniedBy }: Breach): string {
  return `${callName(placed)} is ${deniedBy === undefined ? 'not on the list of permitted tools' : `denied by ${quoted(deniedBy)}`}`;
}

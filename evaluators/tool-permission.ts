/** Only permitted tools were called. Every call that the model asked for counts, whether it ran or not. */
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  callDetails,
  cutShort,
  named,
  noExpectation,
  noToolCalls,
  notCarried,
  partOf,
  shareOfCalls,
  placedCalls,
  skipped,
  type PlacedCall,
} from './evidence/calls.ts';
import type { Subject } from './evaluator.ts';
import { fits, underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { callName, count, quoted, someOf } from './explain/explanation.ts';
import { nameOfTool, rowsIn, textIn } from './explain/signature.ts';
import { rule, option, optional, type OptionsOf } from './configuration/define.ts';

const patterns = { type: 'array', maxItems: 1000, items: { type: 'string', minLength: 1, maxLength: 200 } };

const options = {
  allow: optional<readonly string[]>({
    ...patterns,
    description: 'Names of permitted tools; `*` matches any characters. Defaults to all that are not denied.',
  }),
  deny: option<readonly string[]>(
    { ...patterns, description: 'Names of tools that must not be called; `*` matches any characters. Wins over allow.' },
    [],
  ),
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const toolPermission = rule({
  id: 'tool_permission',
  version: 2,
  summary: 'Only permitted tools were called.',
  needs: ['tool_calls'],
  guard: true,
  defaultThreshold: 1,
  options,
  signatures: ({ details }) =>
    rowsIn(details, 'breaches').map((breach) => {
      const pattern = textIn(breach, 'pattern');
      return { tool: nameOfTool(breach), text: pattern === '' ? 'the tool is not allowed' : `the pattern ${pattern} denies the tool` };
    }),
  source: 'DeepEval ToolPermissionMetric, with patterns',
  evaluate: underNormalizedNames(evaluate, (options) => [...(options.allow ?? []), ...options.deny]),
});

interface Breach {
  /** The denying pattern; `undefined` when no pattern allows the tool. */
  readonly deniedBy: string | undefined;
}

/** Limit of compared UTF-16 units per run; only deliberate tool names reach it. */
const comparedMax = 50_000_000;

interface Checked {
  /** By name; names without an entry are beyond the limit. */
  readonly byName: ReadonlyMap<string, Breach | undefined>;
}

function evaluate({ trace }: Subject, options: Options): Outcome {
  if (options.allow === undefined && options.deny.length === 0) return noExpectation('tools (allow, deny)');
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  const calls = placedCalls(trace);
  if (calls.length === 0) return noToolCalls(trace);
  const { byName } = checked(calls, options);
  const compared = calls.filter(({ call }) => byName.has(call.name));
  const left = calls.length - compared.length;
  const breaches = compared.filter(({ call }) => byName.get(call.name) !== undefined);
  if (breaches.length > 0) return verdict(compared, byName, breaches, left);
  if (left > 0)
    return skipped(
      'too_large',
      `${left} of ${count(calls.length, 'tool call')} were not compared with the patterns, which took more work than one run may; the other ${compared.length} were permitted.`,
      { tool_calls: calls.length, not_compared: left },
    );
  // Truncated spans may have contained more calls.
  if (trace.truncated?.includes('spans') === true)
    return cutShort('requests to models, and perhaps tool calls,', { permitted: compared.length });
  return verdict(compared, byName, breaches, 0);
}

/** Checks each distinct name. */
function checked(calls: readonly PlacedCall[], { allow, deny }: Options): Checked {
  const [denied, allowed] = [patternsOf(deny), allow === undefined ? undefined : patternsOf(allow)];
  const byName = new Map<string, Breach | undefined>();
  let left = comparedMax;
  for (const {
    call: { name },
  } of calls) {
    if (byName.has(name)) continue;
    left -= (name.length + 1) * (denied.stars.length + (allowed?.stars.length ?? 0) + 1);
    if (left < 0) break;
    const deniedBy = fitting(denied, name);
    byName.set(
      name,
      deniedBy !== undefined
        ? { deniedBy }
        : allowed === undefined || fitting(allowed, name) !== undefined
          ? undefined
          : { deniedBy: undefined },
    );
  }
  return { byName };
}

interface Patterns {
  readonly plain: ReadonlySet<string>;
  readonly stars: readonly string[];
}

function patternsOf(patterns: readonly string[]): Patterns {
  return { plain: new Set(patterns.filter((one) => !one.includes('*'))), stars: patterns.filter((one) => one.includes('*')) };
}

function fitting({ plain, stars }: Patterns, name: string): string | undefined {
  return plain.has(name) ? name : stars.find((pattern) => fits(pattern, name));
}

function verdict(calls: readonly PlacedCall[], byName: Checked['byName'], breaches: readonly PlacedCall[], left: number): Outcome {
  const breachOf = ({ call }: PlacedCall): Breach => byName.get(call.name) ?? { deniedBy: undefined };
  const culprit = (placed: PlacedCall): string => inWords(placed, breachOf(placed));
  const further = left === 0 ? '' : ` ${count(left, 'further call')} ${left === 1 ? 'was' : 'were'} not compared.`;
  return shareOfCalls(calls, {
    failed: breaches,
    hasPassed: ({ call }) => byName.get(call.name) === undefined,
    part: (placed) => {
      const breach = byName.get(placed.call.name);
      return partOf(placed, breach === undefined, breach === undefined ? 'The tool is permitted.' : `${inWords(placed, breach)}.`);
    },
    explanation:
      breaches.length === 0
        ? `${calls.length === 1 ? 'The tool call was' : `All ${calls.length} tool calls were`} permitted.`
        : `${someOf(breaches, count(calls.length, 'tool call'), ['was not permitted', 'were not permitted'], culprit, ', ')}.${further}`,
    details: {
      permitted: calls.length - breaches.length,
      total: calls.length,
      breaches: named(breaches).map((placed): JsonObject => ({
        ...callDetails(placed),
        ...(breachOf(placed).deniedBy === undefined
          ? { reason: 'not_allowed' }
          : { reason: 'denied', pattern: breachOf(placed).deniedBy ?? '' }),
      })),
      ...(left === 0 ? {} : { not_compared: left }),
    },
  });
}

function inWords(placed: PlacedCall, { deniedBy }: Breach): string {
  return `${callName(placed)} is ${deniedBy === undefined ? 'not on the list of permitted tools' : `denied by ${quoted(deniedBy)}`}`;
}

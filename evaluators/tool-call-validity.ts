/**
 * Every tool call names a defined tool and its arguments satisfy that tool's JSON Schema. A requested call counts, executed or not, because the rule
 * judges the arguments of the model. A certain fault counts, even when something else was not checked. A run without faults that was not checked
 * completely is skipped. A tool without a definition is unknown only when nothing shows that it exists: lists of definitions may be incomplete.
 */
import type { AgentTrace, ToolCall, ToolDefinition } from '../src/model/agent-trace.ts';
import { valueAtSteps } from './matching/arguments.ts';
import { callEnd } from '../src/model/error-signs.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../src/model/json.ts';
import { sortedBy } from '../src/model/nano-time.ts';
import type { Outcome, PartVerdict, SkipReason } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  callDetails,
  cutShort,
  evidenceOf,
  hasArguments,
  lightestFirst,
  notCarried,
  noToolCalls,
  partOf,
  placedCalls,
  skipped,
  type PlacedCall,
  onEmpty,
} from './evidence/calls.ts';
import type { CompiledSchema, EvaluationContext, SchemaProblem, Work } from './evaluator.ts';
import { closedSchema, outlineProblems } from './schema/outline.ts';
import { tooMuchWork } from './schema/rule.ts';
import { isSurelyLonger } from './schema/pattern-size.ts';
import { isSizeGap, schemaTextMax } from './schema/check.ts';
import { callName, count, listed } from './explain/explanation.ts';
import { rule, flag, type OptionsOf } from './configuration/define.ts';
import { generalPath, nameOfTool, rowsIn, textIn } from './explain/signature.ts';

const options = {
  strict: flag('Refuse every argument that a schema with properties does not list.'),
  on_empty: onEmpty,
};

type Options = OptionsOf<typeof options>;

export const toolCallValidity = rule({
  id: 'tool_call_validity',
  version: 5,
  summary: 'Every tool call names a defined tool and its arguments satisfy the JSON Schema of that tool.',
  needs: ['tool_calls', 'tool_definitions'],
  onByDefault: true,
  defaultThreshold: 1,
  options,
  signatures: ({ details }) =>
    rowsIn(details, 'invalid').flatMap((call) =>
      rowsIn(call, 'problems').map((problem) => ({ tool: nameOfTool(call), text: generalProblem(problem) })),
    ),
  source: 'Dokimos ToolCallValidityEvaluator, with full JSON Schema 2020-12 and draft-07',
  evaluate({ trace }, options, context) {
    const original = options.onEmpty === 'original';
    const unseen = notCarried(trace);
    if (unseen !== undefined) return unseen;
    if (trace.toolCalls.length === 0 && !original) return noToolCalls(trace);
    const definitionsLost = trace.truncated?.includes('spans') === true;
    if (trace.toolDefinitions.length === 0 && definitionsLost) return cutShort('tool definitions');
    if (trace.toolDefinitions.length === 0 && !original)
      return skipped('no_tool_definitions', 'The spans carry no tool definitions; name the tools under tools in the configuration.');
    const definitions = new Map(trace.toolDefinitions.map((definition) => [definition.name, definition]));
    const ofCalls = callStepsMax * trace.toolCalls.length;
    const work: Work = { steps: runStepsMax + ofCalls };
    const check: Check = {
      definitions,
      definitionOf: definitionsOf(definitions),
      isOpen: trace.toolDefinitions.some(({ open }) => open === true),
      definitionsLost,
      strict: options.strict,
      outlineWork: { steps: outlineStepsMax + ofCalls },
      work,
      schemaOf: schemasOf(options, context, work),
      notes: new Map(),
    };
    // Small calls first, so that a large one does not exclude others.
    const judged = sortedBy(
      lightestFirst(placedCalls(trace)).map((placed) => judgedCall(placed, check)),
      (one, other) => one.index - other.index,
    );
    const invalid = judged.filter(({ problems }) => problems.length > 0);
    const unchecked = judged.filter(({ problems, unchecked: left }) => problems.length === 0 && left !== undefined);
    if (invalid.length === 0 && unchecked.length > 0) return notChecked(trace, judged, unchecked, check.notes);
    return verdict(
      judged.filter(({ problems, unchecked: left }) => problems.length > 0 || left === undefined),
      unchecked,
      check,
    );
  },
});

/** Limit of steps for compiling and checking per run; some hundredths of a second. Cached schemas count the same. */
const runStepsMax = 60_000;
/** Limit of member names read in outlines per run. */
const outlineStepsMax = 200_000;
/** Steps that each call adds to both limits, so that runs of any length are checked. */
const callStepsMax = 20;
/** Limit of calls with a separate part. */
const partsMax = 1_000;
/** Limit of unchecked calls that are named. */
const uncheckedNamedMax = 50;

type Kind =
  | 'unknown_tool'
  | 'arguments_not_object'
  | 'missing_required'
  | 'unexpected_parameter'
  | 'wrong_type'
  | 'not_in_enum'
  | 'constraint';

interface Problem {
  readonly kind: Kind;
  readonly parameter?: string;
  readonly keyword?: string;
  readonly message: string;
}

type UncheckedReason = Extract<
  SkipReason,
  'too_large' | 'schema_not_applied' | 'truncated' | 'no_tool_definitions' | 'arguments_not_carried'
>;

/** `unchecked`: `undefined` when the whole call was checked. */
interface Judged extends PlacedCall {
  readonly problems: readonly Problem[];
  readonly unchecked?: { readonly reason: UncheckedReason; readonly why: string };
}

interface Check {
  readonly definitions: ReadonlyMap<string, ToolDefinition>;
  /** The definition of that name, also under a prefix that only one of the two names has. */
  readonly definitionOf: (name: string) => ToolDefinition | undefined;
  /** True when a search for tools, or a server, brings tools that are not in any list. */
  readonly isOpen: boolean;
  /** True when spans are truncated, so that an undefined tool may have been offered. */
  readonly definitionsLost: boolean;
  readonly strict: boolean;
  readonly outlineWork: Work;
  readonly work: Work;
  readonly schemaOf: SchemaOf;
  readonly notes: Map<string, readonly string[]>;
}

/** Faults of a call, as far as its definition and the remaining steps permit. */
function judgedCall(placed: PlacedCall, check: Check): Judged {
  const { index, call } = placed;
  const definition = check.definitionOf(call.name);
  if (definition === undefined && call.byProvider === true) return { index, call, problems: [] };
  if (definition === undefined && check.definitionsLost && call.name.trim() !== '')
    return left(placed, 'truncated', 'its definition may have been cut off');
  if (definition === undefined && call.name.trim() !== '' && (check.isOpen || isReal(call)))
    return left(placed, 'no_tool_definitions', 'the spans carry no definition of its tool');
  if (definition === undefined || call.name.trim() === '')
    return wrong(placed, { kind: 'unknown_tool', message: 'no tool of this name is defined' });
  if (call.truncated?.arguments !== undefined && call.arguments === undefined)
    return left(placed, 'truncated', 'its arguments are cut short');
  if (!hasArguments(placed)) return left(placed, 'arguments_not_carried', 'the spans carry none of its arguments');
  if (!isJsonObject(call.arguments)) return wrong(placed, { kind: 'arguments_not_object', message: 'the arguments are not a JSON object' });
  const { inputSchema, truncated } = definition;
  if (inputSchema === undefined || inputSchema === null)
    return truncated === true ? left(placed, 'truncated', 'the definition of its tool is cut short') : { index, call, problems: [] };
  return { index, call, ...checkedArguments(call.arguments, { ...definition, inputSchema }, check) };
}

/** Looks for a name under prefixes once. */
function definitionsOf(definitions: Check['definitions']): Check['definitionOf'] {
  const known = new Map<string, ToolDefinition | undefined>();
  return (name) => {
    const own = definitions.get(name);
    if (own !== undefined) return own;
    if (!known.has(name)) known.set(name, sameUnderPrefix(name, definitions));
    return known.get(name);
  };
}

/** Clients put a server's name before those of its tools: `mcp__poems__rhyme` is the `rhyme` of that server. Undefined also when several fit. */
function sameUnderPrefix(name: string, definitions: Check['definitions']): ToolDefinition | undefined {
  const fitting = [...definitions.values()].filter((one) => isPrefixed(one.name, name) || isPrefixed(name, one.name));
  return fitting.length === 1 ? fitting[0] : undefined;
}

function isPrefixed(whole: string, name: string): boolean {
  return name !== '' && whole.endsWith(name) && /(?:__|[.:/])$/.test(whole.slice(0, whole.length - name.length));
}

/** A call whose span shows that it ran without a failure had a tool. */
function isReal(call: ToolCall): boolean {
  return call.spanId !== undefined && callEnd(call) === 'returned';
}

/** Reads the outline only when the full check stops early; otherwise it finds nothing more. */
function checkedArguments(
  sent: JsonObject,
  { name, inputSchema, strict: givesAll }: ToolDefinition & { readonly inputSchema: JsonValue },
  { strict, outlineWork, work, schemaOf, notes }: Check,
): Pick<Judged, 'problems' | 'unchecked'> {
  const worded = (problems: readonly SchemaProblem[]): readonly Problem[] =>
    inAllWords(givesAll === true ? problems.filter(({ path }) => !isOmitted(sent, path, inputSchema)) : problems, sent);
  const outline = (): readonly Problem[] => worded(outlineProblems(inputSchema, sent, { strict, work: outlineWork }));
  if (work.steps <= 0)
    return { problems: outline(), unchecked: { reason: 'too_large', why: 'checking the arguments of this run takes too much work' } };
  const schema = schemaOf(inputSchema);
  if (schema === undefined) {
    notes.set(name, ['the schema is too large']);
    return { problems: outline(), unchecked: { reason: 'too_large', why: 'the schema of its tool is too large' } };
  }
  if (schema.faults.length > 0) notes.set(name, schema.faults);
  const { problems, gaps } = schema.check(sent, work);
  const [gap] = gaps;
  const found = worded(problems);
  if (gap === undefined) return { problems: found };
  const why = gaps.includes(tooMuchWork) ? 'checking its arguments takes too much work' : gap;
  return { problems: merged(outline(), found), unchecked: { reason: gaps.some(isSizeGap) ? 'too_large' : 'schema_not_applied', why } };
}

/** Under strict calling, a null means that the model leaves out an optional argument. */
function isOmitted(sent: JsonObject, path: readonly string[], inputSchema: JsonValue): boolean {
  const [name, ...above] = path.toReversed();
  if (name === undefined || valueAtSteps(sent, path) !== null) return false;
  let schema: JsonValue | undefined = inputSchema;
  for (const step of above.toReversed()) schema = schemaAt(schema, step);
  const required = isJsonObject(schema) ? member(schema, 'required') : undefined;
  return schemaAt(schema, name) !== undefined && !(isJsonArray(required) && required.includes(name));
}

function schemaAt(schema: JsonValue | undefined, step: string): JsonValue | undefined {
  const [properties, items] = isJsonObject(schema) ? [member(schema, 'properties'), member(schema, 'items')] : [];
  return (isJsonObject(properties) ? member(properties, step) : undefined) ?? (/^\d+$/.test(step) ? items : undefined);
}

function left(placed: PlacedCall, reason: UncheckedReason, why: string): Judged {
  return { ...placed, problems: [], unchecked: { reason, why } };
}

function wrong(placed: PlacedCall, problem: Problem): Judged {
  return { ...placed, problems: [problem] };
}

function merged(some: readonly Problem[], more: readonly Problem[]): readonly Problem[] {
  const key = ({ kind, parameter = '' }: Problem): string => `${kind} ${parameter}`;
  const known = new Set(more.map(key));
  return [...more, ...some.filter((problem) => !known.has(key(problem)))];
}

/** Steps of finding that a schema exceeds the limits. */
const refusedSteps = 1_000;

type SchemaOf = (inputSchema: JsonValue) => CompiledSchema | undefined;

/** Reads the cache once per schema, as its key is the whole text. */
function schemasOf({ strict }: Options, context: EvaluationContext, work: Work): SchemaOf {
  const known = new Map<JsonValue, CompiledSchema | undefined>();
  return (inputSchema) => {
    if (known.has(inputSchema)) return known.get(inputSchema);
    const compiled = isSurelyLonger(inputSchema, schemaTextMax)
      ? undefined
      : context.schema(strict ? closedSchema(inputSchema) : inputSchema);
    work.steps -= compiled?.steps ?? refusedSteps;
    known.set(inputSchema, compiled);
    return compiled;
  };
}

function inAllWords(problems: readonly SchemaProblem[], argumentsSent: JsonObject): readonly Problem[] {
  return problems.map((problem) => inWords(problem, argumentsSent));
}

function inWords(problem: SchemaProblem, argumentsSent: JsonValue): Problem {
  const kind = kindOf(problem);
  const parameter = problem.path.join('.');
  const named = parameter === '' ? {} : { parameter };
  const name = parameter === '' ? 'the arguments' : parameter;
  switch (kind) {
    case 'missing_required':
      return { kind, ...named, message: `${name} is missing` };
    case 'unexpected_parameter':
      return { kind, ...named, message: `${name} is not a parameter` };
    case 'not_in_enum':
      return { kind, ...named, message: `${name} is not one of the listed values` };
    case 'wrong_type':
      return { kind, ...named, message: `${name} ${problem.message}, not ${typeName(valueAtSteps(argumentsSent, problem.path))}` };
    default:
      return { kind, ...named, keyword: problem.keyword, message: `${name} ${problem.message}` };
  }
}

/** A problem without the positions in lists and the type of the value that was sent. */
function generalProblem(problem: JsonObject): string {
  const [parameter, message] = [textIn(problem, 'parameter'), textIn(problem, 'message')];
  const general = textIn(problem, 'kind') === 'wrong_type' ? message.replace(/, not an? \w+$/, '') : message;
  return parameter === '' ? general : `${generalPath(parameter)}${general.slice(parameter.length)}`;
}

function kindOf(problem: SchemaProblem): Kind {
  switch (problem.keyword) {
    case 'required':
      return 'missing_required';
    case 'additionalProperties':
    case 'unevaluatedProperties':
    case 'false schema':
      return 'unexpected_parameter';
    case 'type':
      return 'wrong_type';
    case 'enum':
      return 'not_in_enum';
    default:
      return 'constraint';
  }
}

function verdict(checked: readonly Judged[], unchecked: readonly Judged[], { definitions, notes }: Check): Outcome {
  const invalid = checked.filter(({ problems }) => problems.length > 0);
  const valid = checked.length - invalid.length;
  const isBare = ({ call }: PlacedCall): boolean => (definitions.get(call.name)?.inputSchema ?? null) === null;
  const hasSchemaFaults = ({ call }: PlacedCall): boolean => notes.has(call.name);
  return {
    kind: 'scored',
    score: checked.length === 0 ? 1 : valid / checked.length,
    explanation: `${explained(checked, invalid, { bare: checked.filter(isBare).length, faulty: checked.filter(hasSchemaFaults).length })}${invalid.length === 0 || unchecked.length === 0 ? '' : ` ${count(unchecked.length, 'call')} could not be checked.`}`,
    evidence: evidenceOf(invalid),
    parts: foremost(checked).map((one) => part(one, isBare(one), hasSchemaFaults(one))),
    details: {
      valid_calls: valid,
      total_calls: checked.length,
      invalid: invalid
        .slice(0, partsMax)
        .map((call) => ({ ...callDetails(call), problems: call.problems.map((problem) => ({ ...problem })) })),
      ...uncheckedDetails(unchecked),
      ...schemaDetails(notes),
    },
  };
}

/** Calls with a separate part, faulty ones first. */
function foremost(checked: readonly Judged[]): readonly Judged[] {
  if (checked.length <= partsMax) return checked;
  return checked
    .toSorted((one, other) => Number(other.problems.length > 0) - Number(one.problems.length > 0))
    .slice(0, partsMax)
    .sort((one, other) => one.index - other.index);
}

/** By priority: the first applicable reason is that of the run. */
const reasons: readonly UncheckedReason[] = [
  'too_large',
  'schema_not_applied',
  'truncated',
  'no_tool_definitions',
  'arguments_not_carried',
];

function notChecked(trace: AgentTrace, judged: readonly Judged[], unchecked: readonly Judged[], notes: Check['notes']): Outcome {
  const reason = reasons.find((one) => unchecked.some(({ unchecked: left }) => left?.reason === one)) ?? 'too_large';
  const details = {
    tool_calls: judged.length,
    checked_calls: judged.length - unchecked.length,
    ...uncheckedDetails(unchecked),
    ...schemaDetails(notes),
  };
  if (unchecked.length === judged.length && reason === 'arguments_not_carried') return argumentsUnknown(trace, undefined, details);
  if (unchecked.length === judged.length && reason === 'truncated')
    return cutShort(
      unchecked.some(({ call }) => call.truncated?.arguments !== undefined) ? 'arguments of tool calls' : 'tool definitions',
      details,
    );
  const why = unchecked.map((one) => `${callName(one)}: ${one.unchecked?.why ?? ''}`);
  return skipped(
    reason,
    `${unchecked.length} of ${count(judged.length, 'tool call')} could not be checked, and nothing is wrong with what was: ${listed(why, '; ')}.`,
    details,
  );
}

function uncheckedDetails(unchecked: readonly Judged[]): JsonObject {
  if (unchecked.length === 0) return {};
  const byReason = reasons.flatMap((reason) => {
    const calls = unchecked.filter(({ unchecked: left }) => left?.reason === reason).length;
    return calls === 0 ? [] : [[reason, calls] as const];
  });
  return {
    unchecked_calls: unchecked.length,
    ...Object.fromEntries(byReason),
    unchecked: unchecked.slice(0, uncheckedNamedMax).map((one) => ({
      ...callDetails(one),
      status: 'skipped',
      reason: one.unchecked?.reason ?? '',
      explanation: one.unchecked?.why ?? '',
    })),
  };
}

function schemaDetails(notes: Check['notes']): JsonObject {
  return notes.size === 0 ? {} : { schema_invalid: [...notes].map(([tool, faults]) => ({ tool, faults })) };
}

/** `bare`: calls of tools without a schema; `faulty`: of tools whose schema has parts that cannot be applied. */
function explained(
  checked: readonly Judged[],
  invalid: readonly Judged[],
  { bare, faulty }: { readonly bare: number; readonly faulty: number },
): string {
  if (checked.length === 0) return 'There was no tool call to check.';
  if (invalid.length > 0) {
    const culprits = invalid.map(
      (call) =>
        `${callName(call)}: ${listed(
          call.problems.map(({ message }) => message),
          ' and ',
        )}`,
    );
    return `${invalid.length} of ${count(checked.length, 'tool call')} ${invalid.length === 1 ? 'does' : 'do'} not fit ${invalid.length === 1 ? 'its definition' : 'their definitions'}: ${listed(culprits, '; ')}.`;
  }
  if (bare === checked.length)
    return bare === 1
      ? 'The tool call names a defined tool, which has no schema for arguments.'
      : `All ${bare} tool calls name defined tools, which have no schemas for arguments.`;
  const limits = [
    ...(bare === 0 ? [] : [`${bare} of them ${bare === 1 ? 'names a tool' : 'name tools'} without a schema for arguments`]),
    ...(faulty === 0 ? [] : ['unsound parts of schemas were left out']),
  ];
  const all =
    checked.length === 1
      ? `The tool call fits ${faulty === 0 ? 'its definition' : 'what is sound of its definition'}`
      : `All ${checked.length} tool calls fit ${faulty === 0 ? 'their definitions' : 'what is sound of their definitions'}`;
  return `${[all, ...limits].join('; ')}.`;
}

function part(judged: Judged, isBare: boolean, hasSchemaFaults: boolean): PartVerdict {
  const { problems } = judged;
  const fits = isBare
    ? 'The call names a defined tool, which has no schema for arguments.'
    : hasSchemaFaults
      ? 'The call fits what is sound of its definition.'
      : 'The call fits its definition.';
  return partOf(
    judged,
    problems.length === 0,
    problems.length === 0
      ? fits
      : `${callName(judged)}: ${listed(
          problems.map(({ message }) => message),
          ' and ',
        )}.`,
  );
}

function typeName(value: JsonValue | undefined): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'bigint'
    ? 'a number'
    : value === undefined
      ? 'nothing'
      : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

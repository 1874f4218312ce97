/**
 * Every tool call names a defined tool and its arguments satisfy that tool's JSON Schema. A call that a model asked for counts
 * whether it ran or not: it is the model's arguments that are judged. Calls whose arguments the spans do not carry are left out.
 */
import type { ToolDefinition } from '../src/model/agent-trace.ts';
import { isJsonObject } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Outcome, PartVerdict } from '../src/model/verdict.ts';
import { argumentsUnknown, callDetails, cutShort, evidenceOf, hasArguments, notCarried, noToolCalls, onEmptySchema, partOf, placedCalls, skipped, tooLarge } from './calls.ts';
import type { OnEmpty, PlacedCall } from './calls.ts';
import type { CompiledSchema, EvaluationContext, RuleEvaluator, SchemaProblem, Subject, Work } from './evaluator.ts';
import { closedSchema } from './schema-closing.ts';
import { isSurelyLonger } from './schema-size.ts';
import { schemaTextMax } from './schemas.ts';
import { callName, count, listed } from './wording.ts';

export interface ToolCallValidityOptions {
  readonly strict: boolean;
  readonly onEmpty: OnEmpty;
}

export const toolCallValidity = {
  kind: 'rule',
  id: 'tool_call_validity',
  version: 2,
  summary: 'Every tool call names a defined tool and its arguments satisfy the JSON Schema of that tool.',
  needs: ['tool_calls', 'tool_definitions'],
  onByDefault: true,
  defaultThreshold: 1,
  defaults: { strict: false, onEmpty: 'skip' },
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      strict: { type: 'boolean', description: 'Refuse every argument that a schema with properties does not list.' },
      on_empty: onEmptySchema,
    },
  },
  source: 'Dokimos ToolCallValidityEvaluator, with full JSON Schema 2020-12 and draft-07',
  evaluate,
} as const satisfies RuleEvaluator<ToolCallValidityOptions>;

/** Steps of compiling the schemas of one run and of checking its calls: some hundredths of a second at most. Counted alike whether a schema is known already. */
const runStepsMax = 60_000;

type Kind = 'unknown_tool' | 'arguments_not_object' | 'missing_required' | 'unexpected_parameter' | 'wrong_type' | 'not_in_enum' | 'constraint';

interface Problem {
  readonly kind: Kind;
  readonly parameter?: string;
  readonly keyword?: string;
  readonly message: string;
}

interface Judged extends PlacedCall {
  readonly problems: readonly Problem[];
}

function evaluate({ trace }: Subject, options: ToolCallValidityOptions, context: EvaluationContext): Outcome {
  const original = options.onEmpty === 'original';
  const unseen = notCarried(trace);
  if (unseen !== undefined) return unseen;
  if (trace.toolCalls.length === 0 && !original) return noToolCalls(trace);
  if (trace.toolDefinitions.length === 0 && trace.truncated?.includes('spans') === true) return cutShort('tool definitions');
  if (trace.toolDefinitions.length === 0 && !original) return skipped('no_tool_definitions', 'The spans carry no tool definitions; name the tools under tools in the configuration.');
  const large = tooLarge(trace, context);
  if (large !== undefined) return large;
  const calls = placedCalls(trace);
  const definitions = new Map(trace.toolDefinitions.map((definition) => [definition.name, definition]));
  // Where spans lost a part, a tool that is not among the definitions may have been offered all the same.
  const known = trace.truncated?.includes('spans') === true ? calls.filter(({ call }) => definitions.has(call.name)) : calls;
  if (calls.length > 0 && known.length === 0) return cutShort('tool definitions');
  const carried = known.filter(hasArguments);
  if (known.length > 0 && carried.length === 0) return argumentsUnknown(trace, 'The spans carry no arguments of tool calls; switch on the capture of tool inputs.');
  const notes = new Map<string, readonly string[]>();
  const work: Work = { steps: runStepsMax };
  const schemaOf = schemasOf(options, context, work);
  const judged: Judged[] = [];
  for (const placed of carried) {
    judged.push({ index: placed.index, call: placed.call, problems: problemsOf(placed, definitions, schemaOf, { notes, work }) });
    if (work.steps <= 0) return skipped('too_large', `After ${judged.length} of ${carried.length} tool calls the work of checking arguments was more than one run may take.`, { tool_calls: carried.length, checked_calls: judged.length });
  }
  return verdict(judged, { arguments_not_carried: known.length - carried.length, definitions_truncated: calls.length - known.length }, notes);
}

/** What it costs to find that a schema is beyond the limits. */
const refusedSteps = 1_000;

type SchemaOf = (inputSchema: JsonValue) => CompiledSchema | undefined;

/** Each schema is looked up once for all calls of its tool: the key of the cache is its whole text. */
function schemasOf({ strict }: ToolCallValidityOptions, context: EvaluationContext, work: Work): SchemaOf {
  const known = new Map<JsonValue, CompiledSchema | undefined>();
  return (inputSchema) => {
    if (known.has(inputSchema)) return known.get(inputSchema);
    const compiled = isSurelyLonger(inputSchema, schemaTextMax) ? undefined : context.schema(strict ? closedSchema(inputSchema) : inputSchema);
    work.steps -= compiled?.steps ?? refusedSteps;
    known.set(inputSchema, compiled);
    return compiled;
  };
}

function problemsOf({ call }: PlacedCall, definitions: ReadonlyMap<string, ToolDefinition>, schemaOf: SchemaOf, { notes, work }: { readonly notes: Map<string, readonly string[]>; readonly work: Work }): readonly Problem[] {
  const definition = definitions.get(call.name);
  if (definition === undefined || call.name.trim() === '') return [{ kind: 'unknown_tool', message: 'no tool of this name is defined' }];
  if (!isJsonObject(call.arguments)) return [{ kind: 'arguments_not_object', message: 'the arguments are not a JSON object' }];
  if (definition.inputSchema === undefined || definition.inputSchema === null) return [];
  const schema = schemaOf(definition.inputSchema);
  if (schema === undefined) {
    notes.set(call.name, ['the schema is too large or cannot be compiled, so arguments were not checked against it']);
    return [];
  }
  if (schema.faults.length > 0) notes.set(call.name, schema.faults);
  const problems = schema.problems(call.arguments, work);
  if (problems === undefined) notes.set(call.name, [...schema.faults, 'the schema asks for too much work on these arguments, so they were not checked to the end']);
  return problems === undefined || problems.length === 0 ? [] : problems.map((problem) => inWords(problem, call.arguments ?? null));
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
      return { kind, ...named, message: `${name} ${problem.message}, not ${typeName(valueAt(argumentsSent, problem.path))}` };
    default:
      return { kind, ...named, keyword: problem.keyword, message: `${name} ${problem.message}` };
  }
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

function verdict(judged: readonly Judged[], left: { readonly [why: string]: number }, notes: ReadonlyMap<string, readonly string[]>): Outcome {
  const invalid = judged.filter(({ problems }) => problems.length > 0);
  const valid = judged.length - invalid.length;
  return {
    kind: 'scored',
    score: judged.length === 0 ? 1 : valid / judged.length,
    explanation: explained(judged, invalid),
    evidence: evidenceOf(invalid),
    parts: judged.map(part),
    details: {
      valid_calls: valid,
      total_calls: judged.length,
      invalid: invalid.map((call) => ({ ...callDetails(call), problems: call.problems.map((problem) => ({ ...problem })) })),
      ...Object.fromEntries(Object.entries(left).filter(([, count]) => count > 0)),
      ...(notes.size === 0 ? {} : { schema_invalid: [...notes].map(([tool, faults]) => ({ tool, faults })) }),
    },
  };
}

function explained(judged: readonly Judged[], invalid: readonly Judged[]): string {
  if (judged.length === 0) return 'There was no tool call to check.';
  if (invalid.length === 0) return judged.length === 1 ? 'The tool call fits its definition.' : `All ${judged.length} tool calls fit their definitions.`;
  const culprits = invalid.map((call) => `${callName(call)}: ${listed(call.problems.map(({ message }) => message), ' and ')}`);
  return `${invalid.length} of ${count(judged.length, 'tool call')} ${invalid.length === 1 ? 'does' : 'do'} not fit ${invalid.length === 1 ? 'its definition' : 'their definitions'}: ${listed(culprits, '; ')}.`;
}

function part(judged: Judged): PartVerdict {
  const { problems } = judged;
  const passed = problems.length === 0;
  return partOf(judged, passed, passed ? 'The call fits its definition.' : `${callName(judged)}: ${listed(problems.map(({ message }) => message), ' and ')}.`);
}

function valueAt(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const step of path) at = typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? (at as JsonObject)[step] : undefined;
  return at;
}

function typeName(value: JsonValue | undefined): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'bigint' ? 'a number' : value === undefined ? 'nothing' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

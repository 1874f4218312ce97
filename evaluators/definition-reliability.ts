/** Reliability of tool definitions: rules check every definition, and an optional judge checks more, with one question per definition. */
import type { ToolDefinition } from '../src/model/agent-trace.ts';
import { isJsonObject, member, type JsonObject, type JsonValue, isJsonArray, jsonText, objectAt } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { objectSchema } from './judging/verdict-forms.ts';
import { ruleWithJudge, type Described, choice, type OptionsOf, type OptionTable, option, texts } from './configuration/define.ts';
import { cutShort, skipped, type OnEmpty } from './evidence/calls.ts';
import type { Answer, DataBlock, Question } from './evaluator.ts';
import { cut } from './judging/judge-input.ts';
import { mean, numberOf, rational } from './matching/rational.ts';
import { count, quoted, someOf } from './explain/explanation.ts';

const onEmptyDefinitions = choice<OnEmpty>(
  ['skip', 'original'],
  'Handling of a run without tool definitions: skip, or original for the full score that the original system gives an empty list.',
);

/** Results of the rules for one definition. */
interface RuleChecks {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  /** Notes for the details; they do not affect the score. */
  readonly notes?: readonly string[];
}

interface DefinitionChecks {
  readonly onEmpty: OnEmpty;
  readonly rules: (definition: ToolDefinition, all: readonly ToolDefinition[]) => RuleChecks;
  /** Questions for the judge by check. A check that a rule also makes passes only if both pass. */
  readonly judged: { readonly [check: string]: string };
  readonly instruction: string;
  readonly data: (definition: ToolDefinition) => readonly DataBlock[];
}

interface Checked {
  readonly definition: ToolDefinition;
  readonly passed: number;
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
  readonly notes: readonly string[];
  readonly explanation: string | undefined;
}

/** Limits of scored definitions per run, and of UTF-16 units per data block. */
const definitionsMax = 500;
const blockMax = 20_000;
/** Limit of definitions per run that a judge checks; for the others only the rules decide. */
const questionsMax = 50;

/** A rule about tool definitions that a judge can complement. */
function definitionRule<Table extends OptionTable>(
  described: Described<Table>,
  checksOf: (options: OptionsOf<Table>) => DefinitionChecks,
): ReturnType<typeof ruleWithJudge<Table>> {
  return ruleWithJudge<Table>({
    ...described,
    evaluate: ({ trace: { toolDefinitions } }, options, { once }) =>
      once(toolDefinitions, options, () => byRules(toolDefinitions, checksOf(options))),
    evaluateWithJudge: ({ trace }, options) => byRulesAndJudge(trace.toolDefinitions, checksOf(options)),
  });
}

function byRules(all: readonly ToolDefinition[], checks: DefinitionChecks): Outcome {
  const definitions = whole(all);
  const stop = stopped(definitions, all, checks);
  if (stop !== undefined) return stop;
  return verdict(
    definitions.map((definition) => checked(definition, checks.rules(definition, definitions), checks, undefined)),
    { judge_calls: 0 },
  );
}

/** When the judge fails on a definition, only its rules count, and the details record it. */
function* byRulesAndJudge(carried: readonly ToolDefinition[], checks: DefinitionChecks): Generator<Question, Outcome, Answer> {
  const definitions = whole(carried);
  const stop = stopped(definitions, carried, checks);
  if (stop !== undefined) return stop;
  const all: Checked[] = [];
  const errors: string[] = [];
  let truncated = false;
  for (const definition of definitions) {
    const answer = all.length < questionsMax ? yield questionOf(definition, checks) : undefined;
    if (answer?.kind === 'failed') errors.push(answer.error);
    truncated ||= answer?.kind === 'answered' && answer.truncated;
    all.push(checked(definition, checks.rules(definition, definitions), checks, answer?.kind === 'answered' ? answer.value : undefined));
  }
  const [error] = errors;
  const questions = Math.min(definitions.length, questionsMax);
  return verdict(all, {
    judge_calls: questions,
    ...(error === undefined ? {} : { judge_error: true, error }),
    ...(questions < definitions.length ? { not_asked: definitions.length - questions } : {}),
    ...(truncated || isCut(definitions, checks) ? { truncated: true } : {}),
  });
}

/** Leaves out truncated definitions, and entries that only bring other tools. */
function whole(definitions: readonly ToolDefinition[]): readonly ToolDefinition[] {
  return definitions.filter(({ truncated, open }) => truncated !== true && open !== true);
}

function stopped(
  definitions: readonly ToolDefinition[],
  carried: readonly ToolDefinition[],
  { onEmpty }: DefinitionChecks,
): Outcome | undefined {
  if (definitions.length === 0 && carried.length > 0) return cutShort('tool definitions');
  if (definitions.length > definitionsMax)
    return skipped('too_large', `${definitions.length} tool definitions are more than the ${definitionsMax} that are scored in one run.`, {
      tool_definitions: definitions.length,
    });
  if (definitions.length === 0 && onEmpty === 'skip')
    return skipped('no_tool_definitions', 'The spans carry no tool definitions; switch on their capture.');
  return undefined;
}

function questionOf(definition: ToolDefinition, { judged, instruction, data }: DefinitionChecks): Question {
  const names = Object.keys(judged);
  const properties: JsonObject = {
    explanation: { type: 'string' },
    ...Object.fromEntries(names.map((name) => [name, { type: 'boolean' }])),
  };
  const criteria = names.map((name) => `- ${name}: ${judged[name]}`).join('\n');
  return {
    id: 'judge',
    instruction: `${instruction} First explain in one sentence, then decide for each criterion whether it holds:\n${criteria}`,
    data: data(definition).map(({ title, text }) => ({ title, text: cut(text, blockMax) })),
    answerSchema: objectSchema(properties),
    check: (answer) => missingVerdict(answer, names),
  };
}

function isCut(definitions: readonly ToolDefinition[], { data }: DefinitionChecks): boolean {
  return definitions.slice(0, questionsMax).some((definition) => data(definition).some(({ text }) => text.length > blockMax));
}

/** The fault of an answer with missing checks; the answer is read anyway. */
function missingVerdict(answer: JsonValue, names: readonly string[]): string | undefined {
  const missing = names.find((name) => !isJsonObject(answer) || typeof member(answer, name) !== 'boolean');
  return missing === undefined ? undefined : `${missing} has no verdict`;
}

function checked(definition: ToolDefinition, rules: RuleChecks, { judged }: DefinitionChecks, answer: JsonValue | undefined): Checked {
  const names = Object.keys(judged);
  const object = answer !== undefined && isJsonObject(answer) ? answer : undefined;
  if (object === undefined) {
    return {
      definition,
      passed: rules.passed.length,
      failed: rules.failed,
      skipped: names.filter((name) => !rules.passed.includes(name) && !rules.failed.includes(name)),
      notes: rules.notes ?? [],
      explanation: undefined,
    };
  }
  const failed = [...new Set([...rules.failed, ...names.filter((name) => member(object, name) !== true)])];
  const all = new Set([...rules.passed, ...rules.failed, ...names]);
  const explanation = member(object, 'explanation');
  return {
    definition,
    passed: all.size - failed.length,
    failed,
    skipped: [],
    notes: rules.notes ?? [],
    explanation: typeof explanation === 'string' ? explanation : undefined,
  };
}

function verdict(all: readonly Checked[], judge: JsonObject): Outcome {
  const faulty = all.filter(({ failed }) => failed.length > 0);
  const culprit = ({ definition, failed }: Checked): string => `${quoted(definition.name)} (${failed.join(', ')})`;
  const judgeFailed = judge['judge_error'] === true ? '; the judge gave no usable answer, so that only the rules count for some' : '';
  const found =
    all.length === 0
      ? 'There is no tool definition to check'
      : faulty.length === 0
        ? `${all.length === 1 ? 'The tool definition passes' : `All ${all.length} tool definitions pass`} every check`
        : someOf(faulty, count(all.length, 'tool definition'), ['fails a check', 'fail a check'], culprit, ', ');
  return {
    kind: 'scored',
    score: all.length === 0 ? 1 : numberOf(mean(all.map(({ passed, failed }) => rational(passed, passed + failed.length)))),
    explanation: `${found}${judgeFailed}.`,
    evidence: [],
    details: { ...judge, tools: all.map(toolDetails) },
  };
}

function toolDetails({ definition, passed, failed, skipped: left, notes, explanation }: Checked): JsonObject {
  return {
    tool: definition.name,
    score: passed / (passed + failed.length),
    failed_checks: failed,
    skipped_checks: left,
    ...(notes.length === 0 ? {} : { notes }),
    ...(explanation === undefined ? {} : { explanation }),
  };
}

type NameStyle = 'snake_case' | 'camel_case' | 'kebab_case' | 'any';

const toolNameReliabilityOptions = {
  style: choice(
    ['snake_case', 'camel_case', 'kebab_case', 'any'],
    'How names are written; with ASCII letters and digits, a lower-case letter first.',
  ),
  max_segments: option({ type: 'integer', minimum: 1, maximum: 100, description: 'Words in a name.' }, 7),
  blocked_phrases: texts(
    'Words about how a tool works, joined by underscores; they count after the first word of a name.',
    { maxItems: 200, maxLength: 100 },
    ['with_llm', 'via_api', 'from_s3', 'using_bq', 'using_sdk', 'with_gpt4'],
  ),
  ignore_prefixes: texts(
    'Beginnings of names that the author did not choose, such as `mcp__server__`; they are left out before the checks.',
    { maxItems: 100, maxLength: 200 },
  ),
  on_empty: onEmptyDefinitions,
};

type ToolNameReliabilityOptions = OptionsOf<typeof toolNameReliabilityOptions>;

/** Tool names are reliable: they share one style, are short, and say what a tool does rather than how. */
export const toolNameReliability = definitionRule(
  {
    id: 'tool_name_reliability',
    summary: 'The names of the tools are clear, short and written in one style.',
    needs: ['tool_definitions'],
    defaultThreshold: 0.8,
    options: toolNameReliabilityOptions,
    source: 'Dokimos ToolNameReliabilityEvaluator, with whole words and an exact mean',
  },
  checksOf,
);

function checksOf(options: ToolNameReliabilityOptions): DefinitionChecks {
  return {
    onEmpty: options.onEmpty,
    rules: (definition) => rules(definition, options),
    judged: {
      clarity: 'the purpose of the tool is evident from its name alone; the name has no low-level, vague or redundant word',
      name_order: 'the words of the name stand in the order operation, system, entity, data, as far as they occur',
      intent_over_implementation: 'the name says what the tool does and not how: no formats, no requirements on inputs, no technology',
    },
    instruction: 'An AI agent chooses its tools by name and description. Judge the name of this tool.',
    data: ({ name, description = '' }) => [
      { title: 'tool name', text: name },
      { title: 'tool description', text: description === '' ? '(none)' : description },
    ],
  };
}

function rules({ name: whole }: ToolDefinition, options: ToolNameReliabilityOptions): RuleChecks {
  const prefix = options.ignorePrefixes.find((one) => whole.startsWith(one)) ?? '';
  const name = whole.slice(prefix.length);
  const words = segments(name, options.style);
  const results = {
    snakecase_format: hasStyle(name, options.style),
    conciseness: words.length <= options.maxSegments,
    intent_over_implementation: !options.blockedPhrases.some((phrase) => standsIn(words, phrase)),
  };
  const named = Object.entries(results);
  return {
    passed: named.filter(([, passed]) => passed).map(([check]) => check),
    failed: named.filter(([, passed]) => !passed).map(([check]) => check),
  };
}

function hasStyle(name: string, style: NameStyle): boolean {
  switch (style) {
    case 'snake_case':
      return /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name);
    case 'kebab_case':
      return /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name);
    case 'camel_case':
      return /^[a-z][a-zA-Z0-9]*$/.test(name);
    case 'any':
      return name.trim() !== '';
  }
}

/** Counts empty segments at the start and in the middle, but not at the end. */
function segments(name: string, style: NameStyle): readonly string[] {
  const split = style === 'camel_case' ? name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2') : name;
  const words = split.toLowerCase().split(style === 'snake_case' ? '_' : /[_.-]/);
  const last = words.findLastIndex((word) => word !== '');
  return words.slice(0, last + 1);
}

/** True when the phrase occurs as whole words after the beginning: a name that starts with it is about that subject. */
function standsIn(words: readonly string[], phrase: string): boolean {
  return `_${words.slice(1).join('_')}_`.includes(`_${phrase.toLowerCase()}_`);
}

const toolDescriptionReliabilityOptions = {
  max_parameters: option({ type: 'integer', minimum: 0, maximum: 1000, description: 'Parameters of one tool.' }, 5),
  max_optional_parameters: option(
    { type: 'integer', minimum: 0, maximum: 1000, description: 'Parameters of one tool that are not required.' },
    3,
  ),
  on_empty: onEmptyDefinitions,
};

type ToolDescriptionReliabilityOptions = OptionsOf<typeof toolDescriptionReliabilityOptions>;

/** Tool descriptions are reliable: parameters are described, typed and not too many. */
export const toolDescriptionReliability = definitionRule(
  {
    id: 'tool_description_reliability',
    version: 2,
    summary: 'The tools have few parameters, and each is described and typed.',
    needs: ['tool_definitions'],
    defaultThreshold: 0.8,
    options: toolDescriptionReliabilityOptions,
    source:
      'Dokimos ToolDescriptionReliabilityEvaluator, where blank descriptions and null types fail and combined schemas count as a type',
  },
  descriptionChecks,
);

/** Shorter descriptions are noted. */
const shortDescription = 20;
/** Keywords that define the values of a parameter; only `const` may be null. */
const typeKeywords = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'const', 'enum'];

function descriptionChecks(options: ToolDescriptionReliabilityOptions): DefinitionChecks {
  return {
    onEmpty: options.onEmpty,
    rules: (definition, all) => descriptionRules(definition, all, options),
    judged: {
      general_structure: 'the description tells the purpose, the inputs and the output of the tool',
      has_examples: 'the description or the schema gives an example of a call or of a value',
      has_usage_notes: 'the description tells limits of the tool, or when to use it and when not',
      intent_over_implementation: 'the description says what the tool does for its caller, not how it is built',
      clarity: 'the description can be understood in one way only',
      redundancy: 'nothing in the description is useless or said twice',
      input_arguments_enum: 'where a parameter takes only a few values, they are listed',
      input_arguments_format: 'dates, ids, addresses and the like have their format told',
      return_statement_quality: 'the description tells what comes back, and in which form',
    },
    instruction:
      'An AI agent chooses and calls its tools by name, description and schema. Judge the description of this tool. A criterion that does not apply to it holds.',
    data: ({ name, description = '', inputSchema }) => [
      { title: 'tool name', text: name },
      { title: 'tool description', text: description === '' ? '(none)' : description },
      { title: 'input schema', text: inputSchema === undefined ? '(none)' : jsonText(inputSchema) },
    ],
  };
}

function descriptionRules(
  definition: ToolDefinition,
  all: readonly ToolDefinition[],
  { maxParameters, maxOptionalParameters }: ToolDescriptionReliabilityOptions,
): RuleChecks {
  const schema = isJsonObject(definition.inputSchema) ? definition.inputSchema : {};
  const parameters = objectAt(schema, 'properties');
  const names = Object.keys(parameters);
  const required = member(schema, 'required');
  const needed = new Set(isJsonArray(required) ? required : []);
  const described = Object.values(parameters).map((one) => (isJsonObject(one) ? one : {}));
  const results = {
    input_arguments_clarity: described.every((one) => !isBlank(member(one, 'description'))),
    input_arguments_types: described.every((one) =>
      typeKeywords.some((keyword) => Object.hasOwn(one, keyword) && (one[keyword] !== null || keyword === 'const')),
    ),
    max_num_input_arguments: names.length <= maxParameters,
    max_optional_input_arguments: names.filter((name) => !needed.has(name)).length <= maxOptionalParameters,
  };
  const named = Object.entries(results);
  return {
    passed: named.filter(([, passed]) => passed).map(([check]) => check),
    failed: named.filter(([, passed]) => !passed).map(([check]) => check),
    notes: notesOn(definition, all, described),
  };
}

function notesOn(
  { name, description = '' }: ToolDefinition,
  all: readonly ToolDefinition[],
  parameters: readonly JsonObject[],
): readonly string[] {
  const text = description.trim();
  return [
    ...(text === '' ? ['no_description'] : text.length < shortDescription ? ['short_description'] : []),
    ...(all.filter((other) => other.name === name).length > 1 ? ['duplicate_name'] : []),
    ...(parameters.some((one) =>
      Object.values(objectAt(one, 'properties')).some((inner) => !isJsonObject(inner) || isBlank(member(inner, 'description'))),
    )
      ? ['nested_members_undescribed']
      : []),
  ];
}

function isBlank(text: JsonValue | undefined): boolean {
  return typeof text !== 'string' || text.trim() === '';
}

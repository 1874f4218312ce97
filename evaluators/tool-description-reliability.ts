/** The descriptions of the tools are ones that a model can rely on: parameters described and typed, and not too many. */
import type { ToolDefinition } from '../src/model/agent-trace.ts';
import { isJsonArray, isJsonObject, jsonText, member, type JsonObject, type JsonValue } from '../src/model/json.ts';
import { definitionRule, type DefinitionChecks, type RuleChecks, onEmptyDefinitions } from './judging/definition-checks.ts';
import { option, type OptionsOf } from './configuration/option-table.ts';

const options = {
  max_parameters: option({ type: 'integer', minimum: 0, maximum: 1000, description: 'Parameters of one tool.' }, 5),
  max_optional_parameters: option(
    { type: 'integer', minimum: 0, maximum: 1000, description: 'Parameters of one tool that are not required.' },
    3,
  ),
  on_empty: onEmptyDefinitions,
};

type Options = OptionsOf<typeof options>;

export const toolDescriptionReliability = definitionRule(
  {
    id: 'tool_description_reliability',
    version: 2,
    summary: 'The tools have few parameters, and each is described and typed.',
    needs: ['tool_definitions'],
    defaultThreshold: 0.8,
    options,
    source:
      'Dokimos ToolDescriptionReliabilityEvaluator, where blank descriptions and null types fail and combined schemas count as a type',
  },
  checksOf,
);

/** Characters from which a description is so short that it is noted. */
const shortDescription = 20;
/** Any of these says which values a parameter takes; only `const` may be null and still say it. */
const typeKeywords = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'const', 'enum'];

function checksOf(options: Options): DefinitionChecks {
  return {
    onEmpty: options.onEmpty,
    rules: (definition, all) => rules(definition, all, options),
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

function rules(definition: ToolDefinition, all: readonly ToolDefinition[], { maxParameters, maxOptionalParameters }: Options): RuleChecks {
  const schema = isJsonObject(definition.inputSchema) ? definition.inputSchema : {};
  const parameters = propertiesOf(schema);
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
      Object.values(propertiesOf(one)).some((inner) => !isJsonObject(inner) || isBlank(member(inner, 'description'))),
    )
      ? ['nested_members_undescribed']
      : []),
  ];
}

function propertiesOf(schema: JsonObject): JsonObject {
  const properties = member(schema, 'properties');
  return isJsonObject(properties) ? properties : {};
}

function isBlank(text: JsonValue | undefined): boolean {
  return typeof text !== 'string' || text.trim() === '';
}

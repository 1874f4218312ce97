/** The names of the tools are ones that a model can rely on: written in one style, short, and about what a tool does, not how. */
import type { ToolDefinition } from '../src/model/agent-trace.ts';
import { definitionRule, type DefinitionChecks, type RuleChecks, onEmptyDefinitions } from './judging/definition-checks.ts';
import { choice, option, type OptionsOf, texts } from './configuration/option-table.ts';

export type NameStyle = 'snake_case' | 'camel_case' | 'kebab_case' | 'any';

const options = {
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
    'Beginnings of names that are no choice of the author, such as `mcp__server__`; they are left out before the checks.',
    { maxItems: 100, maxLength: 200 },
  ),
  on_empty: onEmptyDefinitions,
};

type Options = OptionsOf<typeof options>;

export const toolNameReliability = definitionRule(
  {
    id: 'tool_name_reliability',
    summary: 'The names of the tools are clear, short and written in one style.',
    needs: ['tool_definitions'],
    defaultThreshold: 0.8,
    options,
    source: 'Dokimos ToolNameReliabilityEvaluator, with whole words and an exact mean',
  },
  checksOf,
);

function checksOf(options: Options): DefinitionChecks {
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

function rules({ name: whole }: ToolDefinition, options: Options): RuleChecks {
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

/** Empty segments at the start and inside count, trailing ones do not. */
function segments(name: string, style: NameStyle): readonly string[] {
  const split = style === 'camel_case' ? name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2') : name;
  const words = split.toLowerCase().split(style === 'snake_case' ? '_' : /[_.-]/);
  const last = words.findLastIndex((word) => word !== '');
  return words.slice(0, last + 1);
}

/** As whole words, and not at the very beginning: a name that starts so is about that. */
function standsIn(words: readonly string[], phrase: string): boolean {
  return `_${words.slice(1).join('_')}_`.includes(`_${phrase.toLowerCase()}_`);
}

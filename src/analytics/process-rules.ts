/**
 * A process model as entries of `evaluators:` that a person can adopt and edit. A rule holds on every run that the model was learnt from,
 * but for the share of runs that `certainMin` allows.
 */
import { isCertain, precedingTools } from './process-orders.ts';
import { compareText } from '../../evaluators/process/trajectory.ts';
import type { JsonObject, JsonValue } from '../model/json.ts';
import type { ProcessModel } from '../model/process-model.ts';

export interface LearntRule {
  /** Why the model suggests it, as a sentence. */
  readonly because: string;
  /** An entry of `evaluators:`. */
  readonly entry: JsonObject;
}

export interface RulesFor {
  /** Empty: of every agent. */
  readonly agent: string;
  readonly version: string;
}

/** Limit of tools with a separate rule about the tools before them. */
const orderedMax = 20;

export function processRules(model: ProcessModel, { agent, version }: RulesFor): readonly LearntRule[] {
  const when: JsonObject = { ...(agent === '' ? {} : { agent }), ...(version === '' ? {} : { version }) };
  const named = (name: string, more: JsonObject = {}): JsonObject => ({
    name: `${slug(agent === '' ? 'agent' : agent)}_${name}`,
    ...(Object.keys({ ...when, ...more }).length === 0 ? {} : { when: { ...when, ...more } }),
  });
  return withOwnNames([...onlyKnownTools(model, named), ...neededTools(model, named), ...orders(model, named)]);
}

/** Tools may have names that differ in what a name of an entry leaves out. */
function withOwnNames(rules: readonly LearntRule[]): readonly LearntRule[] {
  const taken = new Set<JsonValue | undefined>();
  return rules.map((rule, at) => {
    const name = rule.entry['name'];
    const isFree = !taken.has(name);
    taken.add(name);
    return isFree ? rule : { ...rule, entry: { ...rule.entry, name: `${String(name)}_${at + 1}` } };
  });
}

type Named = (name: string, more?: JsonObject) => JsonObject;

/** `*` in a name would match any characters, and no pattern allows a tool without a name. */
function onlyKnownTools({ tools, runs, beyond }: ProcessModel, named: Named): readonly LearntRule[] {
  const names = tools.map(({ name }) => name);
  if (names.length === 0 || beyond.tools > 0 || names.some((name) => name === '' || name.includes('*'))) return [];
  return [
    {
      because: `${runs} runs called no other tool.`,
      entry: { use: 'tool_permission', ...named('known_tools'), options: { allow: names } },
    },
  ];
}

function neededTools(model: ProcessModel, named: Named): readonly LearntRule[] {
  const needed = model.tools.filter(({ name, runs }) => name !== '' && isCertain(runs, model.runs));
  if (needed.length === 0) return [];
  return [
    {
      because: `Each of these tools was called in ${Math.min(...needed.map(({ runs }) => runs))} of ${model.runs} runs or more.`,
      entry: {
        use: 'tool_trajectory',
        ...named('needed_tools'),
        expect: { tool_calls: needed.map(({ name }) => ({ name })) },
        options: { mode: 'superset', arguments: { mode: 'ignore' } },
        threshold: 1,
      },
    },
  ];
}

/** For each tool, the tools that came before it in every run that calls it, in their own order. */
function orders(model: ProcessModel, named: Named): readonly LearntRule[] {
  return model.tools
    .filter(({ name }) => name !== '')
    .toSorted((one, other) => other.runs - one.runs || compareText(one.name, other.name))
    .flatMap((tool): readonly LearntRule[] => {
      const before = precedingTools(model, tool.name);
      if (before.length === 0) return [];
      return [
        {
          because: `${before.join(', ')} came before ${tool.name} in ${tool.runs} runs, and never after it.`,
          entry: {
            use: 'tool_call_order',
            ...named(`before_${slug(tool.name)}`, { tool: tool.name }),
            expect: { tool_calls_order: [...before, tool.name] },
            threshold: 1,
          },
        },
      ];
    })
    .slice(0, orderedMax);
}

function slug(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 40);
}

/** YAML of a list of entries, with the reason of each as a comment. */
export function rulesText(rules: readonly LearntRule[]): string {
  if (rules.length === 0)
    return '# The model holds on to no rule: no tool is always called, and none always comes before another.\nevaluators: []\n';
  const lines = rules.flatMap(({ because, entry }) => [
    `  # ${because.replaceAll(/\s+/g, ' ')}`,
    ...Object.entries(entry).map(([key, value], at) => `  ${at === 0 ? '-' : ' '} ${key}: ${flow(value)}`),
  ]);
  return `# Learnt from passing runs; read each rule before you adopt it.\nevaluators:\n  - defaults\n${lines.join('\n')}\n`;
}

/** JSON is YAML, on one line. */
function flow(value: JsonValue): string {
  return JSON.stringify(value);
}

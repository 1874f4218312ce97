import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { evaluators as members } from '../../../evaluators/index.ts';
import { snakeMembers } from '../../../evaluators/configuration/options.ts';
import { switchingOn } from '../../../evaluators/configuration/switching-on.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import { referenceRows } from '../../config/schema.ts';
import { unreachable } from '../../model/ids.ts';
import { isJsonObject, jsonText, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { UsageError, type CommandProgram } from '../command.ts';
import { needTexts } from '../inspect/report-text.ts';
import { columns } from '../../report/text.ts';

export const evaluators: CommandProgram = {
  examples: [
    { does: 'Lists all:', line: 'tracejury evaluators' },
    { does: 'Shows the options of one:', line: 'tracejury evaluators tool_trajectory' },
  ],
  options: {},
  positionalsMax: 1,
  run({ positionals: [name], program, say }) {
    say(name === undefined ? listText(members, program) : pageText(found(name)));
    return 0;
  },
};

function found(name: string): AnyEvaluator {
  const evaluator = members.find(({ id }) => id === name);
  if (evaluator !== undefined) return evaluator;
  const ids = members.map(({ id }) => id);
  const guess = didYouMean(name, ids);
  throw new UsageError(
    `${JSON.stringify(name)} is not an evaluator. ${guess === undefined ? `Evaluators: ${ids.join(', ')}.` : `Did you mean ${guess}?`}`,
  );
}

function listText(all: readonly AnyEvaluator[], program: string): string {
  const group = (title: string, wanted: readonly AnyEvaluator[]) =>
    wanted.length === 0
      ? []
      : [
          '',
          title,
          ...columns(
            wanted.map(
              (one) => [one.id, `${one.summary}${needsText(switchingOn(one, all).filter((need) => need !== 'a judge'))}`] as const,
            ),
          ),
        ];
  return [
    ...group(
      'On by default:',
      all.filter(({ onByDefault }) => onByDefault),
    ),
    ...group(
      'Off, rules: add the name under evaluators in the configuration:',
      all.filter(({ onByDefault, kind }) => !onByDefault && kind === 'rule'),
    ),
    ...group(
      'Off, with a judge: add the name under evaluators, and a judge under judges:',
      all.filter(({ onByDefault, kind }) => !onByDefault && kind === 'judge'),
    ),
    ...group(
      'Off, with an HTTP endpoint:',
      all.filter(({ onByDefault, kind }) => !onByDefault && kind === 'http'),
    ),
    '',
    `More about one: ${program} evaluators NAME`,
  ]
    .slice(1)
    .join('\n');
}

/** Settings that an entry needs besides its name. */
function needsText(needs: readonly string[]): string {
  return needs.length === 0 ? '' : ` It needs ${needs.join(', ')}.`;
}

function pageText(evaluator: AnyEvaluator): string {
  const { id, version, summary, needs, onByDefault, defaultThreshold, source } = evaluator;
  const facts: readonly (readonly [string, string])[] = [
    ['kind', kindText(evaluator)],
    ['version', String(version)],
    ['needs', needs.length === 0 ? 'the fields that its endpoint requires' : needs.map((need) => needTexts[need]).join(', ')],
    ['on by default', onByDefault ? 'yes' : `no: add it under evaluators.${needsText(switchingOn(evaluator, members))}`],
    ['threshold', defaultThreshold === null ? 'none: a raw metric' : `passes from ${defaultThreshold}`],
    ['source', source],
  ];
  const presets = snakeMembers(evaluator.optionsSchema, evaluator.defaults as JsonObject);
  return [
    id,
    `  ${summary}`,
    '',
    ...columns(facts),
    ...keysText('Options', evaluator.optionsSchema, presets),
    ...(evaluator.expectationSchema === undefined ? [] : keysText('Expect', evaluator.expectationSchema, undefined)),
  ].join('\n');
}

function kindText(evaluator: AnyEvaluator): string {
  switch (evaluator.kind) {
    case 'rule':
      return evaluator.evaluateWithJudge === undefined ? 'rule' : 'rule; asks a judge too when one is configured';
    case 'judge':
      return evaluator.target === 'session' ? 'asks a judge about a session as a whole' : 'asks a judge';
    case 'http':
      return 'asks an HTTP endpoint';
    default:
      return unreachable(evaluator);
  }
}

function keysText(title: string, schema: JsonObject, presets: JsonValue | undefined): readonly string[] {
  const rows = referenceRows(schema).map(({ key, path, type, meaning }) => {
    const preset = presetAt(presets, path);
    return [key, `${type.replaceAll('`', '')}${preset === undefined ? '' : `; default ${jsonText(preset)}`}. ${meaning}`] as const;
  });
  return rows.length === 0 ? [] : ['', `${title}:`, ...columns(rows)];
}

function presetAt(presets: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((at, part) => (isJsonObject(at) ? member(at, part) : undefined), presets);
}

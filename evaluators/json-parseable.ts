/** The output is JSON, and satisfies a JSON Schema where one is given. */
import { parseJson, type JsonObject } from '../src/model/json.ts';
import { skipped } from './evidence/calls.ts';
import type { SchemaProblem } from './evaluator.ts';
import { isContainer, withoutFence } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { isSizeGap } from './schema/check.ts';
import { checked, type Finding, targetOptions } from './evidence/target.ts';
import { listed } from './explain/explanation.ts';
import { generalPath, rowsIn, textIn } from './explain/signature.ts';
import { rule, flag, optional } from './configuration/define.ts';

export const jsonParseable = rule({
  id: 'json_parseable',
  version: 3,
  summary: 'The output is JSON, of a schema where one is given.',
  needs: ['final_response'],
  defaultThreshold: 1,
  options: {
    schema: optional<JsonObject>({
      type: 'object',
      description: 'A JSON Schema (2020-12, or draft-07 by its `$schema`) that the value must satisfy.',
    }),
    containers_only: flag('Only objects and lists count as JSON, not a lone number or text.', true),
    allow_fence: flag('JSON inside one fenced code block counts.', true),
    ...targetOptions,
  },
  signatures: ({ details }) =>
    rowsIn(details, 'problems').map((problem) => ({
      tool: '',
      text: `${generalPath(textIn(problem, 'path'))} ${textIn(problem, 'message')}`,
    })),
  source: 'the deck of code checks, and autoevals ValidJSON',
  evaluate({ trace }, options, context) {
    const compiled = options.schema === undefined ? undefined : context.schema(options.schema);
    if (options.schema !== undefined && compiled === undefined)
      return {
        kind: 'failed',
        error: 'schema_unusable',
        explanation: 'The schema of this evaluator is beyond the limits or cannot be compiled; make it smaller, or correct it.',
      };
    return checked(trace, options, (value) => {
      const parsed = typeof value === 'string' ? parseJson(options.allowFence ? withoutFence(value) : value) : value;
      if (parsed === undefined || (value === null && options.containersOnly)) return finding(false, 'is not JSON', { parsed: false });
      if (options.containersOnly && !isContainer(parsed))
        return finding(false, 'is JSON but neither an object nor a list', { parsed: true });
      if (compiled === undefined) return finding(true, 'is JSON', { parsed: true });
      const { problems, gaps } = compiled.check(parsed);
      if (problems.length > 0)
        return finding(false, `breaks the schema: ${listed(problems.map(inWords), '; ')}`, {
          parsed: true,
          problems: problems.map(problemDetails),
        });
      const [gap] = gaps;
      if (gap === undefined) return finding(true, 'satisfies the schema', { parsed: true, problems: [] });
      if (gaps.some(isSizeGap))
        return skipped('too_large', 'The schema asks for too much work on this value, so that it was not checked to the end.');
      return skipped(
        'schema_not_applied',
        `A part of the schema cannot be applied to this value, so that it was not checked to the end: ${gap}.`,
      );
    });
  },
});

function finding(passed: boolean, says: string, details: JsonObject): Finding {
  return { score: rational(passed ? 1 : 0), says, details };
}

function inWords({ path, message }: SchemaProblem): string {
  return `${path.length === 0 ? 'it' : path.join('.')} ${message}`;
}

function problemDetails({ path, keyword, message }: SchemaProblem): JsonObject {
  return { path: path.join('.'), keyword, message };
}

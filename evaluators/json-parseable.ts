/** The output is JSON, and satisfies a JSON Schema where one is given. */
import { isJsonArray, isJsonObject, parseJson } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { skipped } from './evidence/calls.ts';
import type { EvaluationContext, RuleEvaluator, SchemaProblem, Subject } from './evaluator.ts';
import { withoutFence } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { isSizeGap } from './schema/schemas.ts';
import { checked, targetDefaults, targetSchema } from './evidence/target.ts';
import type { Finding, TargetOptions } from './evidence/target.ts';
import { listed } from './explain/explanation.ts';

export interface JsonParseableOptions extends TargetOptions {
  /** Undefined: any JSON. */
  readonly schema: JsonObject | undefined;
  readonly containersOnly: boolean;
  readonly allowFence: boolean;
}

export const jsonParseable = {
  kind: 'rule',
  id: 'json_parseable',
  version: 3,
  summary: 'The output is JSON, of a schema where one is given.',
  needs: ['final_response'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { schema: undefined, containersOnly: true, allowFence: true, ...targetDefaults },
  optionsSchema: targetSchema({
    schema: { type: 'object', description: 'A JSON Schema (2020-12, or draft-07 by its `$schema`) that the value must satisfy.' },
    containers_only: { type: 'boolean', description: 'Only objects and lists count as JSON, not a lone number or text.' },
    allow_fence: { type: 'boolean', description: 'JSON inside one fenced code block counts.' },
  }),
  source: 'the deck of code checks, and autoevals ValidJSON',
  evaluate,
} as const satisfies RuleEvaluator<JsonParseableOptions>;

function evaluate({ trace }: Subject, options: JsonParseableOptions, context: EvaluationContext): Outcome {
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
    if (options.containersOnly && !isContainer(parsed)) return finding(false, 'is JSON but neither an object nor a list', { parsed: true });
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
}

function finding(passed: boolean, says: string, details: JsonObject): Finding {
  return { score: rational(passed ? 1 : 0), says, details };
}

function isContainer(value: JsonValue): boolean {
  return isJsonObject(value) || isJsonArray(value);
}

function inWords({ path, message }: SchemaProblem): string {
  return `${path.length === 0 ? 'it' : path.join('.')} ${message}`;
}

function problemDetails({ path, keyword, message }: SchemaProblem): JsonObject {
  return { path: path.join('.'), keyword, message };
}

/** Evaluators of tool definitions: checks by rule on every definition, and more checks by a judge where one is named. One question a definition. */
import type { ToolDefinition } from '../../src/model/agent-trace.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import { objectSchema } from './numbered-verdicts.ts';
import { ruleWithJudge, type Described } from '../configuration/define.ts';
import { choice, type OptionsOf, type OptionTable } from '../configuration/option-table.ts';
import { cutShort, skipped, type OnEmpty } from '../evidence/calls.ts';
import type { Answer, DataBlock, Question } from '../evaluator.ts';
import { cut } from './judge-input.ts';
import { mean, numberOf, rational } from '../matching/rational.ts';
import { count, listed, quoted } from '../explain/explanation.ts';

export const onEmptyDefinitions = choice<OnEmpty>(
  ['skip', 'original'],
  'What a run without tool definitions gets: skip, or original for the full score that the original system gives an empty list.',
);

/** What the rules found of one definition. */
export interface RuleChecks {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  /** For the details; they change no score. */
  readonly notes?: readonly string[];
}

export interface DefinitionChecks {
  readonly onEmpty: OnEmpty;
  readonly rules: (definition: ToolDefinition, all: readonly ToolDefinition[]) => RuleChecks;
  /** What a judge decides, by the name of the check. A check that the rules have as well passes only if both pass it. */
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

/** Definitions that are scored in one run; characters of one block of data that are shown to a judge. */
const definitionsMax = 500;
const blockMax = 20_000;
/** Definitions that a judge is asked about in one run; the rest have their rules alone. */
const questionsMax = 50;

/** A rule about the definitions of tools, of which a judge finds more. */
export function definitionRule<Table extends OptionTable>(
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

/** A definition on which the judge fails has its rules alone, and the details say so. */
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

/** A definition of which a limit cut a part is not judged by the rest. */
function whole(definitions: readonly ToolDefinition[]): readonly ToolDefinition[] {
  return definitions.filter(({ truncated }) => truncated !== true);
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

/** Names the fault of an answer that lacks some; it is read all the same. */
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
  const culprits = faulty.map(({ definition, failed }) => `${quoted(definition.name)} (${failed.join(', ')})`);
  const judgeFailed = judge['judge_error'] === true ? '; the judge gave no usable answer, so that only the rules count for some' : '';
  const found =
    all.length === 0
      ? 'There is no tool definition to check'
      : faulty.length === 0
        ? `${all.length === 1 ? 'The tool definition passes' : `All ${all.length} tool definitions pass`} every check`
        : `${faulty.length} of ${count(all.length, 'tool definition')} ${faulty.length === 1 ? 'fails' : 'fail'} a check: ${listed(culprits)}`;
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

/** The fenced code blocks of the output are correct in syntax. They are read, never run. */
import { parse } from 'acorn';
import { unreachable } from '../src/model/ids.ts';
import { parseJson } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { skipped } from './calls.ts';
import type { Skipped } from './calls.ts';
import { blocksMax, codeBlocks } from './code-blocks.ts';
import type { CodeBlock } from './code-blocks.ts';
import type { EvaluationContext, RuleEvaluator, Subject } from './evaluator.ts';
import { searchedText } from './matching/texts.ts';
import { rational } from './rational.ts';
import { checked, targetDefaults, targetSchema } from './target.ts';
import type { Finding, TargetOptions } from './target.ts';
import { count, listed } from './wording.ts';

export type CodeLanguage = 'json' | 'javascript';

export interface CodeParseableOptions extends TargetOptions {
  readonly languages: readonly CodeLanguage[];
}

export const codeParseable = {
  kind: 'rule',
  id: 'code_parseable',
  version: 1,
  summary: 'The code blocks of the output are correct in syntax.',
  needs: ['final_response'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { languages: ['json', 'javascript'], ...targetDefaults },
  optionsSchema: targetSchema({
    languages: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: ['json', 'javascript'] }, description: 'Blocks of which languages are read: `json` (json), `javascript` (js, javascript, mjs, cjs, jsx is not). Others are left out.' },
  }),
  source: 'the deck of code checks, without running anything',
  evaluate,
} as const satisfies RuleEvaluator<CodeParseableOptions>;

/** Characters of one block, and of all blocks of one text. */
const codeCharsMax = 50_000;
const allCodeCharsMax = 200_000;

const names: { readonly [language in CodeLanguage]: readonly string[] } = { json: ['json'], javascript: ['js', 'javascript', 'mjs', 'cjs'] };

function evaluate({ trace }: Subject, options: CodeParseableOptions, context: EvaluationContext): Outcome {
  return checked(trace, options, context, (value) => finding(searchedText(value), options.languages));
}

function finding(text: string, languages: readonly CodeLanguage[]): Finding | Skipped {
  const blocks = codeBlocks(text);
  if (blocks === undefined) return skipped('too_large', `There are more than the ${blocksMax} code blocks that are read.`);
  const known = blocks.flatMap((block) => {
    const language = languages.find((one) => names[one].includes(block.language));
    return language === undefined ? [] : [{ block, language }];
  });
  if (known.length === 0) return skipped('no_such_target', `There is no code block in ${listed(languages)}.`);
  const chars = known.map(({ block }) => block.code.length);
  if (chars.some((one) => one > codeCharsMax) || chars.reduce((all, one) => all + one, 0) > allCodeCharsMax) return skipped('too_large', 'The code blocks are longer than what is read.');
  const read = known.map(({ block, language }) => ({ block, language, problem: problemOf(block, language) }));
  const broken = read.filter(({ problem }) => problem !== undefined);
  return {
    score: rational(read.length - broken.length, read.length),
    says: broken.length === 0 ? `has ${count(read.length, 'code block')}, correct in syntax` : `has broken code: ${listed(broken.map(({ block, language, problem }) => `the ${language} block at line ${block.line} (${problem ?? ''})`), '; ')}`,
    details: { blocks: read.length, left_out: blocks.length - read.length, broken: broken.map(({ block, language, problem }) => ({ language, line: block.line, problem: problem ?? '' })) },
  };
}

function problemOf({ code }: CodeBlock, language: CodeLanguage): string | undefined {
  switch (language) {
    case 'json':
      return parseJson(code) === undefined ? 'it is no JSON' : undefined;
    case 'javascript':
      return javascriptProblem(code);
    default:
      return unreachable(language);
  }
}

/** A snippet may be a module or a script, and may await or return at its top. */
function javascriptProblem(code: string): string | undefined {
  const asModule = problemAs(code, 'module');
  return asModule === undefined || problemAs(code, 'script') === undefined ? undefined : asModule;
}

function problemAs(code: string, sourceType: 'module' | 'script'): string | undefined {
  try {
    parse(code, { ecmaVersion: 'latest', sourceType, allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true, allowHashBang: true });
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    // Code nested so deep that reading it exhausts the stack is no code that anybody wrote.
    if (error instanceof RangeError) return 'it nests too deep to be read';
    throw error;
  }
}

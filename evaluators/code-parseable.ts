/** The fenced code blocks of the output have correct syntax. The code is parsed, never run. */
import { skipped, type Skipped } from './evidence/calls.ts';
import { blocksMax, firstCodeBlocks, type CodeBlock } from './evidence/code-blocks.ts';
import { searchedText } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { languages as known, type CodeLanguage } from './syntax/languages.ts';
import { checked, type Finding, targetOptions } from './evidence/target.ts';
import { count, listed } from './explain/explanation.ts';
import { rule, option } from './configuration/define.ts';
import type { EvaluationContext } from './evaluator.ts';

// `Object.keys` returns strings.
const all = Object.keys(known) as readonly CodeLanguage[];
const described = all.map((language) => `\`${language}\`: ${known[language].fences.join(', ')}.`).join(' ');

export const codeParseable = rule({
  id: 'code_parseable',
  version: 4,
  summary: 'The code blocks of the output are correct in syntax.',
  needs: ['final_response'],
  defaultThreshold: 1,
  options: {
    languages: option<readonly CodeLanguage[]>(
      {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        items: { enum: all },
        description: `Languages whose blocks are read, each with its names at the fence. ${described} Others are left out, among them Java, Go, C, C++, SQL and HTML.`,
      },
      all,
    ),
    ...targetOptions,
  },
  source: 'the deck of code checks, without running anything',
  evaluate({ trace }, options, context) {
    return checked(trace, options, (value) => finding(searchedText(value), options.languages, context));
  },
});

/** Limits of UTF-16 units per block and per text. */
const codeCharsMax = 50_000;
const allCodeCharsMax = 200_000;

function finding(text: string, languages: readonly CodeLanguage[], { once }: EvaluationContext): Finding | Skipped {
  const { blocks, isWhole } = firstCodeBlocks(text);
  const chosen = blocks.flatMap((block) => {
    const language = languages.find((one) => fencesOf(one).includes(block.language));
    return language === undefined ? [] : [{ block, language }];
  });
  if (chosen.length === 0 && isWhole) return skipped('no_such_target', `There is no code block in ${listed(languages)}.`);
  const within = withinLimits(chosen);
  const read = chosen
    .filter((one) => within.has(one))
    .map(({ block, language }) => ({ block, language, problem: once(known[language], known, known[language].check)(block.code) }));
  const broken = read.filter(({ problem }) => problem !== undefined);
  const unread = chosen.length - read.length;
  // A broken block decides, even when other blocks were not read.
  if (broken.length === 0 && !isWhole) return skipped('too_large', `There are more than the ${blocksMax} code blocks that are read.`);
  if (broken.length === 0 && unread > 0)
    return skipped(
      'too_large',
      `${unread} of ${count(chosen.length, 'code block')} ${unread === 1 ? 'is' : 'are'} longer than what is read.`,
    );
  const whole = isWhole && unread === 0;
  return {
    score: rational(read.length - broken.length, read.length),
    says:
      broken.length === 0
        ? `has ${count(read.length, 'code block')}, correct in syntax`
        : `has broken code: ${listed(
            broken.map(({ block, language, problem }) => `the ${language} block at line ${block.line} (${problem ?? ''})`),
            '; ',
          )}${whole ? '' : '; not all code was read'}`,
    details: {
      blocks: read.length,
      left_out: blocks.length - chosen.length,
      ...(whole ? {} : { unread_blocks: unread, more_blocks: !isWhole }),
      broken: broken.map(({ block, language, problem }) => ({ language, line: block.line, problem: problem ?? '' })),
    },
  };
}

/** Selects short blocks first, so that a long one does not exclude others. */
function withinLimits<One extends { readonly block: CodeBlock }>(chosen: readonly One[]): ReadonlySet<One> {
  let chars = 0;
  return new Set(
    chosen
      .toSorted((one, other) => one.block.code.length - other.block.code.length)
      .filter(({ block: { code } }) => code.length <= codeCharsMax && (chars += code.length) <= allCodeCharsMax),
  );
}

function fencesOf(language: CodeLanguage): readonly string[] {
  return known[language].fences;
}

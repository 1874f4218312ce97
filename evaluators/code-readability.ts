/** The code in the final response can be read by a person, by the judgement of a model: one label a block, and the worst block counts. */
import { skipped } from './evidence/calls.ts';
import { blocksMax, codeBlocks } from './evidence/code-blocks.ts';
import { finalText, inputText, notAsked } from './judging/judge-evidence.ts';
import { named, judgeInput, judgeInputPieces } from './judging/judge-input.ts';
import { questionJudge } from './judging/question-judge.ts';

export const codeReadability = questionJudge({
  id: 'code_readability',
  summary: 'A judge finds the code blocks of the final response readable.',
  needs: ['input', 'final_response'],
  defaultThreshold: 1,
  source: 'the deck’s judge of code, one label a block',
  question({ trace }) {
    const blocks = codeBlocks(finalText(trace))?.filter(({ code }) => code.trim() !== '');
    if (blocks === undefined) return skipped('too_large', `There are more than the ${blocksMax} code blocks that are read.`, notAsked);
    if (blocks.length === 0) return skipped('no_such_target', 'There is no code block in the final response.', notAsked);
    return {
      instruction,
      input: [
        judgeInput('user input', inputText(trace)),
        judgeInputPieces(
          'blocks of code',
          blocks.map(({ language, code }, at) => ({
            before: `Block ${at + 1}${language === '' ? '' : ` (${named(language)})`}:\n`,
            text: code,
            after: '\n\n',
          })),
        ),
      ],
      items: blocks.map(({ language, line }, at) => ({
        number: at + 1,
        name: `the block at line ${line}`,
        details: { line, ...(language === '' ? {} : { language: named(language) }) },
      })),
      labels: { readable: 1, unreadable: 0 },
      what: 'code block',
      list: 'blocks',
      scoredBy: 'worst',
    };
  },
});

const instruction =
  'An AI agent has answered the user input with the numbered blocks of code. Decide for each block whether it is readable. It is readable when a programmer who knows the language understands at the first reading what it does: names say what they stand for, the structure follows the task, it is formatted as is usual in the language, and what is not evident has a comment. It is unreadable when names, nesting, repetition, length of lines or missing structure make it hard to follow. Short commands and small pieces of data are readable. Do not judge whether the code is correct or fast. First explain in one sentence, naming what makes it hard to read, then give the label readable or unreadable.';

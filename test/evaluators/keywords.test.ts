import { expect, test } from 'vitest';
import { agentTrace } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const rows = [
  {
    name: 'the share that is found counts',
    response: 'A red hat',
    options: { keywords: ['red', 'hat', 'blue'] },
    want: { score: 2 / 3, passed: false, explanation: 'The final response lacks "blue".' },
  },
  { name: 'a part of a word is none', response: 'redder', options: { keywords: ['red'] }, want: { score: 0 } },
  { name: 'a later whole word counts', response: 'redder, red.', options: { keywords: ['red'] }, want: { score: 1, passed: true } },
  { name: 'letters beyond ASCII touch as well', response: 'rotgr\u00fcn', options: { keywords: ['rotgr'] }, want: { score: 0 } },
  { name: 'letters of two code units touch as well', response: '\u{1D400}red', options: { keywords: ['red'] }, want: { score: 0 } },
  { name: 'a part of a word counts on demand', response: 'redder', options: { keywords: ['red'], whole_words: false }, want: { score: 1 } },
  { name: 'several words are one keyword', response: 'the final answer', options: { keywords: ['final answer'] }, want: { score: 1 } },
  { name: 'case counts on demand', response: 'RED', options: { keywords: ['red'], case_sensitive: true }, want: { score: 0 } },
  { name: 'any is enough', response: 'blue', options: { keywords: ['red', 'blue'], match: 'any' }, want: { score: 1 } },
  {
    name: 'none may be found',
    response: 'I am sorry',
    options: { keywords: ['sorry', 'apologise'], match: 'none' },
    want: {
      score: 0.5,
      explanation: 'The final response contains "sorry", which it must not.',
      details: { found: ['sorry'], absent: ['apologise'] },
    },
  },
];
for (const { name, response, options, want } of rows) {
  test(`keywords: ${name}`, () => {
    expect(score({ entry: { use: 'keywords', options }, trace: agentTrace({ finalResponse: response }) })).toMatchObject({
      kind: 'scored',
      ...want,
    });
  });
}

for (const options of [{}, { keywords: [] }, { keywords: [''] }]) {
  test(`keywords: ${JSON.stringify(options)} is refused`, () => {
    expect(() => score({ entry: { use: 'keywords', options }, trace: agentTrace() })).toThrow(/^options\.keywords/);
  });
}

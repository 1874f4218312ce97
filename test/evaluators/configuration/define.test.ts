/** The builders turn an evaluator's description into a definition. */
import { describe, expect, it } from 'vitest';
import {
  judge,
  rule,
  ruleWithJudge,
  choice,
  flag,
  option,
  optional,
  programOption,
  required,
} from '../../../evaluators/configuration/define.ts';
import type { Outcome } from '../../../src/model/verdict.ts';

const about = { id: 'polite', summary: 'The answer is polite.', needs: [], defaultThreshold: 1, source: 'tests' } as const;
const passed: Outcome = { kind: 'scored', score: 1, explanation: 'It is polite.', evidence: [], details: {} };
const evaluate = (): Outcome => passed;

describe('define', () => {
  it('gives a rule version 1, off by default, and no options', () => {
    expect(rule({ ...about, evaluate })).toEqual({
      ...about,
      kind: 'rule',
      version: 1,
      onByDefault: false,
      defaults: {},
      optionsSchema: { type: 'object', additionalProperties: false, properties: {} },
      evaluate,
    });
  });

  it('makes the defaults and the schema of the options out of the table', () => {
    const made = rule({
      ...about,
      options: {
        text: required({ type: 'string' }, ''),
        whole_words: flag('Whole words count.', true),
        match: choice(['all', 'any'], 'How many are enough.'),
        at_most: option({ type: 'integer', maximum: 9 }, 3),
        budget: optional<number>({ type: 'number' }),
      },
      evaluate,
    });
    expect(made.defaults).toEqual({ text: '', wholeWords: true, match: 'all', atMost: 3 });
    expect(made.optionsSchema).toEqual({
      type: 'object',
      additionalProperties: false,
      required: ['text'],
      properties: {
        text: { type: 'string' },
        whole_words: { type: 'boolean', description: 'Whole words count.' },
        match: { enum: ['all', 'any'], description: 'How many are enough.' },
        at_most: { type: 'integer', maximum: 9 },
        budget: { type: 'number' },
      },
    });
    expect(Object.hasOwn(made, 'functions')).toBe(false);
  });

  it('keeps functions of a program out of the schema and lists their paths', () => {
    const compared = { schema: { type: 'object' }, preset: {}, functions: ['matcher'] } as const;
    const made = rule({ ...about, options: { isRude: programOption<() => boolean>(), how_compared: compared }, evaluate });
    expect(made.functions).toEqual(['isRude', 'howCompared.matcher']);
    expect(made.defaults).toEqual({ howCompared: {} });
    expect(made.optionsSchema['properties']).toEqual({ how_compared: { type: 'object' } });
  });

  it('adds the conditions between options to their schema', () => {
    const made = rule({ ...about, options: { a: flag('A.'), b: flag('B.') }, conditions: { dependentRequired: { a: ['b'] } }, evaluate });
    expect(made.optionsSchema['dependentRequired']).toEqual({ a: ['b'] });
  });

  it('keeps the text of a description', () => {
    const made = rule({ ...about, version: 4, onByDefault: true, guard: true, checks: () => ['output'], evaluate });
    expect({ version: made.version, onByDefault: made.onByDefault, guard: made.guard, checks: made.checks?.({}, {}) }).toEqual({
      version: 4,
      onByDefault: true,
      guard: true,
      checks: ['output'],
    });
  });

  it('distinguishes rules from judge evaluators', () => {
    const questions = function* () {
      yield { id: 'judge', instruction: '', data: [], answerSchema: {} };
      return passed;
    };
    expect(judge({ ...about, evaluate: questions }).kind).toBe('judge');
    const both = ruleWithJudge({ ...about, evaluate, evaluateWithJudge: questions });
    expect([both.kind, both.evaluateWithJudge]).toEqual(['rule', questions]);
  });
});

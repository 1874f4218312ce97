/** Rules for every evaluator whose judge gives labels: the same tests for each, with its own answers. */
import { expect, test } from 'vitest';
import type { EvaluationContextOptions } from '../../evaluators/configuration/context.ts';
import type { EvaluatorEntry } from '../../evaluators/configuration/configured.ts';
import type { Answer } from '../../evaluators/evaluator.ts';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { judged } from './score.ts';

interface About {
  readonly entry: EvaluatorEntry;
  readonly trace: AgentTrace;
  readonly expected?: Expectation;
}

export interface ItemSuite extends About {
  /** Name of the list of verdicts, and the word for one in faults. */
  readonly list: string;
  readonly what: string;
  /** Numbers of the items that the judge is asked about. */
  readonly numbers: readonly [number, number, ...number[]];
  readonly good: string;
  readonly bad: string;
  /** The score when only the first item is bad. */
  readonly oneBad: number;
  /** Name of the list in an entry that names what is wrong. */
  readonly faults?: string;
}

export interface RunSuite extends About {
  readonly good: string;
  readonly bad: string;
  readonly faults?: string;
}

export interface SkipCase extends About {
  readonly name: string;
  readonly reason: string;
  readonly limits?: EvaluationContextOptions;
}

export function answered(value: JsonValue, truncated = false): readonly Answer[] {
  return [{ kind: 'answered', value, truncated }];
}

/** A verdict of the judge on one thing; under a bad label something is named. */
export function said(
  label: string,
  { number, faults, isBad = false }: { readonly number?: number; readonly faults?: string | undefined; readonly isBad?: boolean } = {},
): JsonObject {
  return {
    ...(number === undefined ? {} : { number }),
    explanation: `because${number === undefined ? '' : ` ${number}`}`,
    ...(faults === undefined ? {} : { [faults]: isBad ? ['the culprit'] : [] }),
    label,
  };
}

export function labelsEachItem({ list, what, numbers, good, bad, oneBad, faults, ...about }: ItemSuite): void {
  const { use } = about.entry;
  const fine = (number: number): JsonObject => said(good, { number, faults });
  const wrong = (number: number): JsonObject => said(bad, { number, faults, isBad: true });
  const of = (...entries: readonly JsonValue[]) => judged(about, answered({ [list]: entries }));
  const [first, ...others] = numbers;

  test(`${use}: good labels on all are the full score, wrong ones none, and one wrong one is named`, () => {
    expect(of(...numbers.map(fine)).verdict).toMatchObject({
      kind: 'scored',
      score: 1,
      label: good,
      evidence: [],
      details: { judge_called: true, total: numbers.length, full: numbers.length },
    });
    expect(of(...numbers.map(wrong)).verdict).toMatchObject({ kind: 'scored', score: 0, label: bad });
    const one = of(...others.toReversed().map(fine), wrong(first)).verdict;
    expect(one).toMatchObject({ kind: 'scored', score: oneBad, label: bad, details: { full: numbers.length - 1 } });
    expect(one.explanation).toContain(`because ${first}`);
    for (const number of others) expect(one.explanation).not.toContain(`because ${number}`);
    if (faults !== undefined) expect(one.explanation).toContain('the culprit');
  });

  test(`${use}: the judge is asked once, about these ${what}s and no others, and explains before it labels`, () => {
    const { questions } = of();
    expect(questions).toHaveLength(1);
    expect(questions[0]?.instruction.endsWith(`: ${numbers.join(', ')}.`)).toBe(true);
    expect(questions[0]?.answerSchema).toMatchObject({
      required: [list],
      properties: {
        [list]: {
          items: {
            additionalProperties: false,
            required: ['number', 'explanation', ...(faults === undefined ? [] : [faults]), 'label'],
            properties: { label: { enum: [good, bad] } },
          },
        },
      },
    });
  });

  const rest = others.map(fine);
  const faulty: readonly { readonly name: string; readonly entries: readonly JsonValue[]; readonly says: string }[] = [
    {
      name: 'a label outside the set',
      entries: [{ ...fine(first), label: 'perhaps' }, ...rest],
      says: `the label of ${what} ${first} is none of ${good}, ${bad}`,
    },
    { name: 'a missing label', entries: [{ number: first, explanation: 'e' }, ...rest], says: `the label of ${what} ${first} is none of` },
    {
      name: 'a label without an explanation',
      entries: [{ ...fine(first), explanation: ' ' }, ...rest],
      says: `${what} ${first} has no explanation`,
    },
    { name: `a ${what} without a verdict`, entries: rest, says: `${what} ${first} has no verdict` },
    { name: `a ${what} with two verdicts`, entries: [fine(first), ...rest, wrong(first)], says: `${what} ${first} has 2 verdicts` },
    {
      name: `a verdict on a ${what} that there is not`,
      entries: [...numbers.map(fine), fine(10_000)],
      says: `there are ${numbers.length + 1} verdicts`,
    },
    { name: 'verdicts without numbers', entries: numbers.map(() => said(good, { faults })), says: `${what} ${first} has no verdict` },
    ...(faults === undefined
      ? []
      : [
          {
            name: 'a bad label that names nothing',
            entries: [said(bad, { number: first, faults }), ...rest],
            says: `${faults} of ${what} ${first} must be filled`,
          },
        ]),
    ...(faults === undefined
      ? []
      : [
          {
            name: 'a good label that names something',
            entries: [said(good, { number: first, faults, isBad: true }), ...rest],
            says: `${faults} of ${what} ${first} must be empty`,
          },
        ]),
  ];
  for (const { name, entries, says } of faulty) {
    test(`${use}: ${name} is a fault that is named, then a failed verdict`, () => {
      const { questions, verdict } = of(...entries);
      expect(questions[0]?.check?.({ [list]: entries })).toContain(says);
      expect(verdict).toMatchObject({ kind: 'failed', details: { judge_called: true, judge_error: true } });
      expect(verdict.kind === 'failed' && verdict.error).toContain(`judge_answer_invalid: ${says}`);
    });
  }

  marksCuts(about, answered({ [list]: numbers.map(fine) }), answered({ [list]: numbers.map(fine) }, true));
}

export function labelsTheRun({ good, bad, faults, ...about }: RunSuite): void {
  const { use } = about.entry;
  const fine = said(good, { faults });
  const wrong = said(bad, { faults, isBad: true });
  const of = (value: JsonValue) => judged(about, answered(value));

  test(`${use}: the label of the judge is the label of the verdict, and its reason is in the sentence`, () => {
    expect(of(fine).verdict).toMatchObject({ kind: 'scored', score: 1, label: good, details: { judge_called: true, label: good } });
    expect(of({ ...fine, label: ` ${good.toUpperCase()}` }).verdict).toMatchObject({ kind: 'scored', score: 1, label: good });
    const { verdict } = of(wrong);
    expect(verdict).toMatchObject({ kind: 'scored', score: 0, passed: false, label: bad, details: { explanation: 'because' } });
    expect(verdict.explanation).toMatch(new RegExp(`is ${bad}: .*because\\)?\\.$`));
    if (faults !== undefined) expect(verdict.explanation).toContain('"the culprit"');
  });

  test(`${use}: the judge is asked once, and explains before it labels`, () => {
    expect(of(fine).questions).toMatchObject([
      {
        answerSchema: {
          additionalProperties: false,
          required: ['explanation', ...(faults === undefined ? [] : [faults]), 'label'],
          properties: { label: { enum: [good, bad] } },
        },
      },
    ]);
  });

  const faulty: readonly { readonly name: string; readonly value: JsonValue }[] = [
    { name: 'a label outside the set', value: { ...fine, label: 'perhaps' } },
    { name: 'no label', value: { explanation: 'e' } },
    { name: 'a label that is a number', value: { ...fine, label: 1 } },
    { name: 'no explanation', value: { ...fine, explanation: '' } },
    { name: 'no object', value: good },
    ...(faults === undefined
      ? []
      : [
          { name: 'a bad label that names nothing', value: { ...wrong, [faults]: [] } },
          { name: 'a good label that names something', value: { ...fine, [faults]: ['x'] } },
          { name: 'no list of what is wrong', value: { ...wrong, [faults]: 'x' } },
        ]),
  ];
  for (const { name, value } of faulty) {
    test(`${use}: ${name} is a fault that is named, then a failed verdict`, () => {
      const { questions, verdict } = of(value);
      expect(questions[0]?.check?.(value)).toEqual(expect.any(String));
      expect(verdict).toMatchObject({ kind: 'failed', details: { judge_error: true } });
      expect(verdict.kind === 'failed' && verdict.error).toMatch(/^judge_answer_invalid: /);
    });
  }

  marksCuts(about, answered(fine), answered(fine, true));
}

export function marksCuts({ trace, ...about }: About, answers: readonly Answer[], cutAnswers: readonly Answer[]): void {
  const { use } = about.entry;
  test(`${use}: what is cut before it is shown, or on the way to the judge, is marked`, () => {
    expect(judged({ ...about, trace }, answers).verdict.details).not.toHaveProperty('truncated');
    expect(judged({ ...about, trace }, cutAnswers).verdict.details).toMatchObject({ truncated: true });
    const { questions, verdict } = judged({ ...about, trace: lengthened(trace) }, answers);
    expect(verdict).toMatchObject({ kind: 'scored', details: { truncated: true } });
    for (const { text } of questions[0]?.data ?? []) expect(text.length).toBeLessThan(40_000);
  });
}

/** The same run, with long texts. */
function lengthened(trace: AgentTrace): AgentTrace {
  const more = (text: string): string => `${text} ${'x'.repeat(100_000)}`;
  const { input, finalResponse, messages } = trace;
  return {
    ...trace,
    ...(input === undefined ? {} : { input: more(input) }),
    ...(messages === undefined
      ? {}
      : {
          messages: messages.map((message) =>
            message.text?.trim() === finalResponse ? { ...message, text: `${finalResponse}\n${'x'.repeat(100_000)}` } : message,
          ),
        }),
    ...(typeof finalResponse === 'string' ? { finalResponse: `${finalResponse}\n${'x'.repeat(100_000)}` } : {}),
  };
}

export function skips(cases: readonly SkipCase[]): void {
  for (const { name, reason, entry, trace, expected = {}, limits = {} } of cases) {
    test(`${entry.use}: ${name} is skipped as ${reason} and asks no judge`, () => {
      const { questions, verdict } = judged({ entry, trace, expected, limits }, []);
      expect(verdict).toMatchObject({ kind: 'skipped', reason });
      expect(questions).toEqual([]);
    });
  }
}

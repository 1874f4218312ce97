import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Verdict } from '../../../src/model/verdict.ts';
import {
  countOf,
  juryVerdict,
  reasonToEscalate,
  verdictOfEscalation,
  type Ballot,
  type Escalated,
} from '../../../src/pipeline/jury/jury-tally.ts';
import type { AskEnd } from '../../../src/pipeline/jury/judge-driver.ts';
import { failed, scored, skipped } from '../../builders/scored-run.ts';

const down: AskEnd = { kind: 'overload', reason: 'judge_down' };
const spent: AskEnd = { kind: 'over_budget', reason: 'usd_per_day' };
const gone: AskEnd = { kind: 'overload', reason: 'no_such_judge' };
const ofRules = scored(0.5, { details: { judge_error: true } });

function label(word: string, score: number): Verdict {
  return scored(score, { label: word });
}

function raw(score: number): Verdict {
  return scored(score, { threshold: null, passed: null, label: '' });
}

function ballots(...ends: readonly (Verdict | AskEnd)[]): readonly Ballot[] {
  return ends.map((end, at) => ({ judge: 'abcdefghi'[at] ?? '?', vote: 1, end: isEnd(end) ? end : { kind: 'judged', verdict: end } }));
}

function isEnd(end: Verdict | AskEnd): end is AskEnd {
  return end.kind === 'judged' || end.kind === 'overload' || end.kind === 'over_budget';
}

const cases: readonly { readonly name: string; readonly ends: readonly (Verdict | AskEnd)[]; readonly want: object }[] = [
  {
    name: 'all agree',
    ends: [scored(1), scored(1), scored(1)],
    want: { by: 'votes', answered: 3, agreeing: 3, spread: 0, verdict: scored(1) },
  },
  {
    name: 'two of three pass',
    ends: [scored(0), scored(1), scored(1)],
    want: { by: 'votes', answered: 3, agreeing: 2, spread: 1, verdict: { score: 1, passed: true } },
  },
  { name: 'two of three fail', ends: [scored(0), scored(1), scored(0)], want: { agreeing: 2, verdict: { score: 0, passed: false } } },
  {
    name: 'of scores the middle one',
    ends: [scored(0.9), scored(0.2), scored(0.6)],
    want: { agreeing: 2, verdict: { score: 0.6, explanation: 'It is 0.6.' } },
  },
  {
    name: 'of an even number the lower of the two in the middle',
    ends: [scored(0.9), scored(0.6), scored(0.7), scored(1)],
    want: { by: 'votes', agreeing: 4, verdict: { score: 0.7 } },
  },
  {
    name: 'as many that pass as that fail is a tie, and does not pass',
    ends: [scored(1), scored(0)],
    want: { by: 'tie', agreeing: 1, verdict: { score: 0, passed: false } },
  },
  {
    name: 'of labels the one with the most votes, with its score',
    ends: [label('rude', 0), label('polite', 1), label('curt', 0.5), label('polite', 1), label('rude', 0.2), label('polite', 1)],
    want: { by: 'votes', agreeing: 3, spread: 1, verdict: { label: 'polite', score: 1 } },
  },
  {
    name: 'of labels with as many votes the one with the lower score',
    ends: [label('polite', 1), label('rude', 0), label('rude', 0), label('polite', 1), label('curt', 0.5)],
    want: { by: 'tie', agreeing: 2, verdict: { label: 'rude', score: 0 } },
  },
  {
    name: 'of labels with as many votes and the same score the first by name',
    ends: [label('b', 0), label('a', 0)],
    want: { by: 'tie', verdict: { label: 'a' } },
  },
  {
    name: 'raw scores agree on the same side of the middle',
    ends: [raw(0.9), raw(0.6), raw(0.4)],
    want: { by: 'votes', agreeing: 2, spread: 0.5, verdict: { score: 0.6, passed: null } },
  },
  {
    name: 'most see nothing to score',
    ends: [skipped, skipped, scored(1)],
    want: { by: 'votes', answered: 3, agreeing: 2, spread: 0, verdict: skipped },
  },
  { name: 'half see nothing to score', ends: [skipped, scored(1)], want: { by: 'tie', verdict: { score: 1 } } },
  {
    name: 'a judge that failed has no vote',
    ends: [scored(1), failed(), scored(1)],
    want: { by: 'votes', answered: 2, agreeing: 2, verdict: { score: 1 } },
  },
  {
    name: 'nor has one that is down, or whose budget is spent',
    ends: [down, scored(1), scored(1), spent, scored(0)],
    want: { answered: 3, agreeing: 2, verdict: { score: 1 } },
  },
  {
    name: 'a finding of a rule without the judge is not a vote',
    ends: [ofRules, scored(1), scored(1)],
    want: { by: 'votes', answered: 2, agreeing: 2, verdict: { score: 1 } },
  },
  { name: 'without any vote it stands', ends: [ofRules, ofRules, failed()], want: { by: 'rules', answered: 0, verdict: ofRules } },
  {
    name: 'half of the votes are too few',
    ends: [scored(1), failed('judge_timed_out: no answer')],
    want: {
      kind: 'missing',
      end: {
        kind: 'judged',
        verdict: { kind: 'failed', error: 'jury_incomplete: 1 of 2 votes were given, and 2 are needed (b: judge_timed_out)' },
      },
    },
  },
  {
    name: 'a single judge that failed has failed as it did',
    ends: [failed()],
    want: { kind: 'missing', end: { kind: 'judged', verdict: failed() } },
  },
  { name: 'too many are down for a quorum', ends: [scored(1), down, down], want: { kind: 'missing', end: down } },
  {
    name: 'one is down, and another one failed',
    ends: [scored(1), down, failed()],
    want: {
      kind: 'missing',
      end: { kind: 'judged', verdict: { kind: 'failed', error: expect.stringContaining('b: judge_down, c: judge_timed_out') as string } },
    },
  },
  { name: 'the budgets of most are spent', ends: [scored(1), spent, spent], want: { kind: 'missing', end: spent } },
  { name: 'one is down, and the budget of another one is spent', ends: [scored(1), spent, down], want: { kind: 'missing', end: spent } },
  {
    name: 'one has failed, and the budget of another one is spent',
    ends: [scored(1), spent, failed()],
    want: { kind: 'missing', end: { kind: 'judged', verdict: { kind: 'failed' } } },
  },
  {
    name: 'a judge that may come back counts for more than one that is gone',
    ends: [gone, down, scored(1)],
    want: { kind: 'missing', end: down },
  },
  { name: 'judges that are gone', ends: [gone, gone, scored(1)], want: { kind: 'missing', end: gone } },
];
for (const { name, ends, want } of cases) test(`jury: ${name}`, () => expect(countOf(ballots(...ends))).toMatchObject(want));

test('jury: the confidence is the middle one of the given ones, the lower one of an even number', () => {
  const sure = (...told: readonly (number | undefined)[]) => {
    const count = countOf(
      told.map((confidence, vote) => ({
        judge: 'a',
        vote,
        end: { kind: 'judged', verdict: scored(1) },
        ...(confidence === undefined ? {} : { confidence }),
      })),
    );
    return count.kind === 'counted' ? count.confidence : NaN;
  };
  expect([sure(0.9, 0.2, 0.6), sure(0.9, 0.2), sure(undefined, 0.8, undefined), sure(undefined)]).toEqual([0.6, 0.2, 0.8, undefined]);
});

const escalations: readonly {
  readonly name: string;
  readonly ends: readonly Verdict[];
  readonly confidence?: number;
  readonly below?: number;
  readonly onDisagreement?: boolean;
  readonly want: string | undefined;
}[] = [
  { name: 'votes that agree', ends: [scored(1), scored(0.8)], want: undefined },
  { name: 'votes that differ', ends: [scored(1), scored(1), scored(0)], want: 'disagreement' },
  {
    name: 'votes that differ where that does not matter',
    ends: [scored(1), scored(0)],
    onDisagreement: false,
    below: 0.5,
    want: undefined,
  },
  { name: 'votes, some without anything to score', ends: [scored(1), skipped, scored(1)], want: 'disagreement' },
  { name: 'a confidence below the limit', ends: [scored(1)], confidence: 0.6, below: 0.7, want: 'low_confidence' },
  { name: 'a confidence at the limit', ends: [scored(1)], confidence: 0.7, below: 0.7, want: undefined },
  { name: 'no confidence', ends: [scored(1)], below: 0.7, want: undefined },
  { name: 'an unrequested confidence', ends: [scored(1)], confidence: 0.1, want: undefined },
  { name: 'what a rule found without a judge', ends: [ofRules], confidence: 0.1, below: 0.7, want: undefined },
];
for (const { name, ends, confidence, below, onDisagreement = true, want } of escalations) {
  test(`jury: passed on or not: ${name}`, () => {
    const count = countOf(ballots(...ends).map((one) => ({ ...one, ...(confidence === undefined ? {} : { confidence }) })));
    if (count.kind !== 'counted') throw new Error('no verdict');
    expect(reasonToEscalate({ to: 'z', onDisagreement, ...(below === undefined ? {} : { below }) }, count)).toBe(want);
  });
}

const someScore = fc.constantFrom(0, 0.25, 0.4999, 0.5, 0.75, 1).map((score) => scored(score));
const someLabel = fc.constantFrom(label('good', 1), label('fair', 0.5), label('poor', 0.25), label('bad', 0));
const noVote = fc.constantFrom<Verdict | AskEnd>(failed(), down, spent, gone);
const manyScores = fc.array(someScore, { minLength: 1, maxLength: 15 });

function counted(ends: readonly (Verdict | AskEnd)[]) {
  const count = countOf(ballots(...ends));
  if (count.kind === 'missing') throw new Error('too few votes');
  return count;
}

function scoreOf(verdict: Verdict): number {
  return verdict.kind === 'scored' ? verdict.score : NaN;
}

/** The confidence of the verdict, from the votes and their confidences. */
const confidences: readonly {
  readonly name: string;
  readonly ends: readonly (Verdict | AskEnd)[];
  readonly told?: readonly number[];
  readonly decider?: Pick<Ballot, 'end' | 'confidence'>;
  readonly want: number | undefined;
}[] = [
  { name: 'one vote without a confidence', ends: [scored(1)], want: undefined },
  { name: 'one vote with one', ends: [scored(1)], told: [0.7], want: 0.7 },
  { name: 'the share of the votes that agree', ends: [scored(1), scored(0), scored(1), scored(1)], want: 0.75 },
  { name: 'all agree', ends: [scored(1), scored(1)], want: 1 },
  { name: 'a tie', ends: [scored(1), scored(0)], want: 0.5 },
  { name: 'a missing answer is not a vote', ends: [scored(1), scored(1), down], want: 1 },
  { name: 'one vote is left of several', ends: [scored(1)], want: undefined },
  {
    name: 'the lower of agreement and confidence: the confidence',
    ends: [scored(1), scored(1), scored(1)],
    told: [0.4, 0.9, 0.3],
    want: 0.4,
  },
  { name: 'the lower of agreement and confidence: the agreement', ends: [scored(1), scored(0)], told: [0.9, 0.9], want: 0.5 },
  { name: 'no judge gave a vote', ends: [ofRules, ofRules], want: undefined },
  { name: 'nothing was scored', ends: [skipped, skipped, skipped], told: [0.2, 0.2, 0.2], want: undefined },
  {
    name: 'the judge that decides has one vote more',
    ends: [scored(1), scored(0), scored(1)],
    decider: { end: { kind: 'judged', verdict: scored(1) } },
    want: 0.75,
  },
  {
    name: 'it decides against the others',
    ends: [scored(1), scored(0), scored(1)],
    decider: { end: { kind: 'judged', verdict: scored(0) } },
    want: 0.5,
  },
  {
    name: 'its own confidence counts, that of the others no more',
    ends: [scored(1), scored(1), scored(1)],
    told: [0.1, 0.1, 0.1],
    decider: { end: { kind: 'judged', verdict: scored(1) }, confidence: 0.8 },
    want: 0.8,
  },
  {
    name: 'it gave no verdict, and the votes decide',
    ends: [scored(1), scored(1), scored(0)],
    decider: { end: { kind: 'judged', verdict: failed() } },
    want: 2 / 3,
  },
];

for (const { name, ends, told = [], decider, want } of confidences)
  test(`jury: how sure a verdict is: ${name}`, () => {
    const voted = ballots(...ends).map((ballot, at) => ({ ...ballot, ...(told[at] === undefined ? {} : { confidence: told[at] }) }));
    const count = countOf(voted);
    if (count.kind === 'missing') throw new Error('no quorum');
    const escalated: Escalated | undefined =
      decider === undefined ? undefined : { because: 'disagreement', ballot: { judge: 'last', vote: 1, ...decider } };
    const decided = (escalated === undefined ? undefined : verdictOfEscalation(escalated)) ?? count.verdict;
    const costs = { inputTokens: 0, outputTokens: 0, usd: undefined, cached: 0 };
    expect(juryVerdict(decided, { ballots: voted, count, escalated, costs, model: 'm' }).details['confidence']).toBe(want);
  });

test('jury: the verdict is that of one of those who voted, in any order of the votes', () => {
  fc.assert(
    fc.property(
      fc
        .oneof(manyScores, fc.array(someLabel, { minLength: 1, maxLength: 15 }))
        .chain((ends) => fc.tuple(fc.constant(ends), fc.shuffledSubarray(ends, { minLength: ends.length }))),
      ([ends, shuffled]) => {
        const [one, other] = [counted(ends), counted(shuffled)];
        expect(ends).toContain(one.verdict);
        expect({ ...other, verdict: undefined }).toEqual({ ...one, verdict: undefined });
        expect(other.verdict).toMatchObject({ score: scoreOf(one.verdict), label: one.verdict.kind === 'scored' ? one.verdict.label : '' });
      },
    ),
  );
});

test('jury: a run passes when more than half of the votes pass it, and only then', () => {
  fc.assert(
    fc.property(manyScores, (ends) => {
      const { verdict, agreeing, by } = counted(ends);
      const passing = ends.filter(({ passed }) => passed === true).length;
      expect(verdict).toMatchObject({ passed: passing * 2 > ends.length });
      expect(agreeing * 2).toBeGreaterThanOrEqual(ends.length);
      expect(by === 'tie').toBe(passing * 2 === ends.length);
    }),
  );
});

test('jury: a higher score of one never lowers the verdict', () => {
  fc.assert(
    fc.property(manyScores, fc.nat(), someScore, (ends, at, raised) => {
      const place = at % ends.length;
      const higher = ends.map((end, nth) => (nth === place && raised.score > end.score ? raised : end));
      expect(scoreOf(counted(higher).verdict)).toBeGreaterThanOrEqual(scoreOf(counted(ends).verdict));
    }),
  );
});

test('jury: no label has more votes than that of the verdict', () => {
  fc.assert(
    fc.property(fc.array(someLabel, { minLength: 1, maxLength: 15 }), (ends) => {
      const { verdict, agreeing } = counted(ends);
      const votes = [...Map.groupBy(ends, (end) => (end.kind === 'scored' ? end.label : '')).values()].map((group) => group.length);
      expect(agreeing).toBe(Math.max(...votes));
      expect(ends.filter((end) => end.kind === 'scored' && verdict.kind === 'scored' && end.label === verdict.label)).toHaveLength(
        agreeing,
      );
    }),
  );
});

test('jury: a judge without a vote changes nothing, as long as most give one; then there is no verdict, and no score', () => {
  fc.assert(
    fc.property(manyScores, fc.array(noVote, { maxLength: 15 }), (ends, absent) => {
      const count = countOf(ballots(...ends, ...absent));
      if (ends.length > absent.length) expect(count).toEqual(counted(ends));
      else
        expect(count).toMatchObject({
          kind: 'missing',
          end:
            count.kind === 'missing' && count.end.kind === 'judged'
              ? { verdict: { kind: 'failed' } }
              : { reason: expect.any(String) as string },
        });
    }),
  );
});

/**
 * The request to phrase the criterion that people apply when they label runs. It is an evaluator only so that it takes the way of any other
 * question: the fence around foreign texts, the budget, the cache and the retry of an unusable answer.
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from '../../src/model/json.ts';
import { judge, required } from '../configuration/define.ts';
import type { DataBlock } from '../evaluator.ts';
import { revealed } from '../evidence/hidden-characters.ts';
import { explanationIn, faulty, objectSchema, type Reading, strictly } from './verdict-forms.ts';

/** A labelled run as the request shows it. */
export interface DraftRun {
  readonly passed: boolean;
  /** Texts under names of a template. */
  readonly texts: { readonly [name: string]: string };
  /** Explanations of people. */
  readonly notes: readonly string[];
}

/** Runs of each kind in the request. */
export const draftRunsMax = 10;

/** Limits of the parts of an answer; the last two are definitions of labels. */
const partsMax = { criterion: 2_000, pass: 1_000, fail: 1_000 } as const;

export type DraftWords = { readonly [part in keyof typeof partsMax]: string };

export const judgeDraft = judge({
  id: 'judge_draft',
  summary: 'Which criterion do labels of people follow?',
  needs: [],
  defaultThreshold: null,
  options: {
    name: required({ type: 'string' }, ''),
    runs: required<readonly DraftRun[]>({ type: 'array', maxItems: 2 * draftRunsMax }, []),
  },
  source: 'own',
  *evaluate(_subject, { name, runs }) {
    const judged = yield* strictly(
      {
        id: 'judge_draft',
        instruction,
        data: [{ title: 'name of the labels', text: name }, ...runs.flatMap(runBlocks)],
        answerSchema: objectSchema({
          explanation: { type: 'string' },
          ...Object.fromEntries(Object.keys(partsMax).map((part) => [part, { type: 'string' }])),
        }),
      },
      readWords,
    );
    if (judged.kind === 'failed') return judged.outcome;
    return { kind: 'scored', score: 1, explanation: judged.value.criterion, evidence: [], details: { words: judged.value } };
  },
});

const instruction = `People have labelled runs of an AI agent, each as pass or fail, by a criterion that they have not written down. Find the criterion that separates the two kinds, and write it for a judge who sees one new run at a time and none of these.

criterion: the question that a judge must answer about a run, in at most 80 words. Name what decides, and what does not count. Name no person, number or text of a single run.
pass: what a run shows that passes, in one or two sentences.
fail: what a run shows that fails, in one or two sentences.

Where people have given a reason in a note, it counts more than your own opinion. First explain in one or two sentences what separates the two kinds.`;

/** One block for each text, so that none can pose as another. */
function runBlocks({ passed, texts, notes }: DraftRun, at: number): readonly DataBlock[] {
  const title = `run ${at + 1}, labelled ${passed ? 'pass' : 'fail'}`;
  return [
    ...Object.entries(texts).map(([name, text]) => ({ title: `${title}: ${name}`, text })),
    ...(notes.length === 0 ? [] : [{ title: `${title}: notes of people`, text: notes.join('\n') }]),
  ];
}

function readWords(answer: JsonValue): Reading<DraftWords & JsonObject> {
  if (!isJsonObject(answer)) return faulty('the answer is not an object');
  if (explanationIn(answer) === undefined) return faulty('the answer has no explanation');
  const words = new Map<string, string>();
  for (const [part, charsMax] of Object.entries(partsMax)) {
    const text = member(answer, part);
    if (typeof text !== 'string' || text.trim() === '') return faulty(`${part} is missing`);
    if (text.length > charsMax) return faulty(`${part} has more than ${charsMax} characters`);
    words.set(part, plainWords(text));
  }
  return { kind: 'read', value: Object.fromEntries(words) as DraftWords & JsonObject };
}

/** The words become a template: no character is hidden in them, and no braces of theirs name a part of a run. */
function plainWords(text: string): string {
  return revealed(text).replaceAll(/[{}]+/g, ' ').replaceAll(/\s+/g, ' ').trim();
}

/** Drafts a judge evaluator from labels of people: two halves of the labels, the examples of one, and the layout of the entry. */
import { hash } from 'node:crypto';
import { customJudge } from '../../evaluators/custom-judge.ts';
import { configuredEvaluator, type ConfiguredJudge, type EvaluatorEntry } from '../../evaluators/configuration/configured.ts';
import { type DraftRun, draftRunsMax, type DraftWords } from '../../evaluators/judging/judge-draft.ts';
import { templateValue } from '../../evaluators/judging/judge-template.ts';
import { runView } from '../../evaluators/judging/run-view.ts';
import type { AgentTrace, Run } from '../model/agent-trace.ts';
import { inputFingerprint } from '../model/example-fingerprint.ts';

/** A run that people have labelled with one mind. */
export interface DraftLabel extends DraftRun {
  readonly run: Run;
  readonly session: string | undefined;
}

/** Parts of a run that people look at; a judge gets those that some run has. */
const partNames = ['input', 'final_response', 'tool_calls'] as const;
/** Characters of a text in the request, and in an example of the draft: all examples together fit a block. */
const textCharsMax = 1_500;
/** Explanations of people on one run. */
const notesMax = 5;

export function draftLabel({ run, passed, notes, session }: Pick<DraftLabel, 'run' | 'passed' | 'notes' | 'session'>): DraftLabel {
  return {
    run,
    passed,
    session,
    texts: textsOf(run.trace),
    notes: notes
      .filter((note) => note.trim() !== '')
      .slice(0, notesMax)
      .map(shortened),
  };
}

function textsOf(trace: AgentTrace): { readonly [name: string]: string } {
  return Object.fromEntries(
    partNames.flatMap((name) => {
      const value = templateValue(name, trace, {});
      const text =
        typeof value === 'string'
          ? value
          : 'text' in value
            ? runView(trace, { charsMax: textCharsMax, calls: trace.toolCalls.map((_, index) => index) }).text
            : '';
      return text.trim() === '' ? [] : [[name, shortened(text)]];
    }),
  );
}

/** Keeps both ends: an input may end with its question, and an answer with its result. */
function shortened(text: string): string {
  if (text.length <= textCharsMax) return text;
  const kept = textCharsMax / 2;
  return `${text.slice(0, kept)} [cut: ${text.length - textCharsMax} characters] ${text.slice(-kept)}`.toWellFormed();
}

export interface Halves {
  readonly draft: readonly DraftLabel[];
  readonly held: readonly DraftLabel[];
  /** Labels of the other half that share an input or a session with the draft half; they are left out. */
  readonly shared: number;
  /** True when too few inputs differ to separate them, so that both halves have the same ones. */
  readonly sameInputs: boolean;
}

/** With fewer distinct inputs, the answers decide about the half. */
const inputsMin = 20;

/** The half follows from only the input of a run, or its session: a new label moves no other one. */
export function halvesOf(labels: readonly DraftLabel[]): Halves {
  const inputOf = ({ texts }: DraftLabel): string => inputFingerprint(texts['input'] ?? '');
  const contentOf = ({ texts }: DraftLabel): string => inputFingerprint({ ...texts });
  const sameInputs = new Set(labels.map(inputOf)).size < inputsMin;
  const place = sameInputs ? contentOf : inputOf;
  const sorted = labels
    .map((label) => ({ label, key: hash('sha256', `judge draft\n${label.session ?? place(label)}`) }))
    .toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  const isDraft = (key: string): boolean => Number.parseInt(key.slice(0, 1), 16) < 8;
  const draft = sorted.flatMap(({ label, key }) => (isDraft(key) ? [label] : []));
  const others = sorted.flatMap(({ label, key }) => (isDraft(key) ? [] : [label]));
  const seen = new Set(draft.map(place));
  const held = others.filter((label) => !seen.has(place(label)));
  return { draft, held, shared: others.length - held.length, sameInputs };
}

/** Examples of each kind in the draft. */
export const examplesEach = 3;
/** Labels of each kind that the check needs. */
const heldEach = 5;
/** A half of this many has, but for one time in a hundred, what both need. */
const enoughEach = 20;

/** Why there is no draft from these labels, and what would be enough; `undefined` when there can be one. */
export function tooFewLabels({ draft, held }: Pick<Halves, 'draft' | 'held'>): string | undefined {
  const count = (labels: readonly DraftLabel[], passed: boolean): number => labels.filter((one) => one.passed === passed).length;
  const lacks = [true, false].flatMap((passed) => {
    const [own, others] = [count(draft, passed), count(held, passed)];
    if (own >= examplesEach && others >= heldEach) return [];
    const kind = passed ? 'pass' : 'fail';
    return [
      `labels of ${kind}: ${own} in the half for the draft (${examplesEach} are needed), ${others} in the half for the check (${heldEach} are needed)`,
    ];
  });
  if (lacks.length === 0) return undefined;
  return `There are too few ${lacks.join('; ')}. ${enoughEach} labels of each kind, on runs with different inputs and sessions, are usually enough.`;
}

/** The runs of the request: as many of each kind, those with a note first. */
export function draftRuns(draft: readonly DraftLabel[], max = draftRunsMax): readonly DraftLabel[] {
  const ofKind = (passed: boolean): readonly DraftLabel[] =>
    draft
      .filter((one) => one.passed === passed)
      .toSorted((one, other) => Number(other.notes.length > 0) - Number(one.notes.length > 0))
      .slice(0, max);
  return [...ofKind(true), ...ofKind(false)];
}

/** The part of an `evaluators:` entry that the draft decides. */
export interface DraftEntry extends EvaluatorEntry {
  readonly name: string;
  readonly threshold: number;
}

const labelsOfKinds = { pass: 1, fail: 0 } as const;

export function draftEntry(name: string, draft: readonly DraftLabel[], words: DraftWords): DraftEntry {
  const names = partNames.filter((part) => draft.some(({ texts }) => texts[part] !== undefined));
  const sentences = {
    input: 'The user wrote {{input}}.',
    tool_calls: 'The agent called tools: {{tool_calls}}.',
    final_response: 'The agent answered {{final_response}}.',
  };
  const shown = (['input', 'tool_calls', 'final_response'] as const).filter((part) => names.includes(part)).map((part) => sentences[part]);
  const examples = draftRuns(draft, examplesEach).map(({ passed, texts }) => ({ label: passed ? 'pass' : 'fail', ...texts }));
  return {
    use: customJudge.id,
    name,
    threshold: 0.5,
    options: {
      template: `${words.criterion}\n\npass: ${words.pass}\nfail: ${words.fail}\n\n${shown.join(' ')}\n`,
      labels: labelsOfKinds,
      examples,
      on_missing: 'show',
    },
  };
}

/** Throws when the entry would be refused in a configuration. */
export function configuredDraft(entry: DraftEntry): ConfiguredJudge {
  const made = configuredEvaluator(entry, [customJudge]);
  if (made.kind === 'faulty' || made.evaluator.kind !== 'judge')
    throw new Error(
      `faulty draft: ${made.kind === 'faulty' ? made.faults.map(({ path, problem }) => `${path.join('.')} ${problem}`).join('; ') : 'no judge'}`,
    );
  return made.evaluator;
}

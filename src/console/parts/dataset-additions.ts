/** Fields of "Add to dataset", and its message afterwards. */
import { runsText } from './run-requests.ts';

/** Tags are separated by commas; each counts once. */
export function tagsOf(text: string): readonly string[] {
  return [...new Set(text.split(',').flatMap((tag) => tag.trim() || []))];
}

/** The fault of a dataset's name; `undefined` for a good one. */
export function datasetNameFault(name: string): string | undefined {
  if (name === '') return 'Choose a dataset, or write the name of a new one.';
  if (name.length > 100) return 'A name has at most 100 characters.';
  if (!/^[A-Za-z0-9._-]+$/.test(name)) return 'A name has letters, digits, dots, underscores and hyphens.';
  return /^\.+$/.test(name) ? 'A name needs more than dots.' : undefined;
}

/** Where new examples go, as members of a request; empty ones are absent. */
export function placeOf({ split, tags }: { readonly split: string; readonly tags: string }): {
  readonly tags?: readonly string[];
  readonly split?: string;
} {
  const [part, given] = [split.trim(), tagsOf(tags)];
  return { ...(given.length === 0 ? {} : { tags: given }), ...(part === '' ? {} : { split: part }) };
}

/** The API's answer to one request. */
export interface Addition {
  readonly version: number;
  readonly added: number;
  readonly changed: number;
  /** Number of reviewed examples in `changed`. */
  readonly changed_reviewed: number;
  readonly unchanged: number;
  readonly left_out: readonly { readonly id: string; readonly reason: string }[];
  readonly no_example?: readonly { readonly reason: string }[];
}

const leftOutTexts: { readonly [reason: string]: string } = {
  too_large: 'larger than an example may be',
  full: 'the dataset is full',
  duplicate: 'the input of another example is the same, but for case, punctuation and long numbers',
  kept: 'the example is reviewed already, and stays unchanged',
  surplus: 'too many in one request',
  not_stored: 'the run is not stored any more',
  no_content: 'the store has no texts of the run',
  no_input: 'the run has no input',
  part_of_another_run: 'the run is part of another run',
};

/** One sentence for each outcome; what was added comes first. */
export function additionTexts(additions: readonly Addition[]): readonly string[] {
  const sum = (of: (one: Addition) => number): number => additions.reduce((total, one) => total + of(one), 0);
  const counts = [
    ['added', sum(({ added }) => added)],
    [`brought up to date${reviewedText(sum((one) => one.changed_reviewed))}`, sum(({ changed }) => changed)],
    ['in the dataset already', sum(({ unchanged }) => unchanged)],
  ] as const;
  const reasons = additions.flatMap(({ left_out: left, no_example: none = [] }) => [...left, ...none].map(({ reason }) => reason));
  return [
    ...counts.flatMap(([what, count]) => (count === 0 ? [] : [`${examplesText(count)} ${count === 1 ? 'is' : 'are'} ${what}.`])),
    ...[...Map.groupBy(reasons, (reason) => reason)].map(([reason, all]) => `${runsText(all.length)} left out: ${leftOutText(reason)}.`),
  ];
}

/** Sentence about the examples of the dataset that a checked import meets. Empty when there are none. */
export function presentText(
  {
    present,
    present_differing: differing,
    present_reviewed: reviewed,
  }: { readonly present: number; readonly present_differing: number; readonly present_reviewed: number },
  keeps: boolean,
): string {
  if (present === 0) return '';
  const begin = ` The dataset has ${present} of their ids already`;
  if (differing === 0) return `${begin}, with the same content.`;
  if (keeps) return `${begin}: these examples stay unchanged.`;
  return `${begin}: the import replaces ${differing} of these examples${reviewed === 0 ? '' : `, and ${reviewed} of them ${reviewed === 1 ? 'is' : 'are'} reviewed`}.`;
}

function reviewedText(reviewed: number): string {
  return reviewed === 0 ? '' : `, ${reviewed} of them reviewed`;
}

export function examplesText(count: number): string {
  return `${count} ${count === 1 ? 'example' : 'examples'}`;
}

/** Why a run or an example is left out, as the end of a sentence. */
export function leftOutText(reason: string): string {
  return leftOutTexts[reason] ?? reason.replaceAll('_', ' ');
}

/** Choices for labelling a run: names of evaluators, and the labels that fit one of them. */

interface LabelledRun {
  readonly verdicts: readonly { readonly name: string; readonly passed: boolean | null; readonly label: string; readonly status: string }[];
  readonly annotations?: readonly { readonly name: string; readonly label: string | null }[];
}

/** Keys are 1 to 9. */
const choicesMax = 9;
const always = ['pass', 'fail'];

/** Evaluators that failed the run first: a person mostly comes to check these. */
export function labelNames({ verdicts, annotations = [] }: LabelledRun): readonly string[] {
  const failed = verdicts.filter(({ passed }) => passed === false);
  const scored = verdicts.filter(({ status }) => status === 'scored');
  return [...new Set([...failed, ...scored, ...verdicts, ...annotations].map(({ name }) => name)), 'quality'];
}

/** `pass` and `fail`, then the labels that verdicts and annotations of this name have. */
export function labelChoices({ verdicts, annotations = [] }: LabelledRun, name: string): readonly string[] {
  const known = [
    ...verdicts.flatMap((verdict) => (verdict.name === name && verdict.status === 'scored' ? [verdict.label] : [])),
    ...annotations.flatMap((annotation) => (annotation.name === name && annotation.label !== null ? [annotation.label] : [])),
  ];
  return [...new Set([...always, ...known])].filter((label) => label !== '').slice(0, choicesMax);
}

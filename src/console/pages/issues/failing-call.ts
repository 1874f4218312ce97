/** The call of a run with which an issue is shown, and its arguments at fault. */
import { argumentMarks, type VerdictDetails } from '../../parts/run/argument-marks.ts';
import { partsOf } from '../../parts/run/evidence.ts';

interface ShownRun {
  readonly verdicts: readonly { readonly name: string; readonly passed: boolean | null; readonly details?: unknown }[];
  readonly first_failure?: {
    readonly call: number;
    readonly tool: string;
    readonly later: readonly { readonly call: number; readonly tool: string }[];
  } | null;
}

/** Position among the tool calls. The call that the evaluator fails; else the first failed call of the tool. `undefined` when there is none. */
export function failingCall(
  run: ShownRun,
  { evaluator, tool }: { readonly evaluator: string; readonly tool: string | null },
): number | undefined {
  const verdict = run.verdicts.find(({ name, passed }) => name === evaluator && passed === false);
  const parts = partsOf(verdict?.details).filter(({ of, passed }) => of === undefined && !passed);
  const part = parts.find((one) => tool === null || one.tool === tool) ?? parts[0];
  if (part !== undefined) return part.index;
  if (tool === null) return undefined;
  const { first_failure: first } = run;
  return first === undefined || first === null ? undefined : [first, ...first.later].find((step) => step.tool === tool)?.call;
}

/** JSON pointers of the arguments that the verdicts name, each once. */
export function faultyArguments(verdicts: readonly VerdictDetails[], call: number, sent: unknown): readonly string[] {
  const names = argumentMarks(verdicts, call, sent).marks.map(({ path }) => path.map((step) => `/${step}`).join(''));
  return [...new Set(names)].filter((name) => name !== '').slice(0, namesMax);
}

const namesMax = 5;

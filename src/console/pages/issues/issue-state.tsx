/** The state of an issue: an icon and a word. */
import { type Issue, stateWords } from './issue-text.ts';

const chips = {
  open: { kind: 'warn', icon: '•' },
  regressed: { kind: 'fail', icon: '✗' },
  resolved: { kind: 'pass', icon: '✓' },
  ignored: { kind: '', icon: '‖' },
  merged: { kind: '', icon: '→' },
} as const;

export function IssueState({ state }: Pick<Issue, 'state'>) {
  const { kind, icon } = chips[state];
  return (
    <span class={`chip ${kind}`}>
      <span aria-hidden="true">{icon}</span>
      <span>{stateWords[state]}</span>
    </span>
  );
}

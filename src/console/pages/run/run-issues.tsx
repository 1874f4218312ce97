/** The first step that went wrong, what followed from there, and the issues of the run. */
import type { Schemas } from '../../api/client.ts';
import { IssueState } from '../issues/issue-state.tsx';
import { issueAddress } from '../issues/issue-text.ts';
import type { Target } from './verdict-cards.tsx';

type Run = Schemas['Run'];
type Step = NonNullable<Run['first_failure']>['later'][number];

export interface RunIssuesProps {
  readonly run: Pick<Run, 'first_failure' | 'issues' | 'status'>;
  /** `undefined`: the store has nothing of the run that a link could open. */
  readonly onOpen: ((target: Target) => void) | undefined;
}

export function RunIssues({ run: { first_failure: first, issues = [], status }, onOpen }: RunIssuesProps) {
  const hasStep = first !== undefined && first !== null;
  if (!hasStep && issues.length === 0) return null;
  return (
    <section class="stack" aria-labelledby="issues-title">
      <h2 id="issues-title">What went wrong</h2>
      {!hasStep ? null : (
        <p>
          First wrong step: <StepLink step={first} onOpen={onOpen} />
          {first.evaluators.length === 0 ? ' failed' : ` (${first.evaluators.join(', ')})`}.
          {first.later.length === 0 ? null : (
            <>
              {' '}
              Later failures:{' '}
              {first.later.map((step, at) => (
                <span key={step.call}>
                  {at === 0 ? '' : ', '}
                  <StepLink step={step} onOpen={onOpen} />
                </span>
              ))}
              {first.later_left_out === 0 ? '' : ` and ${first.later_left_out} more`}.
            </>
          )}
          {status === 'error' ? ' The run ended in an error.' : ''}
        </p>
      )}
      {issues.length === 0 ? null : (
        <ul class="plain-list">
          {issues.map((issue) => (
            <li key={issue.id}>
              <IssueState state={issue.state} />{' '}
              <a href={issueAddress(issue)}>
                <bdi>{issue.title}</bdi>
              </a>{' '}
              <span class="dim small">{issue.evaluator}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function StepLink({ step: { call, tool, span_id: spanId }, onOpen }: { readonly step: Step; readonly onOpen: RunIssuesProps['onOpen'] }) {
  const label = (
    <>
      call {call + 1}
      {tool === '' ? null : (
        <>
          , <bdi>{tool}</bdi>
        </>
      )}
    </>
  );
  if (onOpen === undefined) return label;
  return (
    <button type="button" class="plain step-link" onClick={() => onOpen({ spanId: spanId ?? undefined, call })}>
      {label}
    </button>
  );
}

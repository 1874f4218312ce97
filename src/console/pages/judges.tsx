/** Judges: agreement with people, cost against budgets, requests and queue, and drift on the fixed sets. */
import { AnswerState } from '../parts/answer-state.tsx';
import { useMemo } from 'preact/hooks';
import { useGet } from '../api/use-api.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { type Filter, FilterBar } from '../parts/filter-bar.tsx';
import { PageFrame } from '../parts/page-frame.tsx';
import { useAddress } from '../parts/use-address.ts';
import { AgreementSection } from './judges/agreement.tsx';
import { BudgetSection } from './judges/budgets.tsx';
import { DriftSection } from './judges/drift.tsx';
import { TrafficSection } from './judges/traffic.tsx';

/** Without one of them the labels of reviewers count. */
const kinds = ['user', 'evaluator'] as const;
const daysDefault = 30;
const dayMs = 86_400_000;
const filters: readonly Filter[] = [
  {
    name: 'days',
    title: 'Labelled runs of',
    kind: 'choice',
    noChoice: `the last ${daysDefault} days`,
    options: [7, 90].map((days) => ({ value: String(days), title: `the last ${days} days` })),
  },
  { name: 'evaluator', title: 'Evaluator', kind: 'text' },
  { name: 'agent', title: 'Agent', kind: 'text' },
  {
    name: 'annotator',
    title: 'Labels of',
    kind: 'choice',
    noChoice: 'reviewers',
    options: [
      { value: 'user', title: 'end users' },
      { value: 'evaluator', title: 'other programs' },
    ],
  },
];

export function Judges() {
  const { query } = useAddress();
  const { evaluator, agent, days } = query;
  // Labels are few, so the period is longer than that of other pages.
  const from = useMemo(
    () => new Date(Math.floor(Date.now() / 60_000) * 60_000 - (Number(days) || daysDefault) * dayMs).toISOString(),
    [days],
  );
  const annotator = kinds.find((kind) => kind === query['annotator']);
  const judges = useGet('/judges', { query: { from, evaluator, agent, annotator } }, { everyMs: 30_000 });
  const { value } = judges;
  const isEmpty =
    value !== undefined &&
    value.judges.length === 0 &&
    value.traffic.length === 0 &&
    value.budgets.length === 0 &&
    value.people.length === 0;
  return (
    <PageFrame title="Judges">
      <FilterBar filters={filters} />
      <AnswerState of={judges} what="the judges" />
      {isEmpty ? (
        <EmptyState title="No judge is configured">
          <p>
            A judge is a model that answers questions about runs. Name one under <code>judges</code> in the configuration, and an evaluator
            with <code>judge</code>, such as <code>task_completion</code>. Rules work without one.
          </p>
        </EmptyState>
      ) : null}
      {value === undefined || isEmpty ? null : (
        <>
          {value.whole ? null : (
            <p class="box warning">The period has more labels than the service reads at once. The newest count; choose a shorter time.</p>
          )}
          <AgreementSection judges={value.judges} people={value.people} runs={{ from, agent }} />
          <BudgetSection budgets={value.budgets} days={value.days} />
          <TrafficSection traffic={value.traffic} latency={value.latency} />
          <DriftSection drift={value.drift} />
        </>
      )}
    </PageFrame>
  );
}

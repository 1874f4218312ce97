/** One run: what it was about, the verdicts and why, what happened in it, and what to do about it. */
import { useCallback, useMemo, useRef } from 'preact/hooks';
import type { GetAnswer, Schemas } from '../../api/client.ts';
import { addressOf } from '../../api/client.ts';
import { type Loaded, useGet } from '../../api/use-api.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { useCopy } from '../../parts/copy.tsx';
import { KeepRuns } from '../../parts/keep-runs.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { RunListSteps } from '../../parts/run-list.tsx';
import { evalCommand } from '../../parts/run/eval-command.ts';
import { partsOf, verdictsBySpan } from '../../parts/run/evidence.ts';
import { changeText } from '../../parts/run/revision-text.ts';
import { type PageSpan, wholeSpans } from '../../parts/run/timeline-spans.ts';
import { InputAndAnswer, RunFacts } from '../../parts/run/run-summary.tsx';
import { useOwnName } from '../../parts/session.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { Labels } from './labels.tsx';
import { Related } from './related.tsx';
import { RunIssues } from './run-issues.tsx';
import { firstCalls, useSelectedCall } from './run-calls.ts';
import { labelOf } from './timeline.tsx';
import { type Target, VerdictCards } from './verdict-cards.tsx';
import { WhatHappened } from './what-happened.tsx';
import './run-page.css';

type Run = Schemas['Run'];

export function RunPage({ params: { trace = '', span = '' } }: { readonly params: { readonly [name: string]: string } }) {
  const { query } = useAddress();
  const path = { trace, span };
  const tenant = query['tenant'];
  const found = useGet('/runs/{trace}/{span}', { path, query: { tenant, list_max: firstCalls } });
  const { value, reload } = found;
  // Both are large where a run has many spans, so they come side by side.
  const read = useGet('/runs/{trace}/{span}/timeline', { path, query: { tenant, brief: 'true' } });
  const whole = useMemo(() => read.value && { ...read.value, spans: wholeSpans(trace, read.value.spans) }, [trace, read.value]);
  const timeline = { ...read, value: whole };
  return (
    <PageFrame
      title={value === undefined ? 'Run' : <RunTitle run={value} />}
      actions={value === undefined ? undefined : <Actions run={value} />}
    >
      <AnswerState of={found} what="the run" />
      {value === undefined ? null : <RunView run={value} timeline={timeline} onChanged={reload} />}
    </PageFrame>
  );
}

function RunTitle({ run: { agent } }: { readonly run: Run }) {
  return (
    <>
      Run of <bdi>{agent ?? 'an agent without a name'}</bdi>
    </>
  );
}

function Actions({ run }: { readonly run: Run }) {
  const copy = useCopy();
  const file = addressOf('/runs/{trace}/{span}/otlp', { path: { trace: run.trace_id, span: run.span_id }, query: { tenant: run.tenant } });
  return (
    <>
      <RunListSteps />
      <KeepRuns runs={[run]} />
      <button type="button" onClick={() => copy(location.href, 'The link')}>
        Copy link
      </button>
      {run.spans_kept === 0 ? null : (
        <>
          <button
            type="button"
            onClick={() => copy(evalCommand(new URL(file, location.href).href), 'The command')}
            title="Scores the spans of this run again, offline"
          >
            Copy eval command
          </button>
          <a class="button" href={file} download={`run-${run.trace_id}.otlp.jsonl`}>
            Download OTLP
          </a>
        </>
      )}
    </>
  );
}

interface RunViewProps {
  readonly run: Run;
  readonly timeline: Loaded<Omit<GetAnswer<'/runs/{trace}/{span}/timeline'>, 'spans'> & { readonly spans: readonly PageSpan[] }>;
  readonly onChanged: () => void;
}

function RunView({ run, timeline, onChanged }: RunViewProps) {
  const { query, change } = useAddress();
  const by = useOwnName();
  const panel = useRef<HTMLDivElement>(null);
  const { selected, call } = query;
  const target = useMemo(() => targetOf({ selected, call }, run), [selected, call, run]);
  const spans = timeline.value?.spans ?? noSpans;
  const verdicts = useMemo(() => verdictsBySpan(run.verdicts), [run]);
  const isTimelineRead = timeline.value !== undefined || timeline.error !== undefined;
  const role = useMemo(
    () => (isTimelineRead ? (spans.find(({ span_id: id }) => id === target.spanId)?.role ?? null) : undefined),
    [spans, isTimelineRead, target.spanId],
  );
  const selectedCall = useSelectedCall(run, target, role);
  const open = useCallback(
    (to: Target): void => {
      change(
        { selected: to.spanId, call: to.spanId === undefined && to.call !== undefined ? String(to.call + 1) : undefined },
        { replace: true },
      );
      // The page scrolls as one, so the beginning of long details may be above the window.
      if ((panel.current?.getBoundingClientRect().top ?? 0) < 0) panel.current?.scrollIntoView({ block: 'start' });
    },
    [change],
  );
  // Parts that do not depend on the selection are not drawn again with it: a run of thousands of spans has as many links.
  const about = useMemo(() => {
    const names = new Map(spans.map((span) => [span.span_id, labelOf(span)]));
    const openAndShow = (to: Target): void => {
      open(to);
      panel.current?.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
    };
    return (
      <>
        <RunFacts run={run} />
        <NotKept run={run} />
        <Notices run={run} timeline={timeline.value} />
        {run.revision > 1 ? <Revisions run={run} /> : null}
        <InputAndAnswer run={run} />
        <RunIssues run={run} onOpen={hasParts(run) ? openAndShow : undefined} />
        <VerdictCards run={run} nameOf={(id) => names.get(id)} onOpen={hasParts(run) ? openAndShow : undefined} />
      </>
    );
  }, [run, timeline.value, open]);
  const placed = selectedCall.value;
  const labels = useMemo(() => <Labels run={run} by={by} selected={placed} onChanged={onChanged} />, [run, by, placed, onChanged]);
  const related = useMemo(() => <Related run={run} />, [run]);

  return (
    <>
      {about}
      {labels}
      {hasParts(run) ? (
        <WhatHappened
          run={run}
          timeline={timeline}
          verdicts={verdicts}
          target={target}
          role={role}
          selectedCall={selectedCall}
          onOpen={open}
          panel={panel}
        />
      ) : null}
      {related}
    </>
  );
}

const noSpans: readonly PageSpan[] = [];

/** False when the store has neither the spans nor the texts of the run. */
function hasParts({ spans_kept: spans, content_kept: hasTexts }: Run): boolean {
  return spans !== 0 || hasTexts !== false;
}

/** One line that names the missing content of the run, with the reason. */
function NotKept({ run: { content_gone: texts, spans_gone: spans } }: { readonly run: Run }) {
  const reasons = Map.groupBy(
    [
      { what: 'texts', gone: texts },
      { what: 'spans', gone: spans },
    ].flatMap(({ what, gone }) => (gone === null || gone === undefined ? [] : [{ what, explanation: gone.explanation }])),
    ({ explanation }) => explanation,
  );
  return reasons.size === 0 ? null : (
    <p class="dim small not-kept">
      {[...reasons]
        .map(([explanation, gone]) => `The store has no ${gone.map(({ what }) => what).join(' and no ')} of this run. ${explanation}`)
        .join(' ')}
    </p>
  );
}

/** The selected span or call; without one, what failed first, else the run itself. */
function targetOf({ selected, call }: { readonly [name in 'selected' | 'call']: string | undefined }, run: Run): Target {
  if (selected !== undefined) return { spanId: selected, call: undefined };
  if (call !== undefined && /^\d{1,6}$/.test(call)) return { spanId: undefined, call: Number(call) - 1 };
  const step = run.first_failure?.span_id ?? undefined;
  if (step !== undefined) return { spanId: step, call: undefined };
  const failed = run.verdicts.filter(({ passed }) => passed === false);
  const first = failed.flatMap(({ details }) => partsOf(details)).find((part) => !part.passed && part.spanId !== undefined);
  const shown = first?.spanId ?? failed.flatMap(({ evidence = [] }) => evidence)[0];
  return { spanId: shown ?? (run.spans_kept === 0 ? undefined : run.span_id), call: undefined };
}

function Notices({
  run,
  timeline,
}: {
  readonly run: Run;
  readonly timeline: { readonly whole: boolean | null; readonly left_out: number } | undefined;
}) {
  const notices = [
    ...(run.part_of === null || run.part_of === undefined
      ? []
      : ['This run turned out to be part of another one, which has the verdicts.']),
    ...(timeline?.whole === false ? ['Some spans of the trace are not stored.'] : []),
    ...(timeline !== undefined && timeline.left_out > 0 ? [`${timeline.left_out} spans beyond the limit of a timeline are left out.`] : []),
  ];
  return notices.length === 0 ? null : (
    <div class="box warning">
      <div class="text">
        {notices.map((text) => (
          <p key={text}>{text}</p>
        ))}
        {run.part_of === null || run.part_of === undefined ? null : <a href={`/runs/${run.part_of}`}>Open that run</a>}
      </div>
    </div>
  );
}

function Revisions({ run }: { readonly run: Run }) {
  const revisions = run.revisions ?? [];
  return (
    <details>
      <summary>Revision {run.revision}: spans came, or evaluators changed, after the run had closed</summary>
      {revisions.length === 0 ? <p class="dim">What the revisions changed is not known.</p> : null}
      <dl class="revisions">
        {revisions.map(({ revision, changes }) => (
          <div key={revision}>
            <dt>Revision {revision}</dt>
            <dd>{changes.map(changeText).join('; ')}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

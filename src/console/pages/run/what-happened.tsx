/** Shows the events of a run on the left, and the selection on the right. */
import type { RefObject } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { type Loaded, useGet } from '../../api/use-api.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { useKeys } from '../../parts/keyboard.tsx';
import { conversationEntries, entriesOfRun } from '../../parts/run/conversation.ts';
import { ConversationView } from '../../parts/run/conversation-view.tsx';
import { failedCallsOf } from '../../parts/run/evidence.ts';
import type { PageSpan } from '../../parts/run/timeline-spans.ts';
import { waitingSpans } from '../../parts/run/waiting-spans.ts';
import { useAddress } from '../../parts/use-address.ts';
import { type AllCalls, type PlacedCall, useAllCalls } from './run-calls.ts';
import { SpanPanel } from './span-panel.tsx';
import { type SpanVerdicts, Timeline } from './timeline.tsx';
import type { Target } from './verdict-cards.tsx';

type Run = Schemas['Run'];

export interface WhatHappenedProps {
  readonly run: Run;
  readonly timeline: Loaded<{ readonly spans: readonly PageSpan[] }>;
  readonly verdicts: ReadonlyMap<string, SpanVerdicts>;
  /** The selection in the address of the page. */
  readonly target: Target;
  /** Role of the selected span; `undefined` until the timeline is loaded. */
  readonly role: string | null | undefined;
  readonly selectedCall: Loaded<PlacedCall>;
  readonly onOpen: (target: Target) => void;
  readonly panel: RefObject<HTMLDivElement | null>;
}

/** The address and the details follow the keys when these rest: a key that is held down passes over many spans. */
const keysRestMs = 80;

export function WhatHappened({ run, timeline, verdicts, target, role, selectedCall, onOpen, panel }: WhatHappenedProps) {
  const { query, change } = useAddress();
  const [movedTo, setMovedTo] = useState<string | undefined>(undefined);
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const failedCalls = useMemo(() => failedCallsOf(run.verdicts), [run]);
  const hasSpans = run.spans_kept !== 0;
  const view = query['view'] === 'conversation' || !hasSpans ? 'conversation' : 'timeline';
  const allCalls = useAllCalls(run, view === 'conversation' || role === 'model');
  useKeys([
    { key: 'c', does: 'Shows the conversation', run: () => change({ view: 'conversation' }, { replace: true }) },
    { key: 't', does: 'Shows the timeline', run: () => change({ view: undefined }, { replace: true }) },
  ]);

  const arrived = (): void => {
    clearTimeout(waiting.current);
    setMovedTo(undefined);
  };
  useEffect(arrived, [target]);
  useEffect(() => () => clearTimeout(waiting.current), []);
  const select = useCallback(
    (spanId: string) => {
      clearTimeout(waiting.current);
      onOpen({ spanId, call: undefined });
    },
    [onOpen],
  );
  const move = useCallback(
    (spanId: string) => {
      setMovedTo(spanId);
      clearTimeout(waiting.current);
      waiting.current = setTimeout(() => select(spanId), keysRestMs);
    },
    [select],
  );
  const selected = movedTo ?? target.spanId ?? selectedCall.value?.call.span_id ?? undefined;
  const enter = (): void => {
    if (movedTo !== undefined) select(movedTo);
    panel.current?.focus();
  };
  const spans = timeline.value?.spans;
  const held = useMemo(() => waitingSpans(run, spans ?? []), [run, spans]);
  const details = useMemo(
    () => (
      <SpanPanel
        run={run}
        target={target}
        waiting={held}
        selectedCall={selectedCall}
        allCalls={allCalls}
        verdicts={verdicts}
        onOpen={onOpen}
      />
    ),
    [run, target, held, selectedCall.value, selectedCall.isLoading, selectedCall.error, allCalls.calls, verdicts, onOpen],
  );

  return (
    <div class="run-split">
      <section class="run-left" aria-label="What happened">
        {hasSpans ? (
          <div class="row" role="group" aria-label="View">
            <button type="button" aria-pressed={view === 'timeline'} onClick={() => change({ view: undefined }, { replace: true })}>
              Timeline
            </button>
            <button
              type="button"
              aria-pressed={view === 'conversation'}
              onClick={() => change({ view: 'conversation' }, { replace: true })}
            >
              Conversation
            </button>
          </div>
        ) : null}
        {view === 'conversation' ? (
          <Conversation run={run} allCalls={allCalls} onOpen={onOpen} failedCalls={failedCalls} />
        ) : spans === undefined || timeline.error !== undefined ? (
          <AnswerState of={timeline} what="the timeline" />
        ) : spans.length === 0 ? (
          <p class="dim">The store has no spans of this run.</p>
        ) : (
          <Timeline
            spans={spans}
            verdicts={verdicts}
            waiting={held}
            firstWrong={run.first_failure?.span_id ?? undefined}
            selected={selected}
            onSelect={select}
            onMove={move}
            onEnter={enter}
          />
        )}
      </section>
      <div class="run-right" ref={panel} tabIndex={0} role="region" aria-label="Selection">
        {details}
      </div>
    </div>
  );
}

function Conversation({
  run,
  allCalls: { calls, state },
  onOpen,
  failedCalls,
}: {
  readonly run: Run;
  readonly allCalls: AllCalls;
  readonly onOpen: (target: Target) => void;
  readonly failedCalls: ReadonlySet<number>;
}) {
  const found = useGet('/runs/{trace}/{span}/conversation', {
    path: { trace: run.trace_id, span: run.span_id },
    query: { tenant: run.tenant },
  });
  const { value, error, isLoading } = found;
  const entries = useMemo(
    () =>
      value === undefined || value.messages.length === 0
        ? entriesOfRun({ ...run, tool_calls: calls })
        : conversationEntries(value.messages, calls),
    [value, run, calls],
  );
  if (error !== undefined || (value === undefined && isLoading)) return <AnswerState of={found} what="the conversation" />;
  return (
    <div>
      <AnswerState of={state} what="the other tool calls" />
      <ConversationView entries={entries} onOpen={onOpen} failedCalls={failedCalls} />
      {value === undefined || value.left_out === 0 ? null : (
        <p class="dim small">{value.left_out} more messages. The OTLP file of the run has all.</p>
      )}
    </div>
  );
}

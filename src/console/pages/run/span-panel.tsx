/** The selection: a span with the values that collectors read, or a tool call without a span. */
import { useMemo } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { type Loaded, useGet } from '../../api/use-api.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { countText, timeText } from '../../parts/format.ts';
import { conversationEntries, plainText } from '../../parts/run/conversation.ts';
import { ConversationView } from '../../parts/run/conversation-view.tsx';
import { JsonView } from '../../parts/run/json-view.tsx';
import { LongText } from '../../parts/run/long-text.tsx';
import { durationText, microsOf } from '../../parts/run/times.ts';
import { ToolCallView } from '../../parts/run/tool-call-view.tsx';
import { failedCallsOf, partsOf } from '../../parts/run/evidence.ts';
import type { AllCalls, PlacedCall } from './run-calls.ts';
import type { SpanVerdicts } from './timeline.tsx';
import type { Target } from './verdict-cards.tsx';

type Run = Schemas['Run'];
type ReadSpan = Schemas['ReadSpan'];

export interface SpanPanelProps {
  readonly run: Run;
  readonly target: Target;
  /** Spans that end because a call waits. */
  readonly waiting: ReadonlySet<string>;
  readonly selectedCall: Loaded<PlacedCall>;
  readonly allCalls: AllCalls;
  readonly verdicts: ReadonlyMap<string, SpanVerdicts>;
  readonly onOpen: (target: Target) => void;
}

export function SpanPanel({ run, target: { spanId }, waiting, selectedCall, allCalls, verdicts, onOpen }: SpanPanelProps) {
  if (spanId !== undefined && run.spans_kept !== 0)
    return (
      <StoredSpan
        run={run}
        spanId={spanId}
        isWaiting={waiting.has(spanId)}
        selectedCall={selectedCall}
        allCalls={allCalls}
        verdicts={verdicts.get(spanId)}
        onOpen={onOpen}
      />
    );
  const { value: placed } = selectedCall;
  if (isOpen(selectedCall)) return <AnswerState of={selectedCall} what="the call" />;
  if (placed === undefined) return <p class="dim">Choose a span of the timeline, or a call of the conversation.</p>;
  return (
    <div class="stack">
      <PanelHead title={placed.call.name} kind="tool" facts={[`call ${placed.index + 1}`, 'no span']} />
      <CallOfRun run={run} placed={placed} isSaid={false} />
    </div>
  );
}

/** True when the answer is pending or failed. */
function isOpen({ value, isLoading, error }: Loaded<PlacedCall>): boolean {
  return value === undefined && (isLoading || error !== undefined);
}

interface StoredSpanProps extends Pick<SpanPanelProps, 'run' | 'selectedCall' | 'allCalls' | 'onOpen'> {
  readonly spanId: string;
  readonly isWaiting: boolean;
  readonly verdicts: SpanVerdicts | undefined;
}

function StoredSpan({ run, spanId, isWaiting, selectedCall, allCalls, verdicts, onOpen }: StoredSpanProps) {
  const found = useGet('/runs/{trace}/{span}/spans/{id}', {
    path: { trace: run.trace_id, span: run.span_id, id: spanId },
    query: { tenant: run.tenant },
  });
  const { value } = found;
  if (value === undefined || found.error !== undefined) return <AnswerState of={found} what="the span" />;
  const { span } = value;
  const took = microsOf(span.ended_at) - microsOf(span.started_at);
  const since = microsOf(span.started_at) - microsOf(run.started_at);
  return (
    <div class="stack">
      <PanelHead
        title={span.name}
        kind={value.role ?? 'span'}
        facts={[
          durationText(took),
          `${durationText(since)} after the start`,
          timeText(span.started_at),
          ...(span.service === null ? [] : [span.service]),
        ]}
      />
      {(selectedCall.value?.call.error ?? null) !== null ||
      selectedCall.value?.call.outcome === 'waiting' ||
      isOpen(selectedCall) ? null : (
        <StatusOf span={span} isWaiting={isWaiting} />
      )}
      <VerdictsOnSpan run={run} spanId={spanId} verdicts={verdicts} />
      <ReadContent run={run} read={value} selectedCall={selectedCall} allCalls={allCalls} onOpen={onOpen} />
      <RawSpan read={value} />
    </div>
  );
}

function PanelHead({ title, kind, facts }: { readonly title: string; readonly kind: string; readonly facts: readonly string[] }) {
  return (
    <header class="panel-head">
      <h2>
        <span class={`kind ${kind}`}>{kind}</span> <bdi>{title === '' ? 'no name' : title}</bdi>
      </h2>
      <p class="dim small">
        {facts.map((fact, at) => (
          <span key={at}>
            {at === 0 ? '' : ' · '}
            <bdi>{fact}</bdi>
          </span>
        ))}
      </p>
    </header>
  );
}

function StatusOf({ span: { status, events }, isWaiting }: { readonly span: ReadSpan['span']; readonly isWaiting: boolean }) {
  const isError = status.code === 'error';
  const exceptions = events.filter(({ name }) => name === 'exception').slice(0, 5);
  if (!isError && exceptions.length === 0) return null;
  return (
    <div class={isWaiting ? 'box warning' : 'box failed'}>
      <div class="text">
        <strong>
          <span aria-hidden="true">{isWaiting ? '‖' : '✗'}</span>{' '}
          {isWaiting ? 'It waits for a person or another program.' : isError ? 'The span ended in an error.' : 'The span has an exception.'}
        </strong>
        {status.message === '' ? null : <LongText text={status.message} charsMax={400} />}
        {exceptions.map(({ at, attributes }) => (
          <LongText key={at} text={exceptionText(attributes)} charsMax={300} />
        ))}
      </div>
    </div>
  );
}

function exceptionText(attributes: object): string {
  const all = attributes as { readonly [key: string]: unknown };
  const [type, message] = [all['exception.type'], all['exception.message']];
  return [type, message].filter((part) => typeof part === 'string' && part !== '').join(': ') || 'exception without a message';
}

function VerdictsOnSpan({
  run,
  spanId,
  verdicts,
}: {
  readonly run: Run;
  readonly spanId: string;
  readonly verdicts: SpanVerdicts | undefined;
}) {
  const notes = useMemo(
    () =>
      run.verdicts.flatMap(({ name, details, passed, explanation = '' }) => {
        const own = partsOf(details).filter((part) => part.spanId === spanId && !part.passed);
        if (own.length > 0) return own.map((part) => ({ name, text: part.explanation === '' ? explanation : part.explanation }));
        return passed === false && verdicts?.failed.includes(name) === true ? [{ name, text: explanation }] : [];
      }),
    [run, spanId, verdicts],
  );
  const passed = [...new Set(verdicts?.passed ?? [])];
  if (notes.length + passed.length === 0) return null;
  return (
    <div class="stack">
      {notes.map(({ name, text }, at) => (
        <div key={at} class="box failed">
          <div class="text">
            <strong>
              <span aria-hidden="true">✗</span> {name}
            </strong>
            <LongText text={text} charsMax={400} />
          </div>
        </div>
      ))}
      {passed.length === 0 ? null : (
        <p class="row">
          {passed.map((name) => (
            <span key={name} class="chip pass">
              <span aria-hidden="true">✓</span>
              <span>
                {name}
                <span class="visually-hidden"> passed on this span</span>
              </span>
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

interface ReadContentProps extends Pick<SpanPanelProps, 'run' | 'selectedCall' | 'allCalls' | 'onOpen'> {
  readonly read: ReadSpan;
}

function ReadContent({ run, read, selectedCall, allCalls, onOpen }: ReadContentProps) {
  switch (read.role) {
    case 'tool':
      return <ToolContent run={run} read={read} selectedCall={selectedCall} />;
    case 'model':
      return <ModelContent run={run} read={read} allCalls={allCalls} onOpen={onOpen} />;
    default:
      return <OtherContent read={read} />;
  }
}

function ToolContent({ run, read, selectedCall }: Pick<ReadContentProps, 'run' | 'read' | 'selectedCall'>) {
  if (isOpen(selectedCall)) return <AnswerState of={selectedCall} what="the call" />;
  if (selectedCall.value !== undefined) return <CallOfRun run={run} placed={selectedCall.value} isSaid />;
  if (read.tool === null) return null;
  const { name, arguments: sent, result, result_carried: isCarried, description, input_schema: schema } = read.tool;
  // The call belongs to a sub-agent, whose run has the verdicts on it.
  const stand: Schemas['ToolCall'] = {
    name: name ?? '',
    id: read.tool.id,
    arguments: sent,
    result_carried: isCarried,
    result,
    error: null,
    truncated: { arguments: null, result: null },
    executed: true,
    stated_outcome: null,
    outcome: 'unknown',
    span_id: read.span.span_id,
    started_at: read.span.started_at,
    ended_at: read.span.ended_at,
    provenance: {},
  };
  const known = run.tool_definitions?.find((definition) => definition.name === name);
  const definition =
    known ??
    (schema === null && description === null ? undefined : { name: name ?? '', description, input_schema: schema, truncated: false });
  return <ToolCallView call={stand} index={-1} verdicts={[]} definition={definition} />;
}

function CallOfRun({ run, placed: { index, call }, isSaid }: { readonly run: Run; readonly placed: PlacedCall; readonly isSaid: boolean }) {
  return (
    <ToolCallView
      call={call}
      index={index}
      verdicts={run.verdicts}
      isSaid={isSaid}
      definition={run.tool_definitions?.find(({ name }) => name === call.name)}
    />
  );
}

function ModelContent({ run, read, allCalls: { calls, state }, onOpen }: Pick<ReadContentProps, 'run' | 'read' | 'allCalls' | 'onOpen'>) {
  const { messages, repeated_messages: repeated, left_out: leftOut, tool_definitions: tools } = read;
  const failedCalls = useMemo(() => failedCallsOf(run.verdicts), [run]);
  const before = useMemo(() => conversationEntries(messages.slice(0, repeated), calls), [messages, repeated, calls]);
  const entries = useMemo(() => conversationEntries(messages.slice(repeated), calls), [messages, repeated, calls]);
  return (
    <>
      <p class="row">
        {read.model === null ? null : <strong>{read.model}</strong>}
        <TokensOf read={read} />
      </p>
      <AnswerState of={state} what="the other tool calls" />
      {before.length === 0 ? null : (
        <details>
          <summary>
            {repeated} {repeated === 1 ? 'message' : 'messages'} as in the model call before
          </summary>
          <ConversationView entries={before} onOpen={onOpen} atSpan={read.span.span_id} failedCalls={failedCalls} />
        </details>
      )}
      <ConversationView entries={entries} onOpen={onOpen} atSpan={read.span.span_id} failedCalls={failedCalls} />
      {leftOut === 0 ? null : <p class="dim small">{countText(leftOut)} more messages. The OTLP file of the run has all.</p>}
      {tools.length === 0 ? null : (
        <details>
          <summary>
            {tools.length} {tools.length === 1 ? 'tool' : 'tools'} offered
          </summary>
          <ul class="offered">
            {tools.map(({ name, description, input_schema: schema }) => (
              <li key={name}>
                <details>
                  <summary>
                    <strong>{name}</strong> <span class="dim">{(description ?? '').slice(0, 120)}</span>
                  </summary>
                  <JsonView value={schema ?? null} label={`Schema of ${name}`} />
                </details>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function TokensOf({ read }: { readonly read: ReadSpan }) {
  const { input_tokens: input, output_tokens: output, cached_input_tokens: cached, reasoning_tokens: reasoning } = read;
  const parts = [
    ...(input === null ? [] : [`${countText(input)} tokens in${cached === null ? '' : ` (${countText(cached)} cached)`}`]),
    ...(output === null ? [] : [`${countText(output)} out${reasoning === null ? '' : ` (${countText(reasoning)} reasoning)`}`]),
  ];
  return <span class="dim">{parts.length === 0 ? 'The span carries no numbers of tokens.' : parts.join(', ')}</span>;
}

function OtherContent({ read: { input, output, documents } }: { readonly read: ReadSpan }) {
  return (
    <>
      {input === null ? null : (
        <section>
          <h3>Input</h3>
          <LongText text={input} />
        </section>
      )}
      {output === null || output === undefined ? null : (
        <section>
          <h3>Output</h3>
          <LongText text={plainText(output)} />
        </section>
      )}
      {documents.length === 0 ? null : (
        <section>
          <h3>Documents</h3>
          <ol class="documents">
            {documents.map(({ id, content, score }, at) => (
              <li key={at}>
                <p class="dim small">
                  {id ?? `document ${at + 1}`}
                  {score === null ? '' : `, score ${score}`}
                </p>
                <LongText text={content ?? 'The span carries no content of it.'} charsMax={300} />
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

function RawSpan({ read: { span, dialects } }: { readonly read: ReadSpan }) {
  const { attributes, events, links, cut, scope, kind, trace_id: traceId, span_id: spanId, parent_span_id: parentId } = span;
  return (
    <>
      {events.length === 0 ? null : (
        <details>
          <summary>
            {events.length} {events.length === 1 ? 'event' : 'events'}
          </summary>
          <JsonView value={events} label="Events" />
        </details>
      )}
      <details>
        <summary>{Object.keys(attributes).length} attributes</summary>
        <JsonView value={attributes} label="Attributes" linesMax={80} />
        {cut.length === 0 ? null : <p class="dim small">Shortened: {cut.join(', ')}. The OTLP file of the run has all.</p>}
      </details>
      <details>
        <summary>Identity</summary>
        <JsonView
          value={{ trace_id: traceId, span_id: spanId, parent_span_id: parentId, kind, scope, read_by: dialects, links }}
          label="Identity of the span"
        />
      </details>
    </>
  );
}

/** A tool call: its arguments against the schema of the tool, with the members at fault marked, and its result beside it. */
import { useMemo } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { CopyButton } from '../copy.tsx';
import { argumentMarks, type VerdictDetails } from './argument-marks.ts';
import { JsonView } from './json-view.tsx';
import { LongText } from './long-text.tsx';
import './run.css';

export interface ToolCallViewProps {
  /** True when verdicts about the whole call are shown elsewhere. */
  readonly isSaid?: boolean;
  readonly call: Schemas['ToolCall'];
  /** Position among the calls of the run. */
  readonly index: number;
  readonly verdicts: readonly VerdictDetails[];
  /** Definition of the tool; `undefined` when the spans carry none. */
  readonly definition: Schemas['ToolDefinition'] | undefined;
}

export function ToolCallView({ call, index, verdicts, definition, isSaid = false }: ToolCallViewProps) {
  const { marks, faults } = useMemo(() => argumentMarks(verdicts, index, call.arguments), [verdicts, index, call.arguments]);
  return (
    <div class="stack">
      {faults.length === 0 || isSaid ? null : (
        <ul class="faults">
          {faults.map(({ verdict, message }) => (
            <li key={`${verdict} ${message}`}>
              <span aria-hidden="true">✗</span> {message}
              {verdict === '' ? null : ` (${verdict})`}
            </li>
          ))}
        </ul>
      )}
      <section>
        <header class="row spread">
          <h3>Arguments</h3>
          {call.arguments === null || call.arguments === undefined ? null : <CopyButton value={call.arguments} what="The arguments" />}
        </header>
        <ArgumentsOf call={call} marks={marks} />
      </section>
      <ToolSchema definition={definition} />
      <section>
        <header class="row spread">
          <h3>Result</h3>
          {call.result === null || call.result === undefined ? null : <CopyButton value={call.result} what="The result" />}
        </header>
        <ResultOf call={call} />
      </section>
    </div>
  );
}

function ArgumentsOf({ call, marks }: { readonly call: Schemas['ToolCall']; readonly marks: ReturnType<typeof argumentMarks>['marks'] }) {
  const cut = call.truncated.arguments;
  if (call.arguments !== null && call.arguments !== undefined) return <JsonView value={call.arguments} marks={marks} label="Arguments" />;
  if (cut !== null) return <LongText text={cut} isCut />;
  return <p class="dim">The spans carry no arguments of this call.</p>;
}

const holdTexts = {
  waiting: 'The call waits for a person or another program.',
  refused: 'A person refused the call, and it did not run.',
} as const;

function ResultOf({ call }: { readonly call: Schemas['ToolCall'] }) {
  const { error, executed, outcome, result, result_carried: isCarried, truncated } = call;
  const held = outcome === 'waiting' || outcome === 'refused' ? holdTexts[outcome] : undefined;
  return (
    <>
      {held === undefined ? null : <p>{held}</p>}
      {error === null ? null : (
        <div class="box failed">
          <div class="text">
            <strong>{error.type ?? 'Error'}</strong>
            <LongText text={error.message === '' ? 'The span names no message.' : error.message} />
          </div>
        </div>
      )}
      {isCarried ? (
        result === null || result === undefined ? (
          <p class="dim">The tool returned nothing.</p>
        ) : (
          <JsonView value={result} label="Result" />
        )
      ) : truncated.result !== null ? (
        <LongText text={truncated.result} isCut />
      ) : error === null && held === undefined ? (
        <p class="dim">
          {executed ? 'The spans carry no result of this call.' : 'A model asked for this call, and no span shows that it ran.'}
        </p>
      ) : null}
    </>
  );
}

export function ToolSchema({ definition }: { readonly definition: Schemas['ToolDefinition'] | undefined }) {
  if (definition === undefined) return <p class="dim small">The run has no definition of this tool.</p>;
  const { description, input_schema: schema, truncated } = definition;
  return (
    <details>
      <summary>Schema of the tool</summary>
      <div class="stack">
        {description === null ? null : <LongText text={description} charsMax={400} />}
        {schema === null || schema === undefined ? (
          <p class="dim">{truncated ? 'The schema was cut short before it came.' : 'The tool has no schema for arguments.'}</p>
        ) : (
          <JsonView value={schema} label="Schema of the arguments" />
        )}
      </div>
    </details>
  );
}

/** One of two runs next to each other: what was asked, which tools were called, and what was answered. */
import { useGet } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { lineText } from '../../parts/format.ts';
import { worstFirst } from '../../parts/verdict.ts';
import { VerdictChip } from '../../parts/verdict-chip.tsx';
import { ScrollFrame } from '../../parts/scroll-frame.tsx';

export interface RunSideProps {
  readonly traceId: string | null;
  readonly spanId: string | null;
  readonly tenant: string;
  /** False for only the link. */
  readonly isOpen: boolean;
}

export function RunSide({ traceId, spanId, tenant, isOpen }: RunSideProps) {
  if (traceId === null || spanId === null) return <p class="dim">There is no run.</p>;
  return (
    <>
      <p>
        <a href={pageAddress(`/runs/${traceId}/${spanId}`, { tenant })}>Open the run</a>
      </p>
      {isOpen ? <RunText traceId={traceId} spanId={spanId} tenant={tenant} /> : null}
    </>
  );
}

const callsMax = 50;
const textChars = 20_000;

function RunText({ traceId, spanId, tenant }: { readonly traceId: string; readonly spanId: string; readonly tenant: string }) {
  const found = useGet('/runs/{trace}/{span}', { path: { trace: traceId, span: spanId }, query: { tenant } });
  const { value, error } = found;
  if (error?.status === 404)
    return (
      <p class="dim">
        The service does not have this run: tracejury experiment run keeps its verdicts alone, or the run is older than what is kept.
      </p>
    );
  if (value === undefined || error !== undefined) return <AnswerState of={found} what="the run" />;
  if (value.content_kept === false) return <p class="dim">{value.content_gone?.explanation ?? 'The store has no texts of this run.'}</p>;
  const calls = value.tool_calls ?? [];
  return (
    <>
      <span class="row">
        {worstFirst(value.verdicts).map((verdict) => (
          <VerdictChip key={verdict.name} verdict={verdict} />
        ))}
      </span>
      <h4>Input</h4>
      <ScrollFrame class="said" label="Input">
        {textOf(value.input)}
      </ScrollFrame>
      <h4>Tool calls</h4>
      {calls.length === 0 ? (
        <p class="dim">none</p>
      ) : (
        <ol>
          {calls.slice(0, callsMax).map((call, at) => (
            <li key={at}>
              <strong>{lineText(textOf(call['name']), 100)}</strong> <code>{lineText(textOf(call['arguments']), 500)}</code>
            </li>
          ))}
        </ol>
      )}
      {calls.length > callsMax ? <p class="dim">… and {calls.length - callsMax} more</p> : null}
      <h4>Answer</h4>
      <ScrollFrame class="said" label="Answer">
        {textOf(value.final_response)}
      </ScrollFrame>
    </>
  );
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '–';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > textChars ? `${text.slice(0, textChars)}…` : text;
}
